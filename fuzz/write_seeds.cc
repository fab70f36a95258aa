// Writes the seeds of a target as files, for libFuzzer: ls_fuzz_seeds TARGET FOLDER.
#include <cstdio>
#include <fstream>
#include <string>

#include "fuzz/target.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ls_fuzz_seeds TARGET FOLDER\n");
    return 2;
  }
  int number = 0;
  for (const lakestream::fuzz::Bytes& seed : lakestream::fuzz::FindTarget(argv[1]).seeds()) {
    const std::string path = std::string(argv[2]) + "/seed-" + std::to_string(number++);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
    file.close();
    if (!file.good()) {
      std::fprintf(stderr, "cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return 0;
}

// Writes the golden data objects of the current format: ls_golden_generate FOLDER.
//
// Run it once when a format number is new, into a folder of its own (tgb/v1, tgb/v2, ...). Files of
// a released format are never written again: they stand for the objects that users have.
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/golden/sample_objects.h"

namespace {

bool WriteFile(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: ls_golden_generate FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  const bool written =
      WriteFile(folder + "/example.tgb", lakestream::ObjectBytes(lakestream::WorkedExample())) &&
      WriteFile(folder + "/mixed.tgb", lakestream::ObjectBytes(lakestream::MixedSample())) &&
      WriteFile(folder + "/compressed.tgb",
                lakestream::ObjectBytes(lakestream::CompressedSample()));
  if (!written) std::fprintf(stderr, "cannot write to %s\n", folder.c_str());
  return written ? 0 : 1;
}

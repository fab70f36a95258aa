// Resident memory of a consumer beyond its prefetch bound, at 16 MiB slices.
//
// Reads the stream of bench_read_local several times over. VmHWM (the process's peak) less what it
// was before the consumer opened, less the bound.
#include <cstdio>
#include <fstream>
#include <string>

#include "bench/report.h"
#include "bench/streams.h"

using namespace lakestream;
using namespace lakestream::bench;

namespace {

double StatusMib(const std::string& field) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) / 1024;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string root = OptionOf(argc, argv, "--folder", "build/bench") + "/local-16MiB";
  constexpr double kBoundMib = 128;
  auto runtime = RealRuntime();
  auto store = Require(OpenStore(root, {}, runtime));
  auto stream = Require(Stream::Open(store, runtime, Deadline::Never()));
  ConsumerOptions options;
  options.prefetch_bytes = static_cast<uint64_t>(kBoundMib) << 20;
  options.prefetch_steps = 64;
  const double before = StatusMib("VmRSS");
  double read_gib = 0;
  for (int round = 0; round < 5; ++round) {
    read_gib += static_cast<double>(ReadAll(stream, options).payload_bytes) / (1 << 30);
  }
  const double over = StatusMib("VmHWM") - before - kBoundMib;
  char note[120];
  std::snprintf(note, sizeof note, "bound %.0f MiB, 16 MiB slices, %.1f GiB read, peak %.0f MiB",
                kBoundMib, read_gib, StatusMib("VmHWM"));
  Report("memory", OptionOf(argc, argv, "--out", ""), CommandLine(argc, argv),
         {{"consumer_rss_over_bound_mib", over, over, over, "<= 64", note}});
  return 0;
}

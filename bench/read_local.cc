// A rank reading its slices through Consumer from a local store, against pread of the same bytes
// from the same files.
//
// The baseline is tuned: threads with their own reused, warm buffers, files opened once for each
// object, no checksum, and the best of 1, 2 and 4 threads; the consumer has two fetchers
// (--fetches). Both read from a warm page cache. The consumer verifies every checksum and decodes
// every slice.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>

#include "bench/report.h"
#include "bench/streams.h"

using namespace lakestream;
using namespace lakestream::bench;

namespace {

struct ObjectFrames {
  std::string path;
  std::vector<ByteRange> ranges;
};

// Reads all ranges with `threads` threads; bytes a second.
double PreadAll(const std::vector<ObjectFrames>& objects, int threads) {
  std::atomic<size_t> next{0};
  std::atomic<uint64_t> total{0};
  const double began = NowSeconds();
  const auto work = [&] {
    std::vector<uint8_t> buffer;
    uint64_t bytes = 0;
    for (size_t i; (i = next++) < objects.size();) {
      const int fd = open(objects[i].path.c_str(), O_RDONLY | O_CLOEXEC);
      for (const ByteRange& range : objects[i].ranges) {
        if (buffer.size() < range.size) buffer.resize(range.size);
        const ssize_t got = pread(fd, buffer.data(), range.size, static_cast<off_t>(range.offset));
        if (got != static_cast<ssize_t>(range.size)) std::exit(1);
        bytes += range.size;
      }
      close(fd);
    }
    total += bytes;
  };
  std::vector<std::thread> pool;
  for (int i = 1; i < threads; ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  return static_cast<double>(total) / (NowSeconds() - began);
}

struct Size {
  const char* name;
  uint64_t slice_bytes;
  uint64_t steps;
  uint64_t object_bytes_target;
};

// One rank, 0.5 to 2 GB for each size: long enough that the cold start does not count.
const Size kSizes[] = {
    {"64KiB", 64 << 10, 24576, 32ull << 20},
    {"64KiB_one_tgb_an_object", 64 << 10, 8192, 1},
    {"1MiB", 1 << 20, 2048, 1},
    {"16MiB", 16 << 20, 128, 1},
};

// The frames of `stream` below `root`, by object.
std::vector<ObjectFrames> FramesByObject(Stream& stream, const std::string& root) {
  std::map<std::string, ObjectFrames> by_object;
  for (const FrameRange& frame : FramesOfRank0(stream)) {
    ObjectFrames& object = by_object[frame.key];
    object.path = root + "/" + frame.key;
    object.ranges.push_back(frame.range);
  }
  std::vector<ObjectFrames> objects;
  for (auto& [key, object] : by_object) objects.push_back(std::move(object));
  return objects;
}

Measure Exactly(std::string name, double value, std::string goal, std::string note) {
  return {std::move(name), value, value, value, std::move(goal), std::move(note)};
}

// Measures one size; the ratio comes first.
std::vector<Measure> MeasureSize(const Size& size, const std::string& folder, int pairs,
                                 uint32_t fetches) {
  auto runtime = RealRuntime();
  const std::string root = folder + "/local-" + size.name;
  auto store = Require(OpenStore(root, {.fsync = false}, runtime));
  auto stream = MakeStream({root, {1, 1}, size.steps, size.slice_bytes, size.object_bytes_target},
                           store, runtime);
  const std::vector<ObjectFrames> objects = FramesByObject(*stream, root);
  ReadOutcome last;
  double ours = 0;
  double base = 0;
  double our_cpu = 0;
  std::vector<double> cpu_ratios;
  const auto ratios = InterleavedRatios(
      pairs,
      [&] {
        const double began = CpuSeconds();
        last = ReadAll(stream, {.fetches_max = fetches});
        our_cpu = CpuSeconds() - began;
        return ours = static_cast<double>(last.payload_bytes) / last.seconds;
      },
      [&] {
        const double began = CpuSeconds();
        base = PreadAll(objects, 1);
        cpu_ratios.push_back((CpuSeconds() - began) / our_cpu);
        for (const int threads : {2, 4}) base = std::max(base, PreadAll(objects, threads));
        return base;
      });
  char note[160];
  std::snprintf(note, sizeof note, "last pair: %.2f against %.2f GB/s; warm cache, checksums on",
                ours / 1e9, base / 1e9);
  const double amplification =
      static_cast<double>(last.stats.bytes_read) / static_cast<double>(last.payload_bytes);
  const double requests =
      static_cast<double>(last.stats.requests) / static_cast<double>(last.stats.steps);
  return {MedianOf(std::string("read_local_vs_pread_") + size.name, ratios, ">= 0.7", note),
          MedianOf(std::string("read_local_cpu_vs_pread_") + size.name, cpu_ratios, "",
                   "processor time of pread by one thread over that of the consumer"),
          Exactly(std::string("read_bytes_per_slice_byte_") + size.name, amplification,
                  size.slice_bytes >= 1 << 20 ? "<= 1.05" : "",
                  "manifest, headers and prefetch included"),
          Exactly(std::string("requests_per_slice_") + size.name, requests, "", "")};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = OptionOf(argc, argv, "--folder", "build/bench");
  const int pairs = std::stoi(OptionOf(argc, argv, "--pairs", "7"));
  const uint32_t fetches = static_cast<uint32_t>(std::stoi(OptionOf(argc, argv, "--fetches", "2")));
  const std::string only = OptionOf(argc, argv, "--only", "");
  Measure slowest{.name = "", .value = 1e9, .goal = "", .note = ""};
  Measure greediest{.name = "", .goal = "", .note = ""};
  std::vector<Measure> measures;
  for (const Size& size : kSizes) {
    if (!only.empty() && only != size.name) continue;
    const std::vector<Measure> of_size = MeasureSize(size, folder, pairs, fetches);
    if (of_size[0].value < slowest.value) slowest = of_size[0];
    if (!of_size[2].goal.empty() && of_size[2].value > greediest.value) greediest = of_size[2];
    measures.insert(measures.end(), of_size.begin(), of_size.end());
  }
  slowest.note = "the worst of the sizes, " + slowest.name + "; " + slowest.note;
  slowest.name = "read_local_vs_pread";
  greediest.name = "read_bytes_per_slice_byte";
  measures.insert(measures.begin(), {slowest, greediest});
  Report("read_local", OptionOf(argc, argv, "--out", ""), CommandLine(argc, argv), measures);
  return 0;
}

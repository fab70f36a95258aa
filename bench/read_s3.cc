// A rank reading its slices through Consumer from a real S3 server, against ranged GETs of the same
// bytes by plain libcurl.
//
// The baseline: as many threads as the consumer has fetchers, one easy handle each (connections are
// kept), signed by libcurl itself, bodies into a reused buffer, no checksum. The server is the one
// in AWS_ENDPOINT_URL (bench/run.sh starts Ceph RGW).
#include <curl/curl.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "bench/report.h"
#include "bench/streams.h"

using namespace lakestream;
using namespace lakestream::bench;

namespace {

constexpr int kThreads = 4;

struct Sink {
  std::vector<char> buffer;
  size_t size = 0;
};

size_t OnBody(char* data, size_t one, size_t size, void* user) {
  Sink& sink = *static_cast<Sink*>(user);
  if (sink.size + size > sink.buffer.size()) return 0;
  std::memcpy(sink.buffer.data() + sink.size, data, size);
  sink.size += size;
  return one * size;
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  if (value != nullptr) return value;
  std::fprintf(stderr, "benchmark: set %s\n", name);
  std::exit(1);
}

// Bytes a second over all ranges.
double CurlAll(const std::string& bucket_url, const std::vector<FrameRange>& frames) {
  const std::string user =
      Environment("AWS_ACCESS_KEY_ID") + ":" + Environment("AWS_SECRET_ACCESS_KEY");
  std::atomic<size_t> next{0};
  std::atomic<uint64_t> total{0};
  const double began = NowSeconds();
  const auto work = [&] {
    CURL* curl = curl_easy_init();
    curl_slist* headers = curl_slist_append(nullptr, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    Sink sink;
    curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, "aws:amz:us-east-1:s3");
    curl_easy_setopt(curl, CURLOPT_USERPWD, user.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 512L << 10);
    for (size_t i; (i = next++) < frames.size();) {
      const ByteRange& range = frames[i].range;
      if (sink.buffer.size() < range.size) sink.buffer.resize(range.size);
      sink.size = 0;
      const std::string url = bucket_url + "/" + frames[i].key;
      const std::string span = std::to_string(range.offset) + "-" + std::to_string(range.end() - 1);
      curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
      curl_easy_setopt(curl, CURLOPT_RANGE, span.c_str());
      if (curl_easy_perform(curl) != CURLE_OK || sink.size != range.size) {
        std::fprintf(stderr, "benchmark: GET %s failed\n", url.c_str());
        std::exit(1);
      }
      total += range.size;
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
  };
  std::vector<std::thread> pool;
  for (int i = 1; i < kThreads; ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  return static_cast<double>(total) / (NowSeconds() - began);
}

struct Size {
  const char* name;
  uint64_t slice_bytes;
  uint64_t steps;
};
const Size kSizes[] = {{"64KiB", 64 << 10, 1500}, {"1MiB", 1 << 20, 600}, {"16MiB", 16 << 20, 64}};

}  // namespace

int main(int argc, char** argv) {
  curl_global_init(CURL_GLOBAL_ALL);
  const int pairs = std::stoi(OptionOf(argc, argv, "--pairs", "5"));
  const std::string bucket = OptionOf(argc, argv, "--bucket", "test");
  auto runtime = RealRuntime();
  std::vector<Measure> measures;
  for (const Size& size : kSizes) {
    const std::string prefix = std::string("bench-") + size.name;
    auto store = Require(OpenStore("s3://" + bucket + "/" + prefix, {}, runtime));
    // One TGB an object: each slice is a request of its own, on both sides.
    auto stream = MakeStream({"", {1, 1}, size.steps, size.slice_bytes, 1}, store, runtime);
    const std::vector<FrameRange> frames = FramesOfRank0(*stream);
    const std::string url = Environment("AWS_ENDPOINT_URL") + "/" + bucket + "/" + prefix;
    double ours = 0;
    double base = 0;
    const auto ratios = InterleavedRatios(
        pairs,
        [&] {
          const ReadOutcome read = ReadAll(stream, {.fetches_max = kThreads});
          return ours = static_cast<double>(read.payload_bytes) / read.seconds;
        },
        [&] { return base = CurlAll(url, frames); });
    char note[160];
    std::snprintf(note, sizeof note,
                  "last pair: %.0f against %.0f MB/s; Ceph RGW on the same machine, %d connections",
                  ours / 1e6, base / 1e6, kThreads);
    measures.push_back(
        MedianOf(std::string("read_s3_vs_curl_") + size.name, ratios, ">= 0.8", note));
  }
  Measure worst = measures[0];
  for (const Measure& measure : measures) {
    if (measure.value < worst.value) worst = measure;
  }
  worst.name = "read_s3_vs_curl";
  worst.note = "the worst of the sizes; " + worst.note;
  measures.insert(measures.begin(), worst);
  Report("read_s3", OptionOf(argc, argv, "--out", ""), CommandLine(argc, argv), measures);
  return 0;
}

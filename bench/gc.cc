// Reclamation of many dead objects, against bare deletes of as many by somebody who knows their
// names. Local without --bucket, else on the S3 server in AWS_ENDPOINT_URL.
//
// The stream is synthetic (long_history.h): one step and one data object a version, all steps but
// the last trimmed. One pass of Reclaim() lists, decides and deletes; each time that it has
// removed a fifth, the baseline deletes as many other objects of the same size and naming, by
// thousands: unlink and a sync of the folder on a local store, a DeleteObjects request on S3.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "bench/report.h"
#include "bench/streams.h"
#include "lakestream/lifecycle.h"
#include "runtime/parallel.h"
#include "store/memory_store.h"
#include "store/metered_store.h"
#include "tests/support/long_history.h"

using namespace lakestream;
using namespace lakestream::bench;
using testing_support::LongHistory;

namespace {

constexpr size_t kWriters = 16;
constexpr uint64_t kPairs = 5;
const std::string kRawPrefix = "raw/main/";

std::vector<std::string> KeysOf(ObjectStore& store) {
  std::vector<std::string> keys;
  ListOptions options;
  while (true) {
    const ListPage page = Require(store.List(options, Deadline::Never()));
    for (const ObjectInfo& object : page.objects) keys.push_back(object.key);
    if (!page.more) return keys;
    options.start_after = keys.back();
  }
}

// Puts a stream with `steps` steps into `store`, and each of its data objects once more below
// kRawPrefix; the keys of those.
std::vector<std::string> MakeObjects(ObjectStore& store, std::shared_ptr<Runtime> runtime,
                                     uint64_t steps) {
  auto memory = std::make_shared<MemoryStore>(runtime, "gc");
  const StreamSpec spec{.mesh = {1, 1}, .reclaim_grace = std::chrono::seconds(1)};
  auto stream = Require(Stream::Create(memory, runtime, spec, Deadline::Never()));
  LongHistory(*stream, {.versions = steps + 1, .readable_from = 0, .readable_end = steps});
  const std::string data = DataPrefix(kMainBranch);
  const std::vector<std::string> keys = KeysOf(*memory);
  Require(ParallelFor(*runtime, keys.size(), kWriters, [&](size_t i) -> Status {
    LS_ASSIGN_OR_RETURN(const Buffer bytes, GetBytes(*memory, keys[i], Deadline::Never()));
    LS_RETURN_IF_ERROR(PutBytes(store, keys[i], bytes.bytes(), {}, Deadline::Never()).status());
    if (!keys[i].starts_with(data)) return OkStatus();
    const std::string raw = kRawPrefix + keys[i].substr(data.size());
    return PutBytes(store, raw, bytes.bytes(), {}, Deadline::Never()).status();
  }));
  std::vector<std::string> raw;
  for (const std::string& key : keys) {
    if (key.starts_with(data)) raw.push_back(kRawPrefix + key.substr(data.size()));
  }
  return raw;
}

// Seconds to delete `keys`; `root` is the folder of a local store, empty for another.
double DeleteRaw(ObjectStore& store, const std::string& root, std::span<const std::string> keys) {
  const double began = NowSeconds();
  while (!keys.empty()) {
    const auto some = keys.first(std::min<size_t>(keys.size(), 1000));
    keys = keys.subspan(some.size());
    if (root.empty()) {
      Require(store.Delete(some, Deadline::Never()));
      continue;
    }
    for (const std::string& key : some) {
      if (unlink((root + "/" + key).c_str()) != 0) Require(InternalError("unlink of " + key));
    }
    const int folder = open((root + "/" + kRawPrefix).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fsync(folder) != 0) Require(InternalError("fsync of " + kRawPrefix));
    close(folder);
  }
  return NowSeconds() - began;
}

Measure Exactly(std::string name, double value, std::string goal = "", std::string note = "") {
  return {std::move(name), value, value, value, std::move(goal), std::move(note)};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string bucket = OptionOf(argc, argv, "--bucket", "");
  const bool local = bucket.empty();
  const std::string uri =
      local ? OptionOf(argc, argv, "--folder", "build/bench") + "/gc" : "s3://" + bucket + "/gc";
  const uint64_t objects = std::stoull(OptionOf(argc, argv, "--objects", "100000"));
  const std::string kind = local ? "local" : "s3";
  auto runtime = RealRuntime();
  if (local) std::filesystem::remove_all(uri);
  const auto unsynced = Require(OpenStore(uri, {.fsync = false}, runtime));
  std::vector<std::string> raw = MakeObjects(*unsynced, runtime, objects + 1);
  raw.resize(objects);

  auto store = std::make_shared<MeteredStore>(Require(OpenStore(uri, {}, runtime)));
  auto stream = Require(Stream::Open(store, runtime, Deadline::Never()));
  Require(Trim(*stream, {.to = objects}, Deadline::Never()));
  Require(Reclaim(*stream, {}, Deadline::Never()));  // moves the boundary
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));

  std::vector<double> ratios;
  double ours = 0;
  double bare = 0;
  uint64_t removed_before = 0;
  const StoreCounts before = store->counts();
  double began = NowSeconds();
  const auto end_pair = [&](uint64_t removed) {
    const double seconds = NowSeconds() - began;
    const uint64_t end = std::min<uint64_t>(removed, raw.size());
    const double raw_seconds =
        DeleteRaw(*unsynced, local ? unsynced->Describe() : "",
                  std::span(raw).subspan(removed_before, end - removed_before));
    ours += seconds;
    bare += raw_seconds;
    ratios.push_back(seconds / raw_seconds);
    removed_before = removed;
    began = NowSeconds();
  };
  ReclaimOptions options;
  options.progress = [&](uint64_t removed) {
    if (removed - removed_before >= objects / kPairs) end_pair(removed);
  };
  const ReclaimReport report = Require(Reclaim(*stream, options, Deadline::Never()));
  if (removed_before < raw.size()) end_pair(report.removed());
  ours += NowSeconds() - began;
  if (report.data_objects != objects) Require(InternalError("not all dead objects were removed"));
  const StoreCounts after = store->counts();
  if (local) std::filesystem::remove_all(uri);

  const double thousands = static_cast<double>(report.removed()) / 1000;
  char note[160];
  std::snprintf(note, sizeof note, "%zu pairs; %.2f s for %llu objects against %.2f s",
                ratios.size(), ours, static_cast<unsigned long long>(report.removed()), bare);
  Report("gc_" + kind, OptionOf(argc, argv, "--out", ""), CommandLine(argc, argv),
         {MedianOf("gc_vs_raw_deletes_" + kind, ratios, "<= 2", note),
          Exactly("gc_calls_per_1000_objects_" + kind,
                  static_cast<double>(after.requests() - before.requests()) / thousands, "<= 3",
                  "lists, deletes and what decides"),
          Exactly("gc_seconds_" + kind, ours)});
  return 0;
}

// Stream: create or open one training data stream at a root URI.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/object_store.h"
#include "lakestream/runtime.h"
#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {

// What is fixed when a stream is created (stored in stream.json; never changes).
struct StreamSpec {
  Mesh mesh;
  // The producers that make up the stream. When each of them has finished, the stream seals itself,
  // in the same commit as the last Finish(). Empty: any producer may open, and only an explicit
  // seal ends the stream.
  std::vector<std::string> producers;
  // A snapshot of the manifest each this many versions. Smaller: faster cold start, more PUTs.
  uint32_t snapshot_interval = 128;
  // Steps in one index page. Larger: fewer objects, larger snapshots.
  uint32_t index_page_steps = 256;
  // Storage of slices: 0 = as they are, 1..19 = zstd of that level (a slice that does not shrink
  // stays raw).
  int zstd_level = 0;
  // Each slice holds a declared number of samples, a multiple of this (metadata
  // "lakestream.samples", docs/format/tgb.md), so that jobs of up to this many times the mesh's DP
  // size can share them out. 0: slices are whole.
  uint32_t samples_multiple = 0;
  // L: how long anything that is given up stays in place before reclamation removes it, by the
  // store's clock. Longer than any request, pause or read under way may take; at least a second.
  std::chrono::milliseconds reclaim_grace = std::chrono::hours(1);
};

// A line of steps with its own log. "main" is there from the start; others begin at a step of their
// parent and share what lies below it.
struct BranchInfo {
  std::string name = "main";
  std::string parent;        // empty for main
  Step fork_step = 0;        // steps below it are the parent's
  Version fork_version = 0;  // of the parent: the commit that made the branch
  Step trim_step = 0;        // of the parent at that commit: the first step to be had here
  // What the branch's first record names as its predecessor; unused for main.
  std::array<uint8_t, 16> root{};
  bool is_main() const { return parent.empty(); }
  bool operator==(const BranchInfo&) const = default;
};

struct StreamInfo {
  std::string uuid;  // 32 hex digits; identifies the stream whatever its URI
  uint32_t format_version = 1;
  int64_t created_ms = 0;  // by the creator's clock
  StreamSpec spec;
  BranchInfo branch;  // which one this handle is on
};

// An opened stream: what it is, and the components to reach it. Immutable, thread-safe, shared by
// producers, consumers and operations. No thread runs and no connection is held by it alone.
class Stream {
 public:
  // Creates the stream; kAlreadyExists (kStreamExists) if there is one. Verifies first that the
  // store's conditional write is atomic (CheckConditionalPut), else kFailedPrecondition
  // (kUnsafeStore).
  static Result<std::shared_ptr<Stream>> Create(std::shared_ptr<ObjectStore> store,
                                                std::shared_ptr<Runtime> runtime,
                                                const StreamSpec& spec, const Deadline& deadline);
  // Opens a branch; kNotFound (kStreamMissing, kBranchMissing), kFailedPrecondition
  // (kFormatTooNew), kDataLoss. Read-only credentials do.
  static Result<std::shared_ptr<Stream>> Open(std::shared_ptr<ObjectStore> store,
                                              std::shared_ptr<Runtime> runtime,
                                              const Deadline& deadline,
                                              const std::string& branch = "main");
  // Many processes may call this at once: all get the same stream. kFailedPrecondition if the
  // existing stream's mesh or producers differ from `spec`.
  static Result<std::shared_ptr<Stream>> OpenOrCreate(std::shared_ptr<ObjectStore> store,
                                                      std::shared_ptr<Runtime> runtime,
                                                      const StreamSpec& spec,
                                                      const Deadline& deadline);

  const StreamInfo& info() const { return info_; }
  // The branches that this one comes from: its parent first, main last; empty on main.
  const std::vector<BranchInfo>& ancestors() const { return ancestors_; }
  ObjectStore& store() const { return *store_; }
  Runtime& runtime() const { return *runtime_; }
  const std::shared_ptr<ObjectStore>& shared_store() const { return store_; }
  const std::shared_ptr<Runtime>& shared_runtime() const { return runtime_; }

 private:
  Stream(std::shared_ptr<ObjectStore> store, std::shared_ptr<Runtime> runtime, StreamInfo info,
         std::vector<BranchInfo> ancestors)
      : store_(std::move(store)),
        runtime_(std::move(runtime)),
        info_(std::move(info)),
        ancestors_(std::move(ancestors)) {}

  std::shared_ptr<ObjectStore> store_;
  std::shared_ptr<Runtime> runtime_;
  StreamInfo info_;
  std::vector<BranchInfo> ancestors_;
};

// kInvalidArgument with what to do, if a spec or a name cannot be used. Names of producers, jobs,
// runs, checkpoints and branches: 1..64 of [A-Za-z0-9._-], not starting with '.' or '-'. `what` is
// for the message: "producer".
Status ValidateSpec(const StreamSpec& spec);
Status ValidateName(std::string_view what, std::string_view name);

}  // namespace lakestream

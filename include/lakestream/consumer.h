// Consumer: one rank's reader of a stream: its slice of step S, S+1, S+2, ... each once, in order.
//
// Needs read access only. Ranks never wait for each other, only for steps to be published.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "lakestream/stream.h"
#include "lakestream/tgb.h"

namespace lakestream {

struct ConsumerOptions {
  uint32_t dp_index = 0;  // position in the stream's mesh
  uint32_t cp_index = 0;
  // If set, must equal the stream's mesh, else kFailedPrecondition (kMeshMismatch) before any read.
  std::optional<Mesh> mesh;
  Step start_step = 0;
  // Read ahead at most this far: in steps, and in bytes held (at least one step is always read).
  uint32_t prefetch_steps = 128;
  uint64_t prefetch_bytes = 256ull << 20;
  // Slices being read at once.
  uint32_t fetches_max = 4;
  // While waiting for a step: first and longest time between looks at the manifest.
  Duration poll_min = std::chrono::milliseconds(20);
  Duration poll_max = std::chrono::seconds(1);
};

struct ConsumedSlice {
  Step step = 0;
  SliceView slice;
};

struct ConsumerStats {
  uint64_t steps = 0;        // returned by Next()
  uint64_t slice_bytes = 0;  // payload bytes of those
  uint64_t bytes_read = 0;   // from the store, everything included (manifest, headers, prefetched)
  uint64_t requests = 0;     // sent to the store, everything included
  uint64_t rereads = 0;      // slices whose checksum failed once and were read again
  Duration wait = Duration::zero();  // time spent blocked in Next()
  Version version = 0;
  Step next_committed_step = 0;  // newest known end of the stream
};

// Next() is for one thread; stats() for any. Background threads run from Open() to destruction.
class Consumer {
 public:
  // kInvalidArgument (kMeshMismatch) if the position is outside the mesh.
  static Result<std::unique_ptr<Consumer>> Open(std::shared_ptr<Stream> stream,
                                                const ConsumerOptions& options,
                                                const Deadline& deadline);
  virtual ~Consumer() = default;

  // The slice of the next step; nullopt at the end of a sealed stream (again on each later call).
  // Waits until the step is committed and read. kDeadlineExceeded names the step waited for, and a
  // later call goes on at the same step. kFailedPrecondition (kStepTrimmed), kDataLoss (kChecksum)
  // after a second read: the position stays.
  virtual Result<std::optional<ConsumedSlice>> Next(const Deadline& deadline) = 0;
  // The step that the next call of Next() returns: what to save in a checkpoint.
  virtual Step position() const = 0;
  virtual ConsumerStats stats() const = 0;
};

}  // namespace lakestream

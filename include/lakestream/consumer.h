// Consumer: one rank's reader of a stream: its slices of step S, S+1, S+2, ... each once, in order.
//
// Needs read access only, unless it reads for a run (then it writes its watermark). Ranks never
// wait for each other, only for steps to be published.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lakestream/stream.h"
#include "lakestream/tgb.h"

namespace lakestream {

// Reading in the name of a job's run: the run is attached, so that no trim takes what it still
// needs, and this rank reports how far it has come.
struct ConsumerRun {
  std::string job;
  std::string run;  // one start of the job; all its ranks name the same
  uint32_t rank = 0;
  uint32_t ranks = 1;
  // Longest lag of the watermark; one small PUT and one DELETE each time while it moves.
  Duration report_interval = std::chrono::seconds(1);
};

struct ConsumerOptions {
  // Position in the job's mesh.
  uint32_t dp_index = 0;
  uint32_t cp_index = 0;
  // The job's mesh; absent: the stream's. Its cp must be the stream's. Its dp must divide the
  // stream's (each step then gives several slices), or be a multiple of it that the stream's
  // samples_multiple allows (each step then gives a part of a slice, which is read as a whole);
  // else kFailedPrecondition (kMeshMismatch) before any read.
  std::optional<Mesh> mesh;
  Step start_step = 0;
  std::optional<ConsumerRun> run;
  // Read ahead at most this far: in steps, and in bytes held (at least one step is always read).
  uint32_t prefetch_steps = 128;
  uint64_t prefetch_bytes = 256ull << 20;
  // Slices being read at once.
  uint32_t fetches_max = 4;
  // While waiting for a step: first and longest time between looks at the manifest.
  Duration poll_min = std::chrono::milliseconds(20);
  Duration poll_max = std::chrono::seconds(1);
};

// What one position reads of one step.
struct ConsumedStep {
  Step step = 0;
  // By the dp index that they were written for; one, unless the job's DP size is smaller.
  std::vector<SliceView> slices;
  const SliceView& slice() const { return slices.front(); }
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
  // kInvalidArgument (kMeshMismatch) if the position is outside the mesh. With a run, as
  // AttachRun().
  static Result<std::unique_ptr<Consumer>> Open(std::shared_ptr<Stream> stream,
                                                const ConsumerOptions& options,
                                                const Deadline& deadline);
  virtual ~Consumer() = default;

  // The next step; nullopt at the end of a sealed stream (again on each later call). Waits until
  // the step is committed and read. kDeadlineExceeded names the step waited for, and a later call
  // goes on at the same step. kDataLoss (kChecksum) after a second read; kFailedPrecondition:
  // kStepTrimmed, kRunOver, kBranchClosed. The position stays.
  virtual Result<std::optional<ConsumedStep>> Next(const Deadline& deadline) = 0;
  // The step that the next call of Next() returns: what to save in a checkpoint.
  virtual Step position() const = 0;
  // With a run: this rank would restart at `step` or above it (its model is saved there), so that
  // steps below may be trimmed. kInvalidArgument past position(). May be called from any thread.
  virtual Status SetDurable(Step step) = 0;
  // Writes the watermark for the last time, if there is a run. Destruction does not.
  virtual Status Close(const Deadline& deadline) = 0;
  virtual ConsumerStats stats() const = 0;
};

}  // namespace lakestream

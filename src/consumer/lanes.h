// Lanes: one prefetch queue for each slice of a step that a consumer reads, moving in step.
//
// A job as wide as the stream has one lane. A narrower one has several, since the slices of one
// (dp, cp) lie side by side in a data object, those of one step do not. Plain data, guarded by its
// owner's mutex: no I/O, no waiting.
#pragma once

#include <cstdint>
#include <vector>

#include "consumer/prefetch_queue.h"

namespace lakestream {

class Lanes {
 public:
  struct Run {
    size_t lane = 0;
    Step first_step = 0;
    std::vector<SlicePlace> slices;  // empty: nothing to be read
  };

  // The bounds are for all lanes together.
  Lanes(size_t count, Step first_step, uint32_t steps_min, uint32_t steps_max, uint64_t bytes_max);

  Step next_step() const { return lanes_.front().next_step(); }
  Step front_step() const { return lanes_.front().front_step(); }
  bool has_enough_planned() const;
  bool is_short_of_planned() const;
  // One slice for each lane, of the next step.
  void Plan(std::vector<SlicePlace> slices);

  // From the lane that is farthest behind.
  Run TakeRun(uint64_t run_bytes_max);
  bool CanTake() const;
  bool Deepen();
  void SetReady(const Run& run, std::vector<SliceView> slices);
  void SetPlanned(const Run& run);
  void SetFailed(const Run& run, const Status& failure);

  bool front_ready() const;   // in all lanes
  bool front_failed() const;  // in one of them
  Status TakeFrontFailure();
  std::vector<SliceView> PopFront();

 private:
  std::vector<PrefetchQueue> lanes_;
};

}  // namespace lakestream

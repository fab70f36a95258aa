// PrefetchQueue: the steps ahead of a consumer, in order, each planned, being fetched, ready or
// failed.
//
// Plain data, guarded by its owner's mutex: no I/O, no waiting. Bounded in steps and in frame
// bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "consumer/slice_reader.h"

namespace lakestream {

class PrefetchQueue {
 public:
  struct Run {  // consecutive slots of one data object, marked as being fetched
    Step first_step = 0;
    std::vector<SlicePlace> slices;
  };

  PrefetchQueue(Step first_step, uint32_t steps_max, uint64_t bytes_max)
      : front_step_(first_step), steps_max_(steps_max), bytes_max_(bytes_max) {}

  // The step to be planned next.
  Step next_step() const { return front_step_ + slots_.size(); }
  Step front_step() const { return front_step_; }
  // Whether a slice of `bytes` may be planned now. One always may.
  bool HasRoom(uint64_t bytes) const {
    return slots_.empty() || (slots_.size() < steps_max_ && bytes_ + bytes <= bytes_max_);
  }
  void Plan(SlicePlace slice);
  // The oldest planned slots, as many as lie side by side and make at most `run_bytes_max` (one at
  // least). Empty: none.
  Run TakeRun(uint64_t run_bytes_max);
  void SetReady(Step first_step, std::vector<SliceView> slices);
  // Slots of a run whose fetch is to be tried again.
  void SetPlanned(Step first_step, size_t count);
  // A run whose fetch failed for good. A single slot has failed; of several nobody knows which one,
  // so they are planned again, each by itself.
  void SetFailed(Step first_step, size_t count, const Status& failure);

  bool front_ready() const { return !slots_.empty() && slots_.front().stage == Stage::kReady; }
  bool front_failed() const { return !slots_.empty() && slots_.front().stage == Stage::kFailed; }
  // The failure of the front slot, which is planned again: the next call may succeed.
  Status TakeFrontFailure();
  SliceView PopFront();

 private:
  enum class Stage { kPlanned, kFetching, kReady, kFailed };
  struct Slot {
    Stage stage = Stage::kPlanned;
    SlicePlace slice;
    SliceView content;
    Status failure;
    bool alone = false;  // to be read by itself
  };
  Slot& At(Step step) { return slots_[step - front_step_]; }

  Step front_step_;
  const uint32_t steps_max_;
  const uint64_t bytes_max_;
  std::deque<Slot> slots_;
  uint64_t bytes_ = 0;
};

}  // namespace lakestream

// PrefetchQueue: the steps ahead of a consumer, in order, each planned, being fetched, ready or
// failed.
//
// Plain data, guarded by its owner's mutex: no I/O, no waiting. Bounded in steps and in frame
// bytes.
#pragma once

#include <algorithm>
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
    return slots_.empty() || (slots_.size() < steps_max_ && bytes_ + bytes <= bytes_max_ &&
                              (slots_.size() < kStepsMin || bytes_ + bytes <= depth_bytes_));
  }
  // Doubles the depth, up to the bounds. To be called when the reader waits and a fetcher has
  // nothing to do.
  void Deepen() { depth_bytes_ = std::min(2 * depth_bytes_, bytes_max_); }
  // Whether so much has been taken out that it is worth planning again.
  bool IsLow() const {
    return slots_.size() <= kStepsMin / 2 ||
           (slots_.size() <= steps_max_ / 2 && bytes_ <= depth_bytes_ / 2);
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

  bool has_planned() const;
  bool front_ready() const { return !slots_.empty() && slots_.front().stage == Stage::kReady; }
  bool front_failed() const { return !slots_.empty() && slots_.front().stage == Stage::kFailed; }
  // The failure of the front slot, which is planned again: the next call may succeed.
  Status TakeFrontFailure();
  SliceView PopFront();

 private:
  // Steps and bytes to be ahead at least, whatever the depth: enough for every fetcher to have
  // work.
  static constexpr size_t kStepsMin = 8;
  static constexpr uint64_t kFirstDepthBytes = 8 << 20;

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
  uint64_t depth_bytes_ = std::min<uint64_t>(kFirstDepthBytes, bytes_max_);
};

}  // namespace lakestream

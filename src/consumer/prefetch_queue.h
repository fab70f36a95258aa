// PrefetchQueue: the steps ahead of a consumer, in order, each planned, being fetched, ready or
// failed.
//
// Planned slots are small (where a slice lies) and wait in plenty; slices are fetched only within
// the bounds in steps and bytes, and within them only as far ahead as has shown to be of use
// (Deepen), so that a fast store's slices stay in the processor's cache. Plain data, guarded by its
// owner's mutex: no I/O, no waiting.
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

  // `steps_min`: so many steps may be ahead whatever the depth: enough for every fetcher to have
  // work.
  PrefetchQueue(Step first_step, uint32_t steps_min, uint32_t steps_max, uint64_t bytes_max)
      : front_step_(first_step),
        steps_min_(steps_min),
        steps_max_(steps_max),
        bytes_max_(bytes_max) {}

  // The step to be planned next.
  Step next_step() const { return front_step_ + slots_.size(); }
  Step front_step() const { return front_step_; }

  // Planning stops when so many slots wait, and begins again at half of them.
  bool has_enough_planned() const { return planned_ >= kPlannedMax; }
  bool is_short_of_planned() const { return planned_ <= kPlannedMax / 2; }
  void Plan(SlicePlace slice);

  // The oldest planned slots that may be fetched now, as many as lie side by side and make at most
  // `run_bytes_max` (one at least). Empty: none. The front slot may always be fetched.
  Run TakeRun(uint64_t run_bytes_max);
  // Whether TakeRun() has something to give.
  bool CanTake() const;
  // The step that it would begin with.
  Step next_to_take() const { return front_step_ + FirstPlanned(); }
  // Doubles the depth, up to the bounds. To be called when the reader waits and a fetcher has
  // nothing to do. Whether there is something to take now.
  bool Deepen() {
    if (planned_ == 0) return false;  // it is steps that are missing, not depth
    depth_bytes_ = std::min(2 * depth_bytes_, bytes_max_);
    return CanTake();
  }

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
  static constexpr size_t kPlannedMax = 256;
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
  // Whether a further slice of `bytes` may be fetched.
  bool HasRoom(uint64_t bytes) const {
    return taken_ < steps_max_ && bytes_ + bytes <= bytes_max_ &&
           (taken_ < steps_min_ || bytes_ + bytes <= depth_bytes_);
  }
  size_t FirstPlanned() const;
  void Take(Slot& slot);
  void GiveBack(Slot& slot, Stage stage);

  Step front_step_;
  const uint32_t steps_min_;
  const uint32_t steps_max_;
  const uint64_t bytes_max_;
  std::deque<Slot> slots_;
  size_t planned_ = 0;  // slots in this stage
  uint32_t taken_ = 0;  // slots being fetched or ready
  uint64_t bytes_ = 0;  // frames of those
  uint64_t depth_bytes_ = std::min<uint64_t>(kFirstDepthBytes, bytes_max_);
};

}  // namespace lakestream

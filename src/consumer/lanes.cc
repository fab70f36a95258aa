#include "consumer/lanes.h"

#include <algorithm>
#include <utility>

namespace lakestream {

Lanes::Lanes(size_t count, Step first_step, uint32_t steps_min, uint32_t steps_max,
             uint64_t bytes_max)
    : lanes_(count, PrefetchQueue(first_step,
                                  (steps_min + static_cast<uint32_t>(count) - 1) /
                                      static_cast<uint32_t>(count),
                                  steps_max, bytes_max / count)) {}

bool Lanes::has_enough_planned() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const PrefetchQueue& lane) { return lane.has_enough_planned(); });
}

bool Lanes::is_short_of_planned() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const PrefetchQueue& lane) { return lane.is_short_of_planned(); });
}

void Lanes::Plan(std::vector<SlicePlace> slices) {
  for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i].Plan(std::move(slices[i]));
}

Lanes::Run Lanes::TakeRun(uint64_t run_bytes_max) {
  PrefetchQueue* behind = nullptr;
  for (PrefetchQueue& lane : lanes_) {
    if (lane.CanTake() && (behind == nullptr || lane.next_to_take() < behind->next_to_take()))
      behind = &lane;
  }
  if (behind == nullptr) return {};
  PrefetchQueue::Run run = behind->TakeRun(run_bytes_max);
  return {static_cast<size_t>(behind - lanes_.data()), run.first_step, std::move(run.slices)};
}

bool Lanes::CanTake() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const PrefetchQueue& lane) { return lane.CanTake(); });
}

bool Lanes::Deepen() {
  bool deeper = false;
  for (PrefetchQueue& lane : lanes_) deeper = lane.Deepen() || deeper;
  return deeper;
}

void Lanes::SetReady(const Run& run, std::vector<SliceView> slices) {
  lanes_[run.lane].SetReady(run.first_step, std::move(slices));
}

void Lanes::SetPlanned(const Run& run) {
  lanes_[run.lane].SetPlanned(run.first_step, run.slices.size());
}

void Lanes::SetFailed(const Run& run, const Status& failure) {
  lanes_[run.lane].SetFailed(run.first_step, run.slices.size(), failure);
}

bool Lanes::front_ready() const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [](const PrefetchQueue& lane) { return lane.front_ready(); });
}

bool Lanes::front_failed() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const PrefetchQueue& lane) { return lane.front_failed(); });
}

Status Lanes::TakeFrontFailure() {
  const auto failed = std::find_if(lanes_.begin(), lanes_.end(),
                                   [](const PrefetchQueue& lane) { return lane.front_failed(); });
  return failed->TakeFrontFailure();
}

std::vector<SliceView> Lanes::PopFront() {
  std::vector<SliceView> slices;
  slices.reserve(lanes_.size());
  for (PrefetchQueue& lane : lanes_) slices.push_back(lane.PopFront());
  return slices;
}

}  // namespace lakestream

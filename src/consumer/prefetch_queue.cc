#include "consumer/prefetch_queue.h"

#include <algorithm>

namespace lakestream {

void PrefetchQueue::Plan(SlicePlace slice) {
  bytes_ += slice.range.size;
  slots_.push_back({.slice = std::move(slice)});
}

PrefetchQueue::Run PrefetchQueue::TakeRun(uint64_t run_bytes_max) {
  const auto is_planned = [](const Slot& slot) { return slot.stage == Stage::kPlanned; };
  auto slot = std::find_if(slots_.begin(), slots_.end(), is_planned);
  Run run{front_step_ + (slot - slots_.begin()), {}};
  uint64_t bytes = 0;
  for (; slot != slots_.end() && is_planned(*slot); ++slot) {
    if (!run.slices.empty()) {
      const SlicePlace& last = run.slices.back();
      const bool adjacent = slot->slice.place.entry->session == last.place.entry->session &&
                            slot->slice.place.entry->object == last.place.entry->object &&
                            slot->slice.range.offset == last.range.end();
      if (!adjacent || slot->alone || bytes + slot->slice.range.size > run_bytes_max) break;
    }
    bytes += slot->slice.range.size;
    slot->stage = Stage::kFetching;
    run.slices.push_back(slot->slice);
    if (slot->alone) break;
  }
  return run;
}

bool PrefetchQueue::has_planned() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.stage == Stage::kPlanned; });
}

void PrefetchQueue::SetReady(Step first_step, std::vector<SliceView> slices) {
  for (size_t i = 0; i < slices.size(); ++i) {
    Slot& slot = At(first_step + i);
    slot.stage = Stage::kReady;
    slot.content = std::move(slices[i]);
  }
}

void PrefetchQueue::SetPlanned(Step first_step, size_t count) {
  for (size_t i = 0; i < count; ++i) At(first_step + i).stage = Stage::kPlanned;
}

void PrefetchQueue::SetFailed(Step first_step, size_t count, const Status& failure) {
  for (size_t i = 0; i < count; ++i) {
    Slot& slot = At(first_step + i);
    slot.stage = count == 1 ? Stage::kFailed : Stage::kPlanned;
    slot.failure = failure;
    slot.alone = true;
  }
}

Status PrefetchQueue::TakeFrontFailure() {
  slots_.front().stage = Stage::kPlanned;
  return slots_.front().failure;
}

SliceView PrefetchQueue::PopFront() {
  SliceView content = std::move(slots_.front().content);
  bytes_ -= slots_.front().slice.range.size;
  slots_.pop_front();
  ++front_step_;
  return content;
}

}  // namespace lakestream

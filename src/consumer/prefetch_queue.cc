#include "consumer/prefetch_queue.h"

namespace lakestream {

void PrefetchQueue::Plan(SlicePlace slice) {
  slots_.push_back({.slice = std::move(slice)});
  ++planned_;
}

size_t PrefetchQueue::FirstPlanned() const {
  const auto is_planned = [](const Slot& slot) { return slot.stage == Stage::kPlanned; };
  return static_cast<size_t>(std::find_if(slots_.begin(), slots_.end(), is_planned) -
                             slots_.begin());
}

bool PrefetchQueue::CanTake() const {
  if (planned_ == 0) return false;
  const size_t first = FirstPlanned();
  return first == 0 || HasRoom(slots_[first].slice.range.size);
}

void PrefetchQueue::Take(Slot& slot) {
  slot.stage = Stage::kFetching;
  --planned_;
  ++taken_;
  bytes_ += slot.slice.range.size;
}

void PrefetchQueue::GiveBack(Slot& slot, Stage stage) {
  slot.stage = stage;
  planned_ += stage == Stage::kPlanned;
  --taken_;
  bytes_ -= slot.slice.range.size;
}

PrefetchQueue::Run PrefetchQueue::TakeRun(uint64_t run_bytes_max) {
  if (!CanTake()) return {};
  size_t index = FirstPlanned();
  Run run{front_step_ + index, {}};
  uint64_t bytes = 0;
  for (; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    if (!run.slices.empty()) {
      const SlicePlace& last = run.slices.back();
      const bool adjacent = slot.stage == Stage::kPlanned &&
                            slot.slice.place.entry->session == last.place.entry->session &&
                            slot.slice.place.entry->object == last.place.entry->object &&
                            slot.slice.range.offset == last.range.end();
      if (!adjacent || slot.alone || !HasRoom(slot.slice.range.size) ||
          bytes + slot.slice.range.size > run_bytes_max) {
        break;
      }
    }
    bytes += slot.slice.range.size;
    Take(slot);
    run.slices.push_back(slot.slice);
    if (slot.alone) break;
  }
  return run;
}

void PrefetchQueue::SetReady(Step first_step, std::vector<SliceView> slices) {
  for (size_t i = 0; i < slices.size(); ++i) {
    Slot& slot = At(first_step + i);
    slot.stage = Stage::kReady;
    slot.content = std::move(slices[i]);
  }
}

void PrefetchQueue::SetPlanned(Step first_step, size_t count) {
  for (size_t i = 0; i < count; ++i) GiveBack(At(first_step + i), Stage::kPlanned);
}

void PrefetchQueue::SetFailed(Step first_step, size_t count, const Status& failure) {
  for (size_t i = 0; i < count; ++i) {
    Slot& slot = At(first_step + i);
    GiveBack(slot, count == 1 ? Stage::kFailed : Stage::kPlanned);
    slot.failure = failure;
    slot.alone = true;
  }
}

Status PrefetchQueue::TakeFrontFailure() {
  slots_.front().stage = Stage::kPlanned;
  ++planned_;
  return slots_.front().failure;
}

SliceView PrefetchQueue::PopFront() {
  SliceView content = std::move(slots_.front().content);
  bytes_ -= slots_.front().slice.range.size;
  --taken_;
  slots_.pop_front();
  ++front_step_;
  return content;
}

}  // namespace lakestream

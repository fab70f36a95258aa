#include "consumer/buffer_pool.h"

#include <bit>
#include <cstdlib>
#include <vector>

namespace lakestream {
namespace {

constexpr size_t kAlignment = 64;

// Up to the next eighth of a power of two: slices of about one size share blocks, and at most an
// eighth is unused.
size_t CapacityFor(size_t size) {
  constexpr size_t kSmallest = 4096;
  if (size <= kSmallest) return kSmallest;
  const size_t grain = std::bit_floor(size) / 8;
  return (size + grain - 1) / grain * grain;
}

}  // namespace

BufferAllocator::Block BufferPool::Allocate(size_t size) {
  const size_t capacity = CapacityFor(size);
  uint8_t* data = shelf_->Take(capacity);
  if (data == nullptr) return {};
  auto owner = std::shared_ptr<void>(data, [shelf = shelf_, capacity](void* block) {
    shelf->Return(static_cast<uint8_t*>(block), capacity);
  });
  return {std::move(owner), data};
}

uint64_t BufferPool::bytes_kept() const { return shelf_->bytes_kept(); }

BufferPool::Shelf::~Shelf() {
  for (const auto& [capacity, block] : kept_) std::free(block);
}

uint8_t* BufferPool::Shelf::Take(size_t capacity) {
  {
    MutexLock lock(mutex_);
    bytes_used_ += capacity;
    const auto fit = kept_.find(capacity);
    if (fit != kept_.end()) {
      uint8_t* block = fit->second;
      kept_.erase(fit);
      bytes_kept_ -= capacity;
      return block;
    }
  }
  return static_cast<uint8_t*>(std::aligned_alloc(kAlignment, capacity));
}

void BufferPool::Shelf::Return(uint8_t* block, size_t capacity) {
  std::vector<uint8_t*> surplus;
  {
    MutexLock lock(mutex_);
    bytes_used_ -= capacity;
    kept_.emplace(capacity, block);
    bytes_kept_ += capacity;
    while (bytes_kept_ > 0 && bytes_kept_ + bytes_used_ > bytes_max_) {
      const auto victim = kept_.begin();
      surplus.push_back(victim->second);
      bytes_kept_ -= victim->first;
      kept_.erase(victim);
    }
  }
  for (uint8_t* dead : surplus) std::free(dead);
}

uint64_t BufferPool::Shelf::bytes_kept() const {
  MutexLock lock(mutex_);
  return bytes_kept_;
}

}  // namespace lakestream

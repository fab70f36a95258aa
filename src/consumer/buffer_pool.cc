#include "consumer/buffer_pool.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace lakestream {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = 2 << 20;
// From here on blocks come straight from the kernel: the heap would not give them back, and huge
// pages make the first touch many times cheaper.
constexpr size_t kMappedFrom = 1 << 20;

// Up to the next eighth of a power of two, so that slices of about one size share blocks; whole
// huge pages for large ones.
size_t CapacityFor(size_t size) {
  constexpr size_t kSmallest = 4096;
  if (size <= kSmallest) return kSmallest;
  const size_t grain = size > 4 * kHugePage ? kHugePage : std::bit_floor(size) / 8;
  return (size + grain - 1) / grain * grain;
}

uint8_t* NewBlock(size_t capacity) {
  if (capacity < kMappedFrom)
    return static_cast<uint8_t*>(std::aligned_alloc(kAlignment, capacity));
  void* block = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  (void)madvise(block, capacity, MADV_HUGEPAGE);
  return static_cast<uint8_t*>(block);
}

void FreeBlock(uint8_t* block, size_t capacity) {
  if (capacity < kMappedFrom) {
    std::free(block);
  } else {
    munmap(block, capacity);
  }
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
  for (const auto& [capacity, blocks] : kept_) {
    for (uint8_t* block : blocks) FreeBlock(block, capacity);
  }
}

uint8_t* BufferPool::Shelf::Take(size_t capacity) {
  {
    MutexLock lock(mutex_);
    bytes_used_ += capacity;
    const auto fit = kept_.find(capacity);
    if (fit != kept_.end()) {
      uint8_t* block = fit->second.back();
      fit->second.pop_back();
      if (fit->second.empty()) kept_.erase(fit);
      bytes_kept_ -= capacity;
      return block;
    }
  }
  MakeRoom();
  uint8_t* block = NewBlock(capacity);
  if (block == nullptr) {
    MutexLock lock(mutex_);
    bytes_used_ -= capacity;
  }
  return block;
}

void BufferPool::Shelf::Return(uint8_t* block, size_t capacity) {
  {
    MutexLock lock(mutex_);
    bytes_used_ -= capacity;
    kept_[capacity].push_back(block);
    bytes_kept_ += capacity;
  }
  MakeRoom();
}

// Frees kept blocks, the smallest first, until what is used and kept is within the limit.
void BufferPool::Shelf::MakeRoom() {
  std::vector<std::pair<size_t, uint8_t*>> surplus;
  {
    MutexLock lock(mutex_);
    while (!kept_.empty() && bytes_kept_ + bytes_used_ > bytes_max_) {
      const auto victim = kept_.begin();
      surplus.emplace_back(victim->first, victim->second.back());
      bytes_kept_ -= victim->first;
      victim->second.pop_back();
      if (victim->second.empty()) kept_.erase(victim);
    }
  }
  for (const auto& [capacity, block] : surplus) FreeBlock(block, capacity);
}

uint64_t BufferPool::Shelf::bytes_kept() const {
  MutexLock lock(mutex_);
  return bytes_kept_;
}

}  // namespace lakestream

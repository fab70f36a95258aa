// BufferPool: memory for slices, used again and again.
//
// Fresh memory of this size costs more than the read itself (the kernel clears each page on first
// touch), so blocks that the user has let go of are kept for the next slice. What the pool has
// handed out plus what it keeps stays within `bytes_max` as long as the blocks in use do: it only
// keeps what fits beside them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "lakestream/object_store.h"

namespace lakestream {

// Thread-safe. Blocks may outlive the pool.
class BufferPool final : public BufferAllocator {
 public:
  explicit BufferPool(uint64_t bytes_max) : shelf_(std::make_shared<Shelf>(bytes_max)) {}

  Block Allocate(size_t size) override;

  uint64_t bytes_kept() const;

 private:
  // Outlives the pool through the blocks that it has handed out.
  class Shelf {
   public:
    explicit Shelf(uint64_t bytes_max) : bytes_max_(bytes_max) {}
    ~Shelf();
    uint8_t* Take(size_t capacity);
    void Return(uint8_t* block, size_t capacity);
    uint64_t bytes_kept() const;

   private:
    void MakeRoom();

    const uint64_t bytes_max_;
    mutable Mutex mutex_;
    std::map<size_t, std::vector<uint8_t*>> kept_ LS_GUARDED_BY(mutex_);  // by capacity
    uint64_t bytes_kept_ LS_GUARDED_BY(mutex_) = 0;
    uint64_t bytes_used_ LS_GUARDED_BY(mutex_) = 0;
  };
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace lakestream

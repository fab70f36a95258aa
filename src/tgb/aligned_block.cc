#include "tgb/aligned_block.h"

#include <new>

namespace lakestream {

BufferAllocator::Block AllocateAligned(size_t size) {
  static constexpr std::align_val_t kAlignment{64};
  void* memory = ::operator new(size, kAlignment, std::nothrow);
  if (memory == nullptr) return {};
  std::shared_ptr<void> owner(memory, [](void* p) { ::operator delete(p, kAlignment); });
  return {std::move(owner), static_cast<uint8_t*>(memory)};
}

}  // namespace lakestream

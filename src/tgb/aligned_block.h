// Memory for payloads that tensors point into.
#pragma once

#include <cstddef>

#include "lakestream/object_store.h"

namespace lakestream {

// `size` writable bytes on the heap, 64-byte aligned, not initialised. `data` is null if there is
// no memory.
BufferAllocator::Block AllocateAligned(size_t size);

}  // namespace lakestream

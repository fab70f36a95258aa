// The rules that every backend applies in the same way, so that none of them can differ: which keys
// and options are valid, how a range is cut, where the bytes of a Get go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lakestream/object_store.h"

namespace lakestream {

inline constexpr size_t kKeyBytesMax = 1024;
inline constexpr uint32_t kListLimitMax = 16384;

// kInvalidArgument unless `key` is 1..1024 bytes of UTF-8 without NUL.
Status CheckKey(std::string_view key);
// The key, and at most one condition.
Status CheckPut(std::string_view key, const PutOptions& options);
// A limit of 1..kListLimitMax.
Status CheckList(const ListOptions& options);
// A part's number is 1..parts_max.
Status CheckPartNumber(std::string_view key, uint32_t number, uint64_t parts_max);

// The bytes of an object of `object_bytes` that a Get with `range` answers: cut at the end;
// kInvalidArgument if it starts at or past the end of a non-empty object. Cannot overflow.
Result<ByteRange> CutRange(const std::optional<ByteRange>& range, uint64_t object_bytes,
                           std::string_view key);

// Memory from `allocator`, or 64-byte aligned from the heap (not cleared) if that is null.
// kResourceExhausted if there is none.
Result<BufferAllocator::Block> AllocateFor(BufferAllocator* allocator, uint64_t bytes,
                                           std::string_view key);
// The first `bytes` of a filled block as a Buffer that keeps it alive.
Buffer ToBuffer(BufferAllocator::Block block, size_t bytes);

// The words of a missing object and of a failed if_match, the same in all backends.
Status MissingObject(std::string_view store, std::string_view key);
Status ObjectChanged(std::string_view store, std::string_view key);
// The words of an upload that AbortStaleUploads() ended before its writer came back.
Status StaleUploadEnded(std::string_view key);

uint64_t TotalBytes(std::span<const ConstBytes> pieces);

}  // namespace lakestream

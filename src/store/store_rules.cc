#include "store/store_rules.h"

#include <algorithm>
#include <new>

#include "base/text.h"

namespace lakestream {
namespace {

constexpr std::align_val_t kAlignment{64};

// The length of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none
// (overlong forms, surrogates and values above U+10FFFF are not well-formed).
size_t Utf8SequenceBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return size;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = Utf8SequenceBytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace

Status CheckKey(std::string_view key) {
  if (key.empty()) return InvalidArgumentError("an object's key is empty; give it a name");
  if (key.size() > kKeyBytesMax) {
    return InvalidArgumentError(Str("key '", key.substr(0, 64), "...' has ", key.size(),
                                    " bytes; at most ", kKeyBytesMax, " are allowed"));
  }
  if (key.find('\0') != std::string_view::npos) {
    return InvalidArgumentError("an object's key contains a NUL byte; use printable characters");
  }
  if (!IsUtf8(key)) {
    return InvalidArgumentError(
        Str("key with bytes ", ToHex(AsBytes(key)), " is not UTF-8; encode the name as UTF-8"));
  }
  return OkStatus();
}

Status CheckPut(std::string_view key, const PutOptions& options) {
  if (options.if_absent && !options.if_match.empty()) {
    return InvalidArgumentError(
        Str("put of '", key, "': if_absent and if_match exclude each other; set one of them"));
  }
  return CheckKey(key);
}

Status CheckList(const ListOptions& options) {
  if (options.limit >= 1 && options.limit <= kListLimitMax) return OkStatus();
  return InvalidArgumentError(Str("listing of '", options.prefix, "': limit ", options.limit,
                                  " is not in 1..", kListLimitMax));
}

Status CheckPartNumber(std::string_view key, uint32_t number, uint64_t parts_max) {
  if (number >= 1 && number <= parts_max) return OkStatus();
  return InvalidArgumentError(
      Str("upload of '", key, "': part number ", number, " is not in 1..", parts_max));
}

Result<ByteRange> CutRange(const std::optional<ByteRange>& range, uint64_t object_bytes,
                           std::string_view key) {
  if (!range) return ByteRange{0, object_bytes};
  if (object_bytes == 0) return ByteRange{0, 0};
  if (range->offset >= object_bytes) {
    return InvalidArgumentError(Str("read of '", key, "' starts at byte ", range->offset,
                                    ", but the object has only ", object_bytes, " bytes"));
  }
  return ByteRange{range->offset, std::min(range->size, object_bytes - range->offset)};
}

Result<BufferAllocator::Block> AllocateFor(BufferAllocator* allocator, uint64_t bytes,
                                           std::string_view key) {
  BufferAllocator::Block block;
  if (allocator != nullptr) {
    block = allocator->Allocate(bytes);
  } else if (bytes > 0) {
    auto* data = static_cast<uint8_t*>(::operator new(bytes, kAlignment, std::nothrow));
    block.data = data;
    if (data != nullptr) {
      block.owner = std::shared_ptr<void>(data, [](void* p) { ::operator delete(p, kAlignment); });
    }
  }
  if (bytes > 0 && block.data == nullptr) {
    return ResourceExhaustedError(
        Str("read of '", key, "': no memory for ", bytes, " bytes; read smaller ranges"));
  }
  return block;
}

Buffer ToBuffer(BufferAllocator::Block block, size_t bytes) {
  return Buffer(std::move(block.owner), ConstBytes(block.data, bytes));
}

Status MissingObject(std::string_view store, std::string_view key) {
  return NotFoundError(Str("no object '", key, "' in ", store));
}

Status ObjectChanged(std::string_view store, std::string_view key) {
  return AbortedError(Str("object '", key, "' in ", store,
                          " is no longer the one that was asked for; read its newest state"));
}

Status StaleUploadEnded(std::string_view key) {
  return NotFoundError(Str("the upload of '", key,
                           "' is no longer there: it was ended as abandoned", "; start a new one"));
}

uint64_t TotalBytes(std::span<const ConstBytes> pieces) {
  uint64_t total = 0;
  for (ConstBytes piece : pieces) total += piece.size();
  return total;
}

}  // namespace lakestream

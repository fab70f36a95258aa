// The words of Lakestream as types: steps, versions, the mesh, bytes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace lakestream {

// A TGB's place in the stream's total order: 0, 1, 2, ... without gaps.
using Step = uint64_t;
// One immutable state of the manifest. 0 is the empty stream; each commit makes the next one.
using Version = uint64_t;
// The n-th session opened on a branch (1, 2, ...). Never reused; a larger one is newer.
using SessionId = uint64_t;

// The grid of slices in a TGB: data-parallel x context-parallel positions. Tensor- and
// pipeline-parallel ranks read the slice of their (dp, cp) position.
struct Mesh {
  uint32_t dp = 1;
  uint32_t cp = 1;

  uint32_t slice_count() const { return dp * cp; }
  // Slices are stored cp-major, so that the dp positions of one cp lie side by side: a job with
  // fewer, larger dp ranks reads one contiguous run.
  uint32_t SliceIndex(uint32_t dp_index, uint32_t cp_index) const {
    return cp_index * dp + dp_index;
  }
  auto operator<=>(const Mesh&) const = default;
};

// Borrowed bytes; the owner must outlive them.
using ConstBytes = std::span<const uint8_t>;
using MutableBytes = std::span<uint8_t>;

inline ConstBytes AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view AsText(ConstBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A half-open range of an object's bytes.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t end() const { return offset + size; }
  auto operator<=>(const ByteRange&) const = default;
};

// Shared ownership of immutable bytes. Copies share; Slice() shares. Thread-safe to read.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<const void> owner, ConstBytes bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}
  static Buffer CopyOf(ConstBytes bytes);
  static Buffer CopyOf(std::string_view text) { return CopyOf(AsBytes(text)); }
  static Buffer FromVector(std::vector<uint8_t> bytes);

  ConstBytes bytes() const { return bytes_; }
  const uint8_t* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  std::string_view text() const { return AsText(bytes_); }
  // The bytes [offset, offset + size), which must lie inside; shares ownership.
  Buffer Slice(size_t offset, size_t size) const {
    return Buffer(owner_, bytes_.subspan(offset, size));
  }

 private:
  std::shared_ptr<const void> owner_;
  ConstBytes bytes_;
};

// Gives memory for bytes that are about to be read. `Allocate` returns `size` writable bytes kept
// alive by `owner`.
class BufferAllocator {
 public:
  struct Block {
    std::shared_ptr<void> owner;
    uint8_t* data = nullptr;
  };
  virtual ~BufferAllocator() = default;
  virtual Block Allocate(size_t size) = 0;  // 64-byte aligned; thread-safe
};

}  // namespace lakestream

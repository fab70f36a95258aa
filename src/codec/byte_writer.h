// ByteWriter: numbers and byte strings, little-endian, appended to a vector.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "lakestream/types.h"

namespace lakestream {

static_assert(std::endian::native == std::endian::little, "Lakestream's formats are little-endian");

class ByteWriter {
 public:
  void U8(uint8_t value) { bytes_.push_back(value); }
  void U16(uint16_t value) { Fixed(value); }
  void U32(uint32_t value) { Fixed(value); }
  void U64(uint64_t value) { Fixed(value); }
  // LEB128: seven bits a byte, lowest first; the shortest form only.
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<uint8_t>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  void Raw(ConstBytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  // A varint length, then the bytes.
  void String(std::string_view text) {
    Varint(text.size());
    Raw(AsBytes(text));
  }

  size_t size() const { return bytes_.size(); }
  ConstBytes bytes() const { return bytes_; }
  std::vector<uint8_t> Take() { return std::move(bytes_); }

 private:
  template <typename T>
  void Fixed(T value) {
    uint8_t raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof value);
  }
  std::vector<uint8_t> bytes_;
};

}  // namespace lakestream

// ByteReader: the counterpart of ByteWriter for bytes that nobody vouches for.
#pragma once

#include <cstdint>
#include <string_view>

#include "lakestream/types.h"

namespace lakestream {

// Never reads outside its bytes. A read that does not fit, a varint that is too long or not in its
// shortest form, makes the reader *failed*: every later read gives zero or empty, so a decoder
// checks ok() once at its end (and before it trusts a count). Confined to one thread.
class ByteReader {
 public:
  explicit ByteReader(ConstBytes bytes) : bytes_(bytes) {}

  uint8_t U8() { return Fixed<uint8_t>(); }
  uint16_t U16() { return Fixed<uint16_t>(); }
  uint32_t U32() { return Fixed<uint32_t>(); }
  uint64_t U64() { return Fixed<uint64_t>(); }
  uint64_t Varint();
  ConstBytes Raw(size_t size);
  // A string of at most `size_max` bytes.
  std::string_view String(size_t size_max);
  // A count of things that take at least `bytes_each` bytes each: can't exceed what is left.
  uint64_t Count(size_t bytes_each);

  bool ok() const { return ok_; }
  // ok, and nothing is left.
  bool AtEnd() const { return ok_ && bytes_.empty(); }
  size_t remaining() const { return bytes_.size(); }
  void Fail() {
    ok_ = false;
    bytes_ = {};
  }

 private:
  template <typename T>
  T Fixed();

  ConstBytes bytes_;
  bool ok_ = true;
};

}  // namespace lakestream

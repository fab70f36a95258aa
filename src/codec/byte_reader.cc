#include "codec/byte_reader.h"

#include <cstring>

namespace lakestream {

template <typename T>
T ByteReader::Fixed() {
  ConstBytes raw = Raw(sizeof(T));
  T value = 0;
  if (ok_) std::memcpy(&value, raw.data(), sizeof value);
  return value;
}
template uint8_t ByteReader::Fixed<uint8_t>();
template uint16_t ByteReader::Fixed<uint16_t>();
template uint32_t ByteReader::Fixed<uint32_t>();
template uint64_t ByteReader::Fixed<uint64_t>();

uint64_t ByteReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = U8();
    if (!ok_) return 0;
    if (shift == 63 && byte > 1) break;  // more than 64 bits
    value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) {
      if (byte == 0 && shift > 0) break;  // not the shortest form
      return value;
    }
  }
  Fail();
  return 0;
}

ConstBytes ByteReader::Raw(size_t size) {
  if (!ok_ || size > bytes_.size()) {
    Fail();
    return {};
  }
  ConstBytes raw = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  return raw;
}

std::string_view ByteReader::String(size_t size_max) {
  const uint64_t size = Varint();
  if (size > size_max) {
    Fail();
    return {};
  }
  return AsText(Raw(size));
}

uint64_t ByteReader::Count(size_t bytes_each) {
  const uint64_t count = Varint();
  if (count > bytes_.size() / bytes_each) {
    Fail();
    return 0;
  }
  return count;
}

}  // namespace lakestream

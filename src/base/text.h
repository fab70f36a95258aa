// Text for keys and messages: GCC 12 has no std::format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lakestream/types.h"

namespace lakestream {

// "00000000000000000042": sorts as the number does.
inline std::string Padded(uint64_t number, size_t width = 20) {
  std::string digits = std::to_string(number);
  return digits.size() >= width ? digits : std::string(width - digits.size(), '0') + digits;
}

inline std::string ToHex(ConstBytes bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

namespace text_internal {
inline std::string_view Piece(std::string_view text) { return text; }
inline std::string_view Piece(const char* text) { return text; }
inline std::string_view Piece(const std::string& text) { return text; }
inline std::string Piece(bool value) { return value ? "true" : "false"; }
template <typename Number>
std::string Piece(Number number) requires(std::is_arithmetic_v<Number>) {
  return std::to_string(number);
}
}  // namespace text_internal

// Str("step ", 7, " of ", name): the pieces, end to end.
template <typename... Parts>
std::string Str(const Parts&... parts) {
  std::string text;
  (text.append(text_internal::Piece(parts)), ...);
  return text;
}

}  // namespace lakestream

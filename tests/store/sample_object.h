// Objects that show whether they are whole: "<writer> <number> <bytes>\n", then a pattern of both
// up to that many bytes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/text.h"

namespace lakestream {

inline std::string SampleObject(uint64_t writer, uint64_t number) {
  const size_t bytes = 100 + number * 7919 % 200'000;
  std::string text = Str(writer, " ", number, " ", bytes, "\n");
  uint32_t state = static_cast<uint32_t>(writer * 31 + number);
  while (text.size() < bytes) {
    state = state * 1664525 + 1013904223;
    text.push_back(static_cast<char>(state >> 24));
  }
  return text;
}

// Whether `text` is a whole sample object of anybody.
inline bool IsWholeSample(std::string_view text) {
  unsigned long long writer = 0;
  unsigned long long number = 0;
  const std::string head(text.substr(0, text.find('\n')));
  if (std::sscanf(head.c_str(), "%llu %llu", &writer, &number) != 2) return false;
  return text == SampleObject(writer, number);
}

}  // namespace lakestream

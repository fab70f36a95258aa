// The hex blocks of a format page, as bytes.
#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace lakestream::testing_support {

// The bytes of a line such as "00000010  a0 a1 ...  |text|"; its offset must be `expected`.
inline std::vector<uint8_t> ParseHexLine(const std::string& line, size_t expected) {
  std::istringstream words(line.substr(0, line.find('|')));
  std::string word;
  words >> word;
  size_t offset = 0;
  std::from_chars(word.data(), word.data() + word.size(), offset, 16);
  EXPECT_EQ(offset, expected) << line;
  std::vector<uint8_t> bytes;
  while (words >> word) {
    uint8_t byte = 0;
    std::from_chars(word.data(), word.data() + word.size(), byte, 16);
    bytes.push_back(byte);
  }
  return bytes;
}

// The bytes of each block of `path` that starts with "```hex", in order.
inline std::vector<std::vector<uint8_t>> HexBlocks(const std::string& path) {
  std::ifstream page(path);
  EXPECT_TRUE(page.good()) << path;
  std::vector<std::vector<uint8_t>> blocks;
  std::string line;
  while (std::getline(page, line)) {
    if (line != "```hex") continue;
    std::vector<uint8_t>& bytes = blocks.emplace_back();
    while (std::getline(page, line) && line != "```") {
      const std::vector<uint8_t> more = ParseHexLine(line, bytes.size());
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
  }
  return blocks;
}

// `bytes` as such a block, to paste into a page.
inline std::string HexBlock(const std::vector<uint8_t>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "```hex\n";
  for (size_t offset = 0; offset < bytes.size(); offset += 16) {
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[offset >> shift & 15];
    text += " ";
    std::string shown;
    for (size_t i = offset; i < offset + 16; ++i) {
      if (i % 8 == 0) text += ' ';
      if (i >= bytes.size()) {
        text += "   ";
        continue;
      }
      text += {kDigits[bytes[i] >> 4], kDigits[bytes[i] & 15], ' '};
      shown += bytes[i] >= 32 && bytes[i] < 127 ? static_cast<char>(bytes[i]) : '.';
    }
    text += " |" + shown + "|\n";
  }
  return text + "```\n";
}

}  // namespace lakestream::testing_support

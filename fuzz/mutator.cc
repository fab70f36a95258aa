#include "fuzz/mutator.h"

#include <algorithm>
#include <cstring>

namespace lakestream::fuzz {
namespace {

// Where arithmetic tends to break.
constexpr uint64_t kNumbers[] = {0,
                                 1,
                                 63,
                                 64,
                                 127,
                                 128,
                                 255,
                                 256,
                                 4096,
                                 65535,
                                 65536,
                                 (1ull << 31) - 1,
                                 1ull << 31,
                                 (1ull << 32) - 1,
                                 1ull << 32,
                                 (1ull << 46) - 1,
                                 (1ull << 63) - 1,
                                 1ull << 63,
                                 UINT64_MAX - 63,
                                 UINT64_MAX - 1,
                                 UINT64_MAX};
// What the text formats are made of.
constexpr char kSymbols[] = {'{', '}', '[', ']', '"', ',',  ':',  '<', '>', '/', '&',  ';',
                             '%', '+', '-', '.', ' ', '\n', '\\', '0', '9', 'a', '\0', '\xff'};

}  // namespace

Mutator::Mutator(const std::vector<Bytes>& seeds, uint64_t number, size_t bytes_max)
    : seeds_(seeds), bytes_max_(bytes_max), state_(number) {}

// SplitMix64.
uint64_t Mutator::Random() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

size_t Mutator::Below(size_t limit) { return limit == 0 ? 0 : Random() % limit; }

Bytes Mutator::Next() {
  Bytes bytes = seeds_[Below(seeds_.size())];
  for (size_t changes = 1 + Below(4); changes > 0; --changes) Change(bytes);
  if (bytes.size() > bytes_max_) bytes.resize(bytes_max_);
  return bytes;
}

void Mutator::Change(Bytes& bytes) {
  if (bytes.empty()) bytes.push_back(0);
  const size_t at = Below(bytes.size());
  const auto here = bytes.begin() + static_cast<ptrdiff_t>(at);
  const auto some = static_cast<ptrdiff_t>(1 + Below(std::min<size_t>(bytes.size() - at, 32)));
  switch (Below(10)) {
    case 0:
    case 1:
      bytes[at] ^= static_cast<uint8_t>(1u << Below(8));
      break;
    case 2:
      bytes[at] = static_cast<uint8_t>(Random());
      break;
    case 3:
      bytes[at] = static_cast<uint8_t>(kSymbols[Below(sizeof kSymbols)]);
      break;
    case 4:
      OverwriteNumber(bytes);
      break;
    case 5:
      bytes.erase(here, here + std::min(some, bytes.end() - here));
      break;
    case 6:
      bytes.resize(at);
      break;
    case 7: {
      const Bytes piece(here, here + std::min(some, bytes.end() - here));
      const auto to = bytes.begin() + static_cast<ptrdiff_t>(Below(bytes.size() + 1));
      bytes.insert(to, piece.begin(), piece.end());
      break;
    }
    case 8:
      bytes.insert(here, static_cast<size_t>(some), static_cast<uint8_t>(Random()));
      break;
    default:
      Splice(bytes);
      break;
  }
}

void Mutator::OverwriteNumber(Bytes& bytes) {
  uint64_t number = kNumbers[Below(std::size(kNumbers))];
  if (Below(4) == 0) number += Below(5) - 2;
  const size_t width = size_t{1} << Below(4);
  if (width > bytes.size()) return;
  std::memcpy(bytes.data() + Below(bytes.size() - width + 1), &number, width);
}

void Mutator::Splice(Bytes& bytes) {
  const Bytes& other = seeds_[Below(seeds_.size())];
  const size_t from = Below(other.size());
  bytes.resize(Below(bytes.size() + 1));
  bytes.insert(bytes.end(), other.begin() + static_cast<ptrdiff_t>(from), other.end());
}

}  // namespace lakestream::fuzz

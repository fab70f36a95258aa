// The example's only source of chance: SplitMix64, keyed by (seed, kind, purpose, index).
//
// Everything that a producer draws (order of an epoch, crop, clip, length of a text segment) comes
// from here, so that item k has the same identity in every process, after every restart, and in the
// checker (expected.py has the same thirty lines in Python).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace multimodal {

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t state) : state_(state) {}

  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // Uniform in [0, limit), 1 <= limit <= 2^32: the upper 32 bits, scaled.
  uint64_t Below(uint64_t limit) { return ((Next() >> 32) * limit) >> 32; }

 private:
  uint64_t state_;
};

// What a stream of random numbers is for. The numbers are part of the items' identity.
enum class Purpose : uint64_t { kEpochOrder = 1, kItem = 2, kSegments = 3 };

inline uint64_t MixKey(uint64_t hash, uint64_t value) { return SplitMix64(hash ^ value).Next(); }

// The stream for one purpose and index. `kind` is 0 for what no kind owns.
inline SplitMix64 KeyedStream(uint64_t seed, uint64_t kind, Purpose purpose, uint64_t index) {
  uint64_t key = MixKey(seed, kind);
  key = MixKey(key, static_cast<uint64_t>(purpose));
  return SplitMix64(MixKey(key, index));
}

// The order in which an epoch visits `count` sources (Fisher-Yates from the end).
inline std::vector<uint32_t> EpochOrder(uint64_t seed, uint64_t kind, uint64_t epoch,
                                        uint32_t count) {
  std::vector<uint32_t> order(count);
  for (uint32_t i = 0; i < count; ++i) order[i] = i;
  SplitMix64 random = KeyedStream(seed, kind, Purpose::kEpochOrder, epoch);
  for (uint32_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  return order;
}

}  // namespace multimodal

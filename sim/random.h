// Random: the seeded source of every choice of a simulated run.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace lakestream::sim {

// SplitMix64: tiny, fast, and any seed is a good seed. Confined to one thread.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // An independent stream of the same run, so that one more draw in one part leaves others alone.
  Random(uint64_t seed, std::string_view stream) : state_(seed) {
    for (char c : stream) state_ = Mix(state_ ^ static_cast<uint8_t>(c));
  }

  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15ull); }
  // Uniform in [0, bound); 0 if the bound is 0.
  uint64_t Below(uint64_t bound) { return bound == 0 ? 0 : Next() % bound; }
  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
  }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  bool Chance(double probability) { return probability > 0 && Unit() < probability; }
  // Between low and high, each order of magnitude as likely as the next.
  double LogUniform(double low, double high) { return low * std::pow(high / low, Unit()); }
  double Lognormal(double median, double sigma) {
    const double radius = std::sqrt(-2 * std::log(1 - Unit()));
    return median * std::exp(sigma * radius * std::cos(2 * M_PI * Unit()));
  }

  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace lakestream::sim

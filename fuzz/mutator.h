// Deterministic mutations, for the short run without libFuzzer.
#pragma once

#include <cstdint>
#include <vector>

#include "fuzz/target.h"

namespace lakestream::fuzz {

// Same seeds, same number: same sequence of inputs on every machine. Not thread-safe.
class Mutator {
 public:
  // `seeds` are borrowed and must not be empty. Inputs stay within `bytes_max`.
  Mutator(const std::vector<Bytes>& seeds, uint64_t number, size_t bytes_max = 64 << 10);

  // Some seed with one to four changes: bits, bytes, numbers, pieces moved, cut, doubled, or taken
  // from another seed.
  Bytes Next();

 private:
  uint64_t Random();
  size_t Below(size_t limit);  // 0 if limit is 0
  void Change(Bytes& bytes);
  void OverwriteNumber(Bytes& bytes);
  void Splice(Bytes& bytes);

  const std::vector<Bytes>& seeds_;
  const size_t bytes_max_;
  uint64_t state_;
};

}  // namespace lakestream::fuzz

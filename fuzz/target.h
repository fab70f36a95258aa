// Fuzz targets: functions that feed bytes to a parser and check what comes out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lakestream/types.h"

namespace lakestream::fuzz {

using Bytes = std::vector<uint8_t>;

// One parser, or a few that read the same text. `run` must return for every input; it traps if a
// parser's promise is broken. `seeds` are valid inputs, and hostile ones that mutation alone would
// hardly find.
struct Target {
  std::string_view name;
  void (*run)(ConstBytes input);
  std::vector<Bytes> (*seeds)();
  // Mutations in the short run; fewer where an input costs more.
  int mutations = 25000;
};

std::span<const Target> TgbTargets();
std::span<const Target> ManifestTargets();
std::span<const Target> S3Targets();
// All of them.
std::vector<Target> AllTargets();
// The target of that name; traps if there is none.
Target FindTarget(std::string_view name);

// Reports a broken promise, in a way that libFuzzer and gtest both see.
inline void Require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace lakestream::fuzz

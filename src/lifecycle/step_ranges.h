// Ranges of steps that somebody needs, and what the others take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "manifest/state.h"

namespace lakestream {

struct StepRange {
  Step first = 0;
  Step end = UINT64_MAX;
  bool Meets(Step from, Step to) const { return from < end && to > first; }
};
using StepRanges = std::vector<StepRange>;  // in any order; may overlap

inline bool Meets(const StepRanges& ranges, Step from, Step to) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const StepRange& range) { return range.Meets(from, to); });
}

// How many steps of [from, to) lie in none of `ranges`.
inline uint64_t CountOutside(StepRanges ranges, Step from, Step to) {
  std::sort(ranges.begin(), ranges.end(),
            [](const StepRange& a, const StepRange& b) { return a.first < b.first; });
  uint64_t outside = 0;
  for (const StepRange& range : ranges) {
    if (range.first > from) outside += std::min(range.first, to) - std::min(from, to);
    from = std::max(from, range.end);
  }
  return outside + (to > from ? to - from : 0);
}

// Stored bytes of a step of the branch, on average.
inline uint64_t MeanStepBytes(const StreamInfo& info, const State& state) {
  const uint64_t own_steps = state.next_step - info.branch.fork_step;
  return own_steps == 0 ? 0 : state.slice_bytes / own_steps;
}

}  // namespace lakestream

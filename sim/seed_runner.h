// Plays many seeds, each in its own memory: seeds run in forked children, a few dozen to a child,
// so that what simulated crashes leak is gone with the child, and a defect that kills or hangs the
// process costs one seed and is reported like any other failure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/world.h"

namespace lakestream::sim {

// The same numbers as RunResult, without what has no fixed size.
struct SeedReport {
  uint64_t seed = 0;
  uint64_t event_hash = 0;
  bool failed = false;
  std::string checker;  // of the first violation; "crash" or "hang" if the process died of it
  std::string report;
  RunResult numbers;  // without violations and report
};

struct SeedPlan {
  uint64_t first = 1;
  uint64_t count = 1;
  RunSize size = RunSize::kSmall;
  uint32_t seeds_per_child = 32;
  double seconds_per_seed_max = 120;  // real time; then it counts as a hang
  // Stop after this many failed seeds.
  uint64_t failures_max = UINT64_MAX;
  std::function<bool()> stop;  // asked between seeds; may be null
};

// Calls `on_seed` for each seed, in order. Not thread-safe; the process must have no other threads.
void RunSeeds(const SeedPlan& plan, const std::function<void(const SeedReport&)>& on_seed);
// One seed in a child, with its readable history.
SeedReport ReplaySeed(uint64_t seed, RunSize size);

// Sums over many seeds, for people.
struct Totals {
  uint64_t seeds = 0;
  uint64_t failed = 0;
  uint64_t weak = 0;  // below 20 steps, or without any fault: they prove little
  RunResult sum;
  void Add(const SeedReport& report);
  // Figures and the table of faults by operation.
  std::string ToText() const;
};

}  // namespace lakestream::sim

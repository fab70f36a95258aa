// RunOptions: everything about a run, drawn from its seed ("swarm": in each run some faults are off
// entirely and others are wild, so that rare mixtures come up).
#pragma once

#include <cstdint>
#include <string>

#include "lakestream/types.h"
#include "sim/items.h"
#include "sim/store_profile.h"

namespace lakestream::sim {

enum class RunSize { kSmall, kLarge };

struct RunOptions {
  uint64_t seed = 0;
  // The stream and its load.
  Mesh mesh;
  uint32_t producers = 2;
  bool declared = true;  // the stream seals itself; else an operator seals it
  uint64_t items_each = 10;
  uint32_t snapshot_interval = 8;
  uint32_t index_page_steps = 16;
  int zstd_level = 0;
  ItemLaw items;
  // The actors.
  uint32_t readers = 2;  // ranks, by SliceIndex
  Time commit_interval = 200 * kMillisecond;
  uint64_t pending_bytes_max = 1 << 20;
  uint64_t object_bytes_target = 1 << 20;
  uint32_t uploads_max = 4;
  uint32_t prefetch_steps = 4;
  uint64_t prefetch_bytes = 1 << 20;
  uint32_t fetches_max = 4;
  Time poll_min = 20 * kMillisecond;
  Time think_max = 300 * kMillisecond;  // between two items of a producer
  double flush_chance = 0.2;
  bool short_deadlines = false;      // some calls give up early and are called again
  bool create_in_the_storm = false;  // all actors race to create the stream, with faults
  // Lifecycle: jobs that read as attached runs, an operator who makes checkpoints, trims and
  // branches, and reclaimers.
  bool lifecycle = false;
  uint32_t jobs = 0;  // in place of plain readers on main
  Time reclaim_grace = kMinute;
  uint32_t reclaimers = 1;
  Time operator_rest_max = 5 * kSecond;
  uint32_t branches_max = 0;
  uint64_t branch_items_each = 4;
  Time fence_after = 10 * kMinute;
  Time abandon_after = 10 * kMinute;
  Time detach_after = 10 * kMinute;
  uint64_t ahead_steps_max = 0;
  double embedded_reclaim_chance = 0;
  double job_restart_chance = 0;  // of a look
  // What goes wrong, until `heal_at`.
  Time heal_at = 60 * kSecond;
  StoreProfile profile;
  FaultRates faults;
  Time late_max = 5 * kMinute;
  uint64_t first_crash = 0;  // producer 0 dies after so many seams, until any process has died
  double crash_chance = 0;   // of each incarnation
  double pause_chance = 0;
  double twin_chance = 0;  // a second incarnation starts while the first one lives
  double seams_to_crash_max = 1000;
  Time pause_max = 5 * kMinute;
  double nap_chance = 0;
  bool spoil_hints = false;  // an operator deletes and garbles the head hint
  Time wall_skew_max_ms = 0;
  bool wall_jumps = false;  // clocks of processes jump by as much

  bool Calm() const;  // nothing goes wrong at all
  std::string ToText() const;
};

RunOptions DrawOptions(uint64_t seed, RunSize size);

}  // namespace lakestream::sim

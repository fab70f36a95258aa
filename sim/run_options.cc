#include "sim/run_options.h"

#include <algorithm>

#include "base/text.h"
#include "sim/random.h"

namespace lakestream::sim {
namespace {

constexpr uint64_t kStepsMin = 20;

void DrawLoad(Random& random, RunSize size, RunOptions& options) {
  const bool large = size == RunSize::kLarge;
  options.mesh.dp = static_cast<uint32_t>(random.Between(1, large ? 4 : 2));
  options.mesh.cp = static_cast<uint32_t>(random.Between(1, 2));
  options.producers = static_cast<uint32_t>(large ? random.Between(8, 40) : random.Between(1, 4));
  options.items_each =
      static_cast<uint64_t>(large ? random.Between(10, 60) : random.Between(8, 24));
  while (options.producers * options.items_each < kStepsMin) ++options.items_each;
  options.declared = random.Chance(0.75);
  options.snapshot_interval = static_cast<uint32_t>(random.LogUniform(2, large ? 64 : 17));
  options.index_page_steps = static_cast<uint32_t>(random.LogUniform(2, large ? 128 : 33));
  options.zstd_level = random.Chance(0.2) ? 1 : 0;
  options.items.seed = random.Next();
  options.items.payload_bytes_max = static_cast<uint64_t>(random.LogUniform(8, 1000));
  options.items.state_bytes_max = random.Chance(0.3) ? 2500 : 30;
  const uint32_t ranks = options.mesh.slice_count();
  options.readers = random.Chance(0.3) ? ranks : std::min<uint32_t>(ranks, 2);
}

void DrawActors(Random& random, RunOptions& options) {
  options.commit_interval = static_cast<Time>(random.LogUniform(10e6, 1e9));
  options.pending_bytes_max = static_cast<uint64_t>(random.LogUniform(2e3, 1e6));
  options.object_bytes_target = static_cast<uint64_t>(random.LogUniform(500, 1e5));
  options.uploads_max = static_cast<uint32_t>(random.Between(1, 4));
  options.prefetch_steps = static_cast<uint32_t>(random.Between(1, 16));
  options.prefetch_bytes = static_cast<uint64_t>(random.LogUniform(500, 1e6));
  options.fetches_max = static_cast<uint32_t>(random.Between(1, 4));
  options.poll_min = static_cast<Time>(random.LogUniform(5e6, 200e6));
  options.think_max = static_cast<Time>(random.LogUniform(1e6, 1e9));
  options.flush_chance = random.Chance(0.5) ? random.Unit() * 0.5 : 0;
  options.short_deadlines = random.Chance(0.3);
  options.create_in_the_storm = random.Chance(0.1);
}

void DrawLifecycle(Random& random, RunSize size, RunOptions& options) {
  options.lifecycle = random.Chance(0.6);
  if (!options.lifecycle) return;
  const bool large = size == RunSize::kLarge;
  options.jobs = static_cast<uint32_t>(random.Between(0, 2));
  options.reclaim_grace = static_cast<Time>(random.LogUniform(1e9, 60e9));
  options.reclaimers = static_cast<uint32_t>(random.Between(1, large ? 6 : 3));
  options.operator_rest_max = static_cast<Time>(random.LogUniform(0.5e9, 10e9));
  options.branches_max = random.Chance(0.4) ? static_cast<uint32_t>(random.Between(1, 2)) : 0;
  options.branch_items_each = static_cast<uint64_t>(random.Between(2, 6));
  options.fence_after = static_cast<Time>(random.LogUniform(10e9, 600e9));
  options.abandon_after = static_cast<Time>(random.LogUniform(10e9, 600e9));
  options.detach_after = static_cast<Time>(random.LogUniform(20e9, 600e9));
  if (options.jobs > 0 && random.Chance(0.3)) {
    options.ahead_steps_max = static_cast<uint64_t>(random.LogUniform(1, 40));
  }
  if (random.Chance(0.3)) options.embedded_reclaim_chance = random.Unit();
  if (random.Chance(0.4)) options.job_restart_chance = random.LogUniform(0.001, 0.05);
}

void DrawStore(Random& random, RunOptions& options) {
  static constexpr const char* kProfiles[] = {"s3",  "express", "gcs",     "r2",   "azure",
                                              "rgw", "409",     "lagging", "local"};
  options.profile = ProfileNamed(kProfiles[random.Below(std::size(kProfiles))]);
  options.profile.client_retries = static_cast<uint32_t>(random.Between(0, 4));
  options.profile.client_timeout = static_cast<Time>(random.LogUniform(0.3e9, 20e9));
  if (random.Chance(0.15)) {
    options.profile.single_put_bytes_max = static_cast<uint64_t>(random.LogUniform(600, 4000));
    options.profile.upload_part_bytes_min = 256;
  }
  options.late_max = static_cast<Time>(random.LogUniform(0.1e9, 300e9));
  const double wildness = random.LogUniform(0.02, 1);
  for (int i = 1; i < kFaults; ++i) {
    if (random.Chance(0.5)) continue;
    options.faults.rate[static_cast<size_t>(i)] = wildness * random.LogUniform(0.005, 0.3);
  }
  // Corrupt twice in a row is data loss by contract: keep it possible, but rare.
  double& corrupt = options.faults[Fault::kCorruptRead];
  corrupt = std::min(corrupt, 0.02);
}

void DrawTrouble(Random& random, RunOptions& options) {
  options.heal_at = static_cast<Time>(random.LogUniform(5e9, 120e9));
  if (random.Chance(0.7)) options.crash_chance = random.LogUniform(0.1, 0.95);
  if (random.Chance(0.3)) options.pause_chance = random.LogUniform(0.05, 0.6);
  if (random.Chance(0.4)) options.twin_chance = random.LogUniform(0.05, 0.6);
  options.seams_to_crash_max = random.LogUniform(20, 2000);
  options.pause_max = static_cast<Time>(random.LogUniform(0.2e9, 300e9));
  if (random.Chance(0.3)) options.nap_chance = random.LogUniform(0.001, 0.2);
  options.spoil_hints = random.Chance(0.2);
  if (random.Chance(0.3)) options.wall_skew_max_ms = static_cast<Time>(random.LogUniform(1, 3e8));
  options.wall_jumps = options.wall_skew_max_ms > 0 && random.Chance(0.5);
}

}  // namespace

bool RunOptions::Calm() const {
  const bool faults_off =
      std::all_of(faults.rate.begin(), faults.rate.end(), [](double rate) { return rate == 0; });
  return faults_off && crash_chance == 0 && pause_chance == 0 && twin_chance == 0 && !spoil_hints;
}

RunOptions DrawOptions(uint64_t seed, RunSize size) {
  Random random(seed, "options");
  RunOptions options;
  options.seed = seed;
  DrawLoad(random, size, options);
  DrawActors(random, options);
  DrawLifecycle(random, size, options);
  DrawStore(random, options);
  DrawTrouble(random, options);
  if (random.Chance(0.04)) {  // a calm run: costs are asserted in it
    options.faults = FaultRates();
    options.crash_chance = options.pause_chance = options.twin_chance = 0;
    options.spoil_hints = false;
  }
  // Whatever else: one process dies, early enough to have work left.
  options.first_crash = static_cast<uint64_t>(random.LogUniform(1, 25));
  return options;
}

namespace {

std::string LifecycleText(const RunOptions& options) {
  if (!options.lifecycle) return "";
  return Str("\n  lifecycle: ", options.jobs, " jobs, grace ", TimeText(options.reclaim_grace),
             ", ", options.reclaimers,
             " reclaimers, operator rests <= ", TimeText(options.operator_rest_max),
             ", branches <= ", options.branches_max, " x ", options.branch_items_each,
             " items, fence after ", TimeText(options.fence_after), ", abandon after ",
             TimeText(options.abandon_after), ", detach after ", TimeText(options.detach_after),
             ", ahead <= ", options.ahead_steps_max, ", embedded reclamation ",
             options.embedded_reclaim_chance, ", job restarts ", options.job_restart_chance);
}

}  // namespace

std::string RunOptions::ToText() const {
  std::string text =
      Str("seed ", seed, ": ", producers, " producers x ", items_each, " items",
          declared ? " (declared)" : "", ", mesh ", mesh.dp, "x", mesh.cp, ", ", readers,
          " readers, K ", snapshot_interval, ", P ", index_page_steps, ", zstd ", zstd_level,
          ", payload <= ", items.payload_bytes_max, ", state <= ", items.state_bytes_max,
          "\n  commit each ", TimeText(commit_interval), ", pending <= ", pending_bytes_max,
          ", object ~ ", object_bytes_target, ", uploads ", uploads_max, ", prefetch ",
          prefetch_steps, " steps / ", prefetch_bytes, " B, fetches ", fetches_max, ", poll ",
          TimeText(poll_min), ", think <= ", TimeText(think_max), ", flush ", flush_chance,
          short_deadlines ? ", short deadlines" : "",
          create_in_the_storm ? ", created in the storm" : "", LifecycleText(*this), "\n  store ",
          profile.name, ", client time-out ", TimeText(profile.client_timeout), ", retries ",
          profile.client_retries, ", single put <= ", profile.single_put_bytes_max,
          ", late <= ", TimeText(late_max), "\n  faults until ", TimeText(heal_at), ":");
  for (int i = 1; i < kFaults; ++i) {
    const Fault fault = static_cast<Fault>(i);
    if (faults[fault] > 0) text += Str(" ", FaultName(fault), " ", faults[fault]);
  }
  if (crash_chance > 0) {
    text += Str(" crash ", crash_chance, " within ", seams_to_crash_max, " seams");
  }
  if (pause_chance > 0) text += Str(" pause ", pause_chance, " <= ", TimeText(pause_max));
  if (twin_chance > 0) text += Str(" twin ", twin_chance);
  if (nap_chance > 0) text += Str(" nap ", nap_chance);
  if (spoil_hints) text += " spoiled hints";
  if (wall_skew_max_ms > 0) text += Str(" wall skew <= ", wall_skew_max_ms, " ms");
  return text + "\n";
}

}  // namespace lakestream::sim

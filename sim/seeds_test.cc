// A fixed budget of seeds, and that a seed says it all.
#include <gtest/gtest.h>

#include <map>

#include "sim/seed_runner.h"

namespace lakestream::sim {
namespace {

TEST(SeedsTest, ManySmallRunsKeepEveryInvariant) {
  Totals totals;
  SeedPlan plan{.first = 1, .count = 2000};
  plan.failures_max = 3;
  RunSeeds(plan, [&](const SeedReport& report) {
    totals.Add(report);
    EXPECT_FALSE(report.failed) << "seed " << report.seed << ": " << report.checker << "\n"
                                << report.report;
  });
  EXPECT_EQ(totals.seeds, plan.count);
  // The storm must have been one: each fault struck each operation that it can strike.
  for (int f = 1; f < kFaults; ++f) {
    for (int op = 0; op < kStoreOps; ++op) {
      if (!Applies(static_cast<Fault>(f), static_cast<StoreOp>(op))) continue;
      EXPECT_GT(totals.sum.coverage[static_cast<size_t>(f)][static_cast<size_t>(op)], 0u)
          << FaultName(static_cast<Fault>(f)) << " x " << StoreOpName(static_cast<StoreOp>(op));
    }
  }
  EXPECT_GT(totals.sum.crashes, 1000u);
  EXPECT_GT(totals.sum.twins, 100u);
  EXPECT_EQ(totals.weak, 0u);
  EXPECT_GT(totals.sum.branches, 100u);
  EXPECT_GT(totals.sum.trims, 500u);
  EXPECT_GT(totals.sum.removed, 10000u);
}

TEST(SeedsTest, SomeLargeRunsKeepEveryInvariant) {
  RunSeeds({.first = 1, .count = 10, .size = RunSize::kLarge}, [&](const SeedReport& report) {
    EXPECT_FALSE(report.failed) << "seed " << report.seed << ": " << report.checker << "\n"
                                << report.report;
  });
}

// H59. The children have other histories of memory, so an order that depends on addresses shows.
TEST(SeedsTest, SameSeedGivesTheSameEventHash) {
  std::map<uint64_t, uint64_t> hashes;
  RunSeeds({.first = 500, .count = 60, .seeds_per_child = 60},
           [&](const SeedReport& report) { hashes[report.seed] = report.event_hash; });
  RunSeeds({.first = 500, .count = 60, .seeds_per_child = 7}, [&](const SeedReport& report) {
    EXPECT_EQ(hashes[report.seed], report.event_hash) << "seed " << report.seed;
  });
  for (uint64_t seed = 500; seed < 510; ++seed) {
    EXPECT_EQ(ReplaySeed(seed, RunSize::kSmall).event_hash, hashes[seed]) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lakestream::sim

#include "pacing/interval_pace.h"

#include <gtest/gtest.h>

namespace lakestream {
namespace {

using std::chrono::milliseconds;

const TimePoint kStart{std::chrono::hours(1)};

TEST(IntervalPaceTest, TheFirstAttemptIsDueAtOnce) {
  IntervalPace pace(milliseconds(200));
  EXPECT_LT(pace.due(), kStart);
}

TEST(IntervalPaceTest, ACommitIsFollowedByAJitteredInterval) {
  IntervalPace pace(milliseconds(200));
  pace.OnCommitted(kStart, 0.0);
  EXPECT_EQ(pace.due(), kStart + milliseconds(150));
  pace.OnCommitted(kStart, 0.5);
  EXPECT_EQ(pace.due(), kStart + milliseconds(200));
}

TEST(IntervalPaceTest, PausesAfterLossesGrowUpToTheInterval) {
  IntervalPace pace(milliseconds(200));
  Duration last{};
  for (int i = 0; i < 40; ++i) {
    pace.OnLost(kStart, 0.999);
    const Duration pause = pace.due() - kStart;
    EXPECT_GE(pause, last);
    EXPECT_LE(pause, milliseconds(200));
    last = pause;
  }
  EXPECT_GT(last, milliseconds(190));
  pace.OnCommitted(kStart, 0.5);
  pace.OnLost(kStart, 0.999);
  EXPECT_LE(pace.due() - kStart, milliseconds(20));
}

}  // namespace
}  // namespace lakestream

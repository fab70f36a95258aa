// What a client may believe of slots that reclamation has passed: protocol.md, "Deleted slots
// forget".
#include <gtest/gtest.h>

#include "ledger/ledger_writer.h"
#include "manifest/keys.h"
#include "stream/ledger_context.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::TinyStream;

constexpr StreamSpec kSmall{.mesh = {1, 1},
                            .snapshot_interval = 4,
                            .index_page_steps = 4,
                            .reclaim_grace = std::chrono::milliseconds(1000)};

// Opens a session of `name` that replaces the current one: a commit that can be made again and
// again.
Committer::Planner OpenAgain(const std::string& name) {
  return [name](const State& state) -> Result<std::vector<Change>> {
    const auto row = state.rows.find(name);
    return std::vector<Change>{OpenChange{name, row == state.rows.end() ? 0 : row->second.session}};
  };
}

class BoundaryTest : public testing::Test {
 protected:
  void Commit(LedgerWriter& writer, int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(writer.Commit(OpenAgain("a"), tiny_.Soon()).ok());
  }
  // As a reclaimer does it: the boundary first, then the records that it releases.
  void Reclaim(Version snapshot) {
    const Boundary boundary{.decided_at = snapshot, .snapshot = snapshot};
    ASSERT_TRUE(PutBytes(*tiny_.faults, BoundaryKey("main"),
                         EncodeBoundary(tiny_.stream->info(), boundary), {}, tiny_.Soon())
                    .ok());
    std::vector<std::string> keys;
    for (Version v = 1; v <= snapshot; ++v) keys.push_back(LogKey("main", v));
    ASSERT_TRUE(tiny_.faults->Delete(keys, tiny_.Soon()).ok());
  }
  void Pause() {
    tiny_.runtime->SleepUntil(tiny_.runtime->Now() + std::chrono::milliseconds(1100));
  }

  TinyStream tiny_{{}, kSmall};
};

TEST_F(BoundaryTest, H21_AWriterPausedPastTheBoundaryIsNotAcknowledgedAndGoesOn) {
  LedgerWriter active(ContextOf(*tiny_.stream));
  LedgerWriter paused(ContextOf(*tiny_.stream));
  ASSERT_TRUE(active.Start(tiny_.Soon()).ok());
  Commit(active, 2);
  ASSERT_TRUE(paused.Start(tiny_.Soon()).ok());  // at version 2
  Commit(active, 10);
  Reclaim(8);
  Pause();
  // Its put of slot 3 succeeds, since the name is free again; that must not count.
  ASSERT_TRUE(paused.Commit(OpenAgain("b"), tiny_.Soon()).ok());
  EXPECT_EQ(paused.state().version, 13u);
  EXPECT_EQ(paused.state().rows.at("b").session, 13u);
  EXPECT_EQ(tiny_.HeadState(), paused.state());
}

TEST_F(BoundaryTest, AReaderPausedPastTheBoundaryDoesNotBelieveARecordThatReappeared) {
  LedgerWriter active(ContextOf(*tiny_.stream));
  ASSERT_TRUE(active.Start(tiny_.Soon()).ok());
  Commit(active, 2);
  Follower paused(ContextOf(*tiny_.stream));
  ASSERT_TRUE(paused.Start(tiny_.Soon()).ok());
  // A record that would follow version 2, made by a writer that is paused as well.
  CommitId id{};
  const auto zombie = EncodeRecord(
      MakeRecord(tiny_.stream->info(), paused.state(), {OpenChange{"zombie", 0}}, id, 0));
  Commit(active, 10);
  Reclaim(8);
  ASSERT_TRUE(PutBytes(*tiny_.faults, LogKey("main", 3), zombie, {.if_absent = true}, tiny_.Soon())
                  .value()
                  .stored);
  Pause();
  ASSERT_TRUE(paused.CatchUp(tiny_.Soon()).ok());
  EXPECT_EQ(paused.state(), active.state());
  EXPECT_FALSE(paused.state().rows.contains("zombie"));
}

TEST_F(BoundaryTest, AReaderAtAnEmptySlotThatWasReclaimedFindsTheHead) {
  LedgerWriter active(ContextOf(*tiny_.stream));
  ASSERT_TRUE(active.Start(tiny_.Soon()).ok());
  Commit(active, 2);
  Follower paused(ContextOf(*tiny_.stream));
  ASSERT_TRUE(paused.Start(tiny_.Soon()).ok());
  Commit(active, 10);
  Reclaim(8);
  Pause();
  ASSERT_TRUE(paused.CatchUp(tiny_.Soon()).ok());
  EXPECT_EQ(paused.state(), active.state());
}

TEST_F(BoundaryTest, AColdStartNeedsNothingBelowTheBoundary) {
  LedgerWriter active(ContextOf(*tiny_.stream));
  ASSERT_TRUE(active.Start(tiny_.Soon()).ok());
  Commit(active, 12);
  Reclaim(8);
  const std::vector<std::string> rest = {SnapshotKey("main", 4), HeadKey("main")};
  ASSERT_TRUE(tiny_.faults->Delete(rest, tiny_.Soon()).ok());
  EXPECT_EQ(tiny_.HeadState(), active.state());
}

TEST_F(BoundaryTest, ALostSnapshotBehindTheBoundaryIsReported) {
  LedgerWriter active(ContextOf(*tiny_.stream));
  ASSERT_TRUE(active.Start(tiny_.Soon()).ok());
  Commit(active, 9);
  Reclaim(8);
  const std::vector<std::string> snapshot = {SnapshotKey("main", 8)};
  ASSERT_TRUE(tiny_.faults->Delete(snapshot, tiny_.Soon()).ok());
  Follower reader(ContextOf(*tiny_.stream));
  const Status started = reader.Start(tiny_.Soon());
  EXPECT_EQ(started.code(), Code::kDataLoss);
  EXPECT_NE(started.message().find(SnapshotKey("main", 8)), std::string::npos);
}

}  // namespace
}  // namespace lakestream

// The retention checkers must accept a good history and reject a bad one of each kind.
#include "sim/checkers/retention.h"

#include <gtest/gtest.h>

#include "manifest/keys.h"
#include "manifest/state.h"

namespace lakestream::sim {
namespace {

// Three objects of two steps each, on main. Steps below 2 are trimmed at 10 s; the boundary says so
// at 11 s; the first object, its page and record 1 go at 22 s. A branch forked at step 4, at 5 s.
class RetentionTest : public testing::Test {
 protected:
  RetentionTest() {
    info_.uuid = std::string(32, 'a');
    info_.spec.reclaim_grace = std::chrono::seconds(10);
    info_.spec.index_page_steps = 2;
    info_.spec.snapshot_interval = 2;
    main_.records.resize(6);
    for (size_t i = 0; i < main_.records.size(); ++i) {
      ViewRecord& record = main_.records[i];
      record.version = i + 1;
      record.applied_at = static_cast<Time>(i + 1) * kSecond;
      Put(LogKey("main", record.version), record.applied_at);
    }
    main_.records[0].opens = {{"producer-0", 1, 0}};
    for (uint32_t object = 0; object < 3; ++object) {
      ViewEntry entry;
      entry.session = 1;
      entry.object = object;
      entry.tgbs = 2;
      entry.first_step = 2 * object;
      main_.records[object + 1].entries = {entry};
      Put(DataKey("main", 1, object), kSecond);
      Put(IndexKey("main", object), (object + 2) * kSecond);
    }
    const Step ends[] = {0, 2, 4, 6, 6, 6};
    for (size_t i = 0; i < 6; ++i) main_.records[i].next_step = ends[i];
    main_.records[4].lifecycle = {ForkChange{"side", 4}};
    main_.records[5].applied_at = 10 * kSecond;
    main_.records[5].lifecycle = {TrimChange{2}};
    main_.records[5].seals = true;
    side_.branch = "side";
    side_.fork_step = 4;
    Put(SnapshotKey("main", 2), 3 * kSecond);
    boundary_ = {.decided_at = 6, .snapshot = 2, .first_step = 2};
    Put(BoundaryKey("main"), 11 * kSecond, EncodeBoundary(info_, boundary_));
    for (const std::string& key :
         {DataKey("main", 1, 0), IndexKey("main", 0), LogKey("main", 1), LogKey("main", 2)}) {
      Remove(key, 22 * kSecond);
    }
    // The branch needs what the parent had when it was forked, unless it trims that itself.
    ViewRecord trim;
    trim.version = 1;
    trim.applied_at = 9 * kSecond;
    trim.first_step = trim.next_step = 4;
    trim.lifecycle = {TrimChange{2}};
    side_.records = {trim};
    Put(LogKey("side", 1), 9 * kSecond);
  }

  void Put(const std::string& key, Time at, std::vector<uint8_t> bytes = {}) {
    archive_[key].push_back({Buffer::FromVector(std::move(bytes)), at});
  }
  void Remove(const std::string& key, Time at) { archive_.at(key).back().gone = at; }

  std::vector<Violation> Judge(bool settled = true) {
    const std::vector<LineEvidence> lines = {{"", 0, 0, main_, history_},
                                             {"main", 5 * kSecond, 0, side_, history_}};
    const RetentionEvidence evidence{lines, archive_, info_, uploads_, 30 * kSecond, settled};
    std::vector<Violation> all = CheckNothingLost(evidence);
    for (Violation& violation : CheckNothingUseless(evidence)) all.push_back(std::move(violation));
    return all;
  }
  void ExpectCaught(const std::string& checker) {
    const auto violations = Judge();
    ASSERT_FALSE(violations.empty());
    EXPECT_EQ(violations[0].checker, checker) << violations[0].detail;
  }

  StreamInfo info_;
  LogView main_;
  LogView side_;
  History history_;
  Archive archive_;
  Boundary boundary_;
  std::vector<std::pair<std::string, Time>> uploads_;
};

TEST_F(RetentionTest, AGoodHistoryPasses) {
  for (const Violation& violation : Judge()) {
    ADD_FAILURE() << violation.checker << ": " << violation.detail;
  }
}

TEST_F(RetentionTest, RemovingNeededDataIsCaught) {
  Remove(DataKey("main", 1, 1), 22 * kSecond);
  ExpectCaught("nothing_lost");
}

TEST_F(RetentionTest, RemovingWithinTheGraceIsCaught) {
  Remove(DataKey("main", 1, 0), 15 * kSecond);
  ExpectCaught("nothing_lost");
}

TEST_F(RetentionTest, RemovingWhatABranchSharesIsCaught) {
  side_.records[0].lifecycle.clear();
  ExpectCaught("nothing_lost");
}

TEST_F(RetentionTest, RemovingARecordAboveTheBoundaryIsCaught) {
  Remove(LogKey("main", 3), 25 * kSecond);
  ExpectCaught("nothing_lost");
}

TEST_F(RetentionTest, RemovingTheBoundarysSnapshotIsCaught) {
  Remove(SnapshotKey("main", 2), 25 * kSecond);
  ExpectCaught("nothing_lost");
}

TEST_F(RetentionTest, RemovingAPageThatIsReadIsCaught) {
  Remove(IndexKey("main", 1), 25 * kSecond);
  ExpectCaught("nothing_lost");
}

TEST_F(RetentionTest, RemovingAnUnpublishedObjectOfACurrentSessionIsCaught) {
  main_.records[5].seals = false;
  Put(DataKey("main", 1, 9), 3 * kSecond);
  Remove(DataKey("main", 1, 9), 4 * kSecond);
  ExpectCaught("nothing_lost");
}

TEST_F(RetentionTest, RemovingTheNewestProducerStateIsCaught) {
  main_.records[3].entries[0].state_in_object = true;
  main_.records[5].lifecycle = {TrimChange{6}};
  side_.records[0].lifecycle = {TrimChange{4}};
  boundary_.first_step = 6;
  archive_[BoundaryKey("main")].clear();
  Put(BoundaryKey("main"), 11 * kSecond, EncodeBoundary(info_, boundary_));
  for (uint32_t object : {1u, 2u}) {
    Remove(DataKey("main", 1, object), 25 * kSecond);
    Remove(IndexKey("main", object), 25 * kSecond);
  }
  ExpectCaught("nothing_lost");
}

TEST_F(RetentionTest, ATrimPastACheckpointOrARunIsCaught) {
  main_.records[4].lifecycle.push_back(BeginCheckpointChange{.name = "ck", .step = 1});
  ExpectCaught("nothing_lost");
  main_.records[4].lifecycle.back() = AttachChange{"job", "run", 1, 1, 0};
  ExpectCaught("nothing_lost");
  history_.durables = {{"job", "run", 0, 6 * kSecond, 2}};
  EXPECT_TRUE(Judge().empty());
}

TEST_F(RetentionTest, ABoundaryThatMovesDownIsCaught) {
  Boundary lower = boundary_;
  lower.first_step = 0;
  archive_[BoundaryKey("main")].back().gone = 12 * kSecond;
  Put(BoundaryKey("main"), 12 * kSecond, EncodeBoundary(info_, lower));
  ExpectCaught("nothing_lost");
}

TEST_F(RetentionTest, AReaderRefusedForNoReasonIsCaught) {
  history_.readers = {{0, 0, 0, 0, kSecond}};
  history_.refusals = {{0, 12 * kSecond, 3, Reason::kStepTrimmed, "", ""}};
  ExpectCaught("nothing_lost");
  history_.refusals[0].step = 1;
  EXPECT_TRUE(Judge().empty());
}

TEST_F(RetentionTest, WhatNobodyNeedsIsCaughtInTheEnd) {
  for (const std::string& key :
       {DataKey("main", 1, 0), DataKey("main", 1, 7), IndexKey("main", 0), std::string("probe/1"),
        PartKey("main", 3, 0), WatermarkKey("main", "job", "run", {})}) {
    const Archive before = archive_;
    archive_[key].clear();
    Put(key, kSecond);
    ExpectCaught("nothing_useless");
    EXPECT_TRUE(Judge(false).empty()) << key;
    archive_ = before;
  }
  uploads_ = {{"data/main/x", kSecond}};
  ExpectCaught("nothing_useless");
}

TEST_F(RetentionTest, ADeletedBranchLeavesNothing) {
  side_.records[0].lifecycle = {CloseChange{}};
  ExpectCaught("nothing_useless");
}

}  // namespace
}  // namespace lakestream::sim

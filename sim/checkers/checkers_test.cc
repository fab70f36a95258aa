// Each checker must accept a good history and reject a bad one of each kind that it is for.
#include "sim/checkers/checkers.h"

#include <gtest/gtest.h>

namespace lakestream::sim {
namespace {

using Check = std::vector<Violation> (*)(const Evidence&);

// Producer 0 opens session 1, publishes items 0 and 1, is replaced by session 2, which publishes
// item 2 and finishes; one reader reads it all.
class CheckersTest : public testing::Test {
 protected:
  CheckersTest() {
    log.records.resize(5);
    for (size_t i = 0; i < log.records.size(); ++i) {
      log.records[i].version = i + 1;
      log.records[i].applied_at = static_cast<Time>(i + 1) * kSecond;
    }
    log.records[0].opens = {{"producer-0", 1, 0}};
    log.records[1].entries = {MakeEntry(1, 0, 0, {0, 1})};
    log.records[2].opens = {{"producer-0", 2, 1}};
    log.records[3].entries = {MakeEntry(2, 0, 2, {2})};
    log.records[4].finishes = {2};
    log.records[4].seals = true;
    const Step ends[] = {0, 2, 2, 3, 3};
    for (size_t i = 0; i < 5; ++i) {
      log.records[i].first_step = i == 0 ? 0 : ends[i - 1];
      log.records[i].next_step = ends[i];
    }
    history.sessions = {{0, 1, 0, kSecond, 0, 0}, {0, 2, 2 * kSecond, 3 * kSecond, 2, 2}};
    history.acks = {{0, 1, 2 * kSecond, 2}, {0, 2, 4 * kSecond, 3}};
    history.readers = {{0, 0, 0, 0}};
    for (Step step = 0; step < 3; ++step) {
      history.reads.push_back({0, 6 * kSecond, step, ItemId{0, step}, true});
    }
    history.ends = {{0, 7 * kSecond, 3}};
    history.costs = {{"producer", true, false, 40, 5, 3, 2, 0, 1.0}};
  }

  static ViewEntry MakeEntry(SessionId session, uint64_t sequence, Step step,
                             std::vector<uint64_t> items) {
    ViewEntry entry;
    entry.session = session;
    entry.first_sequence = sequence;
    entry.tgbs = static_cast<uint32_t>(items.size());
    entry.first_step = step;
    for (uint64_t item : items) entry.items.push_back(ItemId{0, item});
    entry.state = StateBefore(ItemLaw(), 0, items.back() + 1);
    return entry;
  }
  Evidence Make() const { return {history, log, Mesh{1, 1}, ItemLaw(), 3, 1, true, 8, rewritten}; }
  // The named checker objects, and says so under its own name.
  void ExpectCaught(Check check, const std::string& name) {
    const std::vector<Violation> violations = check(Make());
    ASSERT_FALSE(violations.empty()) << name;
    EXPECT_EQ(violations[0].checker, name);
  }

  History history;
  LogView log;
  std::vector<std::string> rewritten;
};

TEST_F(CheckersTest, GoodHistoryPassesAll) {
  for (const Violation& violation : CheckAll(Make())) {
    ADD_FAILURE() << violation.checker << ": " << violation.detail;
  }
}

TEST_F(CheckersTest, AtomicVisibilityCatchesDamagedData) {
  log.damage.push_back({"atomic_visibility", "step 1: data object missing"});
  ExpectCaught(CheckAtomicVisibility, "atomic_visibility");
}

TEST_F(CheckersTest, AtomicVisibilityCatchesAReadBeforeTheCommit) {
  history.reads[2].at = 3 * kSecond;
  ExpectCaught(CheckAtomicVisibility, "atomic_visibility");
}

TEST_F(CheckersTest, AtomicVisibilityCatchesWrongBytesHandedOut) {
  history.reads[1].intact = false;
  ExpectCaught(CheckAtomicVisibility, "atomic_visibility");
}

TEST_F(CheckersTest, OneOrderCatchesAGapInSteps) {
  log.records[3].entries[0].first_step = 3;
  ExpectCaught(CheckOneOrder, "one_order");
}

TEST_F(CheckersTest, OneOrderCatchesARecordThatMiscounts) {
  log.records[1].next_step = 3;
  ExpectCaught(CheckOneOrder, "one_order");
}

TEST_F(CheckersTest, OneOrderCatchesReadersThatDisagree) {
  history.readers.push_back({1, 0, 0, 1});
  history.reads.push_back({1, 6 * kSecond, 1, ItemId{0, 0}, true});
  ExpectCaught(CheckOneOrder, "one_order");
}

TEST_F(CheckersTest, OneOrderCatchesRewrittenObjects) {
  rewritten = {"log/main/00000000000000000002"};
  ExpectCaught(CheckOneOrder, "one_order");
}

TEST_F(CheckersTest, OneOrderCatchesAWrongEndOfTheStream) {
  history.ends[0].end = 2;
  ExpectCaught(CheckOneOrder, "one_order");
}

TEST_F(CheckersTest, OneOrderCatchesPublishingAfterTheSeal) {
  log.records[2].seals = true;
  ExpectCaught(CheckOneOrder, "one_order");
}

TEST_F(CheckersTest, ExactlyOnceCatchesADuplicateItem) {
  log.records[3].entries[0] = MakeEntry(2, 0, 2, {1});
  ExpectCaught(CheckExactlyOnce, "exactly_once");
}

TEST_F(CheckersTest, ExactlyOnceCatchesAMissingItem) {
  log.records[3].entries[0] = MakeEntry(2, 0, 2, {3});
  ExpectCaught(CheckExactlyOnce, "exactly_once");
}

TEST_F(CheckersTest, ExactlyOnceCatchesATailThatNeverCame) {
  log.records[3].entries.clear();
  ExpectCaught(CheckExactlyOnce, "exactly_once");
}

TEST_F(CheckersTest, ExactlyOnceCatchesAStateThatLags) {
  log.records[3].entries[0].state = StateBefore(ItemLaw(), 0, 2);
  ExpectCaught(CheckExactlyOnce, "exactly_once");
}

TEST_F(CheckersTest, ExactlyOnceCatchesAnAcknowledgementTooEarly) {
  history.acks[1].at = 2 * kSecond;
  ExpectCaught(CheckExactlyOnce, "exactly_once");
}

TEST_F(CheckersTest, ExactlyOnceCatchesAWrongRecovery) {
  history.sessions[1].recovered_next = 1;
  ExpectCaught(CheckExactlyOnce, "exactly_once");
}

TEST_F(CheckersTest, ExactlyOnceCatchesAReaderThatSkipsOrRepeats) {
  history.reads[1].step = 2;
  ExpectCaught(CheckExactlyOnce, "exactly_once");
  history.reads[1].step = 0;
  ExpectCaught(CheckExactlyOnce, "exactly_once");
}

TEST_F(CheckersTest, NoZombieCatchesAnOlderSessionThatPublishes) {
  log.records[3].entries[0].session = 1;
  ExpectCaught(CheckNoZombie, "no_zombie");
}

TEST_F(CheckersTest, NoZombieCatchesAnOldSessionThatFinishes) {
  log.records[4].finishes = {1};
  ExpectCaught(CheckNoZombie, "no_zombie");
}

TEST_F(CheckersTest, NoZombieCatchesAnOpenThatReplacesTheWrongSession) {
  log.records[2].opens[0].expected = 0;
  ExpectCaught(CheckNoZombie, "no_zombie");
}

TEST_F(CheckersTest, NoZombieCatchesTwoOwnersOfOneSession) {
  history.sessions[1].session = 1;
  ExpectCaught(CheckNoZombie, "no_zombie");
}

TEST_F(CheckersTest, BoundedCostCatchesTooManyRequests) {
  history.costs[0].requests = 500;
  ExpectCaught(CheckBoundedCost, "bounded_cost");
  history.costs[0].disturbed = true;
  EXPECT_TRUE(CheckBoundedCost(Make()).empty());
}

}  // namespace
}  // namespace lakestream::sim

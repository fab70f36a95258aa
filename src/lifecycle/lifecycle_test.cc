// Checkpoints, runs, trim and branches, as a job and an operator use them.
#include "lakestream/lifecycle.h"

#include <gtest/gtest.h>

#include "lakestream/consumer.h"
#include "lakestream/producer.h"
#include "lifecycle/watermarks.h"
#include "stream/ledger_context.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::TinyStream;

constexpr StreamSpec kSmall{.mesh = {1, 1}, .snapshot_interval = 4, .index_page_steps = 4};

class LifecycleTest : public testing::Test {
 protected:
  // Steps [first, last) of the stream's items, one commit each.
  void Write(Stream& stream, int first, int last, const std::string& name = "a") {
    auto shared = std::shared_ptr<Stream>(std::shared_ptr<Stream>(), &stream);
    auto producer = Producer::Open(shared, {.name = name}, tiny_.Soon());
    ASSERT_TRUE(producer.ok()) << producer.status();
    for (int item = first; item < last; ++item) {
      ASSERT_TRUE((*producer)->Write(tiny_.MakeTgb(item), "", tiny_.Soon()).ok());
      ASSERT_TRUE((*producer)->Flush(tiny_.Soon()).ok());
    }
    ASSERT_TRUE((*producer)->Close(tiny_.Soon()).ok());
  }
  void Write(int first, int last) { Write(*tiny_.stream, first, last); }

  Result<bool> Save(const std::string& name, Step step, bool pinned = false) {
    return SaveCheckpoint(*tiny_.stream, {.name = name, .step = step, .pinned = pinned},
                          tiny_.Soon());
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto checkpoints = ListCheckpoints(*tiny_.stream, tiny_.Soon());
    for (const CheckpointInfo& checkpoint : *checkpoints) names.push_back(checkpoint.name);
    return names;
  }
  Result<TrimReport> TrimBy(const RetentionRules& rules) {
    return Trim(*tiny_.stream, {.rules = rules}, tiny_.Soon());
  }

  TinyStream tiny_{{}, kSmall};
};

TEST_F(LifecycleTest, ACheckpointIsFoundByNameWithItsNote) {
  Write(0, 6);
  ASSERT_TRUE(SaveCheckpoint(*tiny_.stream, {.name = "warm", .step = 4, .note = "s3://model/4"},
                             tiny_.Soon())
                  .value());
  const auto found = FindCheckpoint(*tiny_.stream, "warm", tiny_.Soon());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->step, 4u);
  EXPECT_EQ(found->note, "s3://model/4");
  EXPECT_EQ(Save("warm", 5).status().code(), Code::kAlreadyExists);
  EXPECT_EQ(Save("late", 7).status().reason(), Reason::kStepNotYet);
  EXPECT_EQ(FindCheckpoint(*tiny_.stream, "cold", tiny_.Soon()).status().reason(),
            Reason::kNoCheckpoint);
}

TEST_F(LifecycleTest, ATornCheckpointNeverCounts) {
  Write(0, 6);
  const auto save = [&](uint32_t part, const std::string& attempt) {
    return SaveCheckpoint(*tiny_.stream,
                          {.name = "c", .step = 4, .parts = 3, .part = part, .attempt = attempt},
                          tiny_.Soon());
  };
  EXPECT_FALSE(save(0, "run-1").value());
  EXPECT_FALSE(save(1, "run-1").value());
  EXPECT_FALSE(save(1, "run-1").value());  // the same part twice
  EXPECT_EQ(FindCheckpoint(*tiny_.stream, "c", tiny_.Soon()).status().reason(),
            Reason::kNoCheckpoint);
  // The job crashed; its next run saves again. Parts of the first try do not complete the second.
  EXPECT_FALSE(save(2, "run-2").value());
  EXPECT_FALSE(save(0, "run-2").value());
  EXPECT_TRUE(save(1, "run-2").value());
  EXPECT_TRUE(save(1, "run-2").value());
  EXPECT_TRUE(FindCheckpoint(*tiny_.stream, "c", tiny_.Soon()).ok());
}

TEST_F(LifecycleTest, TrimStopsAtTheFirstCheckpointThatStays) {
  Write(0, 12);
  for (Step step : {2, 4, 6, 8, 10}) ASSERT_TRUE(Save("s" + std::to_string(step), step).ok());
  ASSERT_TRUE(PinCheckpoint(*tiny_.stream, "s4", true, tiny_.Soon()).ok());
  const auto report = TrimBy({.keep_last = 1, .keep_every = 8});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->dropped, (std::vector<std::string>{"s2", "s6"}));
  EXPECT_EQ(report->to, 4u);
  EXPECT_EQ(report->held_by, (std::vector<std::string>{"checkpoint s4"}));
  EXPECT_EQ(Names(), (std::vector<std::string>{"s4", "s8", "s10"}));
  EXPECT_EQ(tiny_.HeadState().trim_step, 4u);
  EXPECT_EQ(Save("old", 3).status().reason(), Reason::kStepTrimmed);
  EXPECT_EQ(DeleteCheckpoint(*tiny_.stream, "s4", tiny_.Soon()).reason(), Reason::kHeldBack);
}

TEST_F(LifecycleTest, ATrimToAStepThatIsNeededIsRefusedAndSaysByWhom) {
  Write(0, 8);
  ASSERT_TRUE(Save("keep", 3).ok());
  const auto refused = Trim(*tiny_.stream, {.to = 5}, tiny_.Soon());
  EXPECT_EQ(refused.status().reason(), Reason::kHeldBack);
  EXPECT_NE(refused.status().message().find("checkpoint keep"), std::string::npos);
  EXPECT_EQ(Trim(*tiny_.stream, {.to = 3}, tiny_.Soon())->to, 3u);
}

TEST_F(LifecycleTest, ADryTrimChangesNothing) {
  Write(0, 8);
  ASSERT_TRUE(Save("a", 3).ok());
  ASSERT_TRUE(Save("b", 6).ok());
  const State before = tiny_.HeadState();
  const auto report =
      Trim(*tiny_.stream, {.rules = {.keep_last = 1}, .dry_run = true}, tiny_.Soon());
  EXPECT_EQ(report->to, 6u);
  EXPECT_EQ(tiny_.HeadState(), before);
}

TEST_F(LifecycleTest, ALimitInBytesDropsTheOldestCheckpointsButNoPinnedOne) {
  Write(0, 12);
  ASSERT_TRUE(Save("a", 2).ok());
  ASSERT_TRUE(Save("b", 5, true).ok());
  ASSERT_TRUE(Save("c", 9).ok());
  const uint64_t bytes_a_step = tiny_.HeadState().slice_bytes / 12;
  const auto report = TrimBy({.bytes_max = 4 * bytes_a_step});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->dropped, (std::vector<std::string>{"a"}));
  EXPECT_EQ(report->to, 5u);
  EXPECT_TRUE(report->over_bytes_max);
}

TEST_F(LifecycleTest, ARunHoldsTheTrimAtItsSlowestRank) {
  Write(0, 12);
  ASSERT_TRUE(AttachRun(*tiny_.stream, {"train", "run-1", 2, 1}, tiny_.Soon()).ok());
  ASSERT_TRUE(AttachRun(*tiny_.stream, {"train", "run-1", 2, 1}, tiny_.Soon()).ok());
  const LedgerContext context = ContextOf(*tiny_.stream);
  WatermarkWriter fast(context, "train", "run-1", 0);
  WatermarkWriter slow(context, "train", "run-1", 1);
  ASSERT_TRUE(fast.Write(9, 8, tiny_.Soon()).ok());
  EXPECT_EQ(Trim(*tiny_.stream, {}, tiny_.Soon())->to, 1u);  // one rank has not reported: its start
  ASSERT_TRUE(slow.Write(7, 3, tiny_.Soon()).ok());
  ASSERT_TRUE(slow.Write(8, 4, tiny_.Soon()).ok());
  const auto runs = ListRuns(*tiny_.stream, tiny_.Soon());
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_EQ(runs->at(0).read, 8u);
  EXPECT_EQ(runs->at(0).durable, 4u);
  EXPECT_EQ(runs->at(0).ranks_reporting, 2u);
  EXPECT_EQ(Trim(*tiny_.stream, {}, tiny_.Soon())->to, 4u);
  // A new run of the job starts further on; the old one no longer holds anything.
  EXPECT_EQ(AttachRun(*tiny_.stream, {"train", "run-2", 4, 3}, tiny_.Soon()).reason(),
            Reason::kStepTrimmed);
  ASSERT_TRUE(AttachRun(*tiny_.stream, {"train", "run-2", 4, 6}, tiny_.Soon()).ok());
  EXPECT_EQ(Trim(*tiny_.stream, {}, tiny_.Soon())->to, 6u);
  ASSERT_TRUE(DetachRun(*tiny_.stream, "train", "run-2", tiny_.Soon()).ok());
  EXPECT_TRUE(ListRuns(*tiny_.stream, tiny_.Soon())->empty());
}

TEST_F(LifecycleTest, ABranchSharesWhatLiesBelowItsForkAndGoesItsOwnWay) {
  Write(0, 10);
  ASSERT_TRUE(CreateBranch(*tiny_.stream, "exp", 6, tiny_.Soon()).ok());
  ASSERT_TRUE(CreateBranch(*tiny_.stream, "exp", 6, tiny_.Soon()).ok());  // again: the same
  EXPECT_EQ(CreateBranch(*tiny_.stream, "exp", 5, tiny_.Soon()).code(), Code::kAlreadyExists);
  auto branch = Stream::Open(tiny_.faults, tiny_.runtime, tiny_.Soon(), "exp");
  ASSERT_TRUE(branch.ok()) << branch.status();
  Write(**branch, 100, 110);
  Write(10, 14);
  const auto items = [&](std::shared_ptr<Stream> stream, Step end) {
    auto consumer = Consumer::Open(std::move(stream), {}, tiny_.Soon());
    EXPECT_TRUE(consumer.ok()) << consumer.status();
    std::vector<int> read;
    while (read.size() < end) {
      auto next = (*consumer)->Next(tiny_.Soon());
      EXPECT_TRUE(next.ok()) << next.status();
      if (!next.ok()) break;
      read.push_back(TinyStream::Values((*next)->slice()).at(0));
    }
    return read;
  };
  EXPECT_EQ(items(*branch, 16),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109}));
  EXPECT_EQ(items(tiny_.stream, 14),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  // A branch of the branch, from a step of the first one.
  ASSERT_TRUE(CreateBranch(**branch, "exp2", 8, tiny_.Soon()).ok());
  auto second = Stream::Open(tiny_.faults, tiny_.runtime, tiny_.Soon(), "exp2");
  ASSERT_TRUE(second.ok()) << second.status();
  Write(**second, 200, 202);
  EXPECT_EQ(items(*second, 10), (std::vector<int>{0, 1, 2, 3, 4, 5, 100, 101, 200, 201}));
  const auto branches = ListBranches(*tiny_.stream, tiny_.Soon());
  ASSERT_TRUE(branches.ok()) << branches.status();
  ASSERT_EQ(branches->size(), 2u);
  EXPECT_EQ(branches->at(1).info.parent, "exp");
}

TEST_F(LifecycleTest, ADeletedBranchTellsItsWritersAndItsNameIsNotUsedAgain) {
  Write(0, 6);
  ASSERT_TRUE(CreateBranch(*tiny_.stream, "exp", 6, tiny_.Soon()).ok());
  auto branch = Stream::Open(tiny_.faults, tiny_.runtime, tiny_.Soon(), "exp");
  auto producer = Producer::Open(*branch, {.name = "a"}, tiny_.Soon());
  ASSERT_TRUE(producer.ok()) << producer.status();
  ASSERT_TRUE(CreateBranch(**branch, "child", 6, tiny_.Soon()).ok());
  EXPECT_EQ(DeleteBranch(*tiny_.stream, "exp", tiny_.Soon()).reason(), Reason::kHeldBack);
  ASSERT_TRUE(DeleteBranch(*tiny_.stream, "child", tiny_.Soon()).ok());
  EXPECT_EQ(DeleteBranch(*tiny_.stream, "exp", tiny_.Soon()).reason(), Reason::kHeldBack);
}

TEST_F(LifecycleTest, AClosedBranchRefusesWritersAndReaders) {
  Write(0, 6);
  ASSERT_TRUE(CreateBranch(*tiny_.stream, "exp", 6, tiny_.Soon()).ok());
  auto branch = Stream::Open(tiny_.faults, tiny_.runtime, tiny_.Soon(), "exp");
  auto producer = Producer::Open(*branch, {.name = "a"}, tiny_.Soon());
  ASSERT_TRUE(producer.ok()) << producer.status();
  ASSERT_TRUE(DeleteBranch(*tiny_.stream, "exp", tiny_.Soon()).ok());
  ASSERT_TRUE(DeleteBranch(*tiny_.stream, "exp", tiny_.Soon()).ok());  // again: nothing to do
  ASSERT_TRUE((*producer)->Write(tiny_.MakeTgb(1), "", tiny_.Soon()).ok());
  EXPECT_EQ((*producer)->Flush(tiny_.Soon()).reason(), Reason::kBranchClosed);
  EXPECT_EQ(Consumer::Open(*branch, {}, tiny_.Soon()).status().reason(), Reason::kBranchClosed);
  EXPECT_EQ(CreateBranch(*tiny_.stream, "exp", 6, tiny_.Soon()).code(), Code::kAlreadyExists);
}

}  // namespace
}  // namespace lakestream

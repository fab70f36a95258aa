// Readers of runs: what they hold, what they report, and what they are told.
#include <gtest/gtest.h>

#include "lakestream/consumer.h"
#include "lakestream/lifecycle.h"
#include "lakestream/producer.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::TinyStream;

class RunsTest : public ::testing::Test {
 protected:
  void Write(int count) {
    auto producer = Producer::Open(tiny_.stream, {.name = "a"}, tiny_.Soon());
    ASSERT_TRUE(producer.ok()) << producer.status();
    for (int item = 0; item < count; ++item) {
      ASSERT_TRUE((*producer)->Write(tiny_.MakeTgb(item), "", tiny_.Soon()).ok());
    }
    ASSERT_TRUE((*producer)->Close(tiny_.Soon()).ok());
  }
  ConsumerOptions Options(const std::string& run, uint32_t rank = 0, Step start = 0) {
    ConsumerOptions options;
    options.start_step = start;
    options.dp_index = rank;
    options.poll_max = std::chrono::milliseconds(20);
    options.run = ConsumerRun{.job = "train",
                              .run = run,
                              .rank = rank,
                              .ranks = 2,
                              .report_interval = std::chrono::milliseconds(5)};
    return options;
  }
  std::unique_ptr<Consumer> Open(const ConsumerOptions& options) {
    auto consumer = Consumer::Open(tiny_.stream, options, tiny_.Soon());
    EXPECT_TRUE(consumer.ok()) << consumer.status();
    return consumer.ok() ? *std::move(consumer) : nullptr;
  }
  void Read(Consumer& consumer, int count) {
    for (int i = 0; i < count; ++i) {
      auto next = consumer.Next(tiny_.Soon());
      ASSERT_TRUE(next.ok() && *next) << next.status();
    }
  }
  RunInfo OnlyRun() {
    auto runs = ListRuns(*tiny_.stream, tiny_.Soon());
    EXPECT_TRUE(runs.ok() && runs->size() == 1);
    return runs->at(0);
  }

  TinyStream tiny_{{}, {.mesh = {2, 1}, .snapshot_interval = 8, .index_page_steps = 16}};
};

TEST_F(RunsTest, TheSlowestRankCountsAndOnlyOnceAllReport) {
  Write(30);
  auto first = Open(Options("r1", 0));
  Read(*first, 20);
  ASSERT_TRUE(first->SetDurable(12).ok());
  ASSERT_TRUE(first->Close(tiny_.Soon()).ok());
  EXPECT_EQ(OnlyRun().ranks_reporting, 1u);
  EXPECT_EQ(OnlyRun().read, 0u);
  auto second = Open(Options("r1", 1));
  Read(*second, 8);
  ASSERT_TRUE(second->SetDurable(8).ok());
  ASSERT_TRUE(second->Close(tiny_.Soon()).ok());
  EXPECT_EQ(OnlyRun().ranks_reporting, 2u);
  EXPECT_EQ(OnlyRun().read, 8u);
  EXPECT_EQ(OnlyRun().durable, 8u);
}

TEST_F(RunsTest, TrimLeavesWhatARankWouldRestartAt) {
  Write(30);
  auto first = Open(Options("r1", 0));
  auto second = Open(Options("r1", 1));
  Read(*first, 20);
  Read(*second, 20);
  EXPECT_EQ(Trim(*tiny_.stream, {}, tiny_.Soon())->to, 0u);  // nothing is durable yet
  EXPECT_EQ(first->SetDurable(21).code(), Code::kInvalidArgument);
  ASSERT_TRUE(first->SetDurable(20).ok());
  ASSERT_TRUE(second->SetDurable(15).ok());
  ASSERT_TRUE(first->Close(tiny_.Soon()).ok());
  ASSERT_TRUE(second->Close(tiny_.Soon()).ok());
  EXPECT_EQ(Trim(*tiny_.stream, {}, tiny_.Soon())->to, 15u);
}

TEST_F(RunsTest, WatermarksAreWrittenWithoutAnyCallAsReadingGoesOn) {
  Write(30);
  auto first = Open(Options("r1", 0));
  auto second = Open(Options("r1", 1));
  Read(*first, 20);
  Read(*second, 20);
  const Deadline deadline = tiny_.Soon();
  while (OnlyRun().read < 20 && CheckDeadline(*tiny_.runtime, deadline, "").ok()) {
    ASSERT_TRUE(SleepFor(*tiny_.runtime, std::chrono::milliseconds(2), deadline).ok());
  }
  EXPECT_EQ(OnlyRun().read, 20u);
}

TEST_F(RunsTest, AReplacedRunIsToldSo) {
  Write(3);
  auto old = Open(Options("r1"));
  Read(*old, 3);
  auto young = Open(Options("r2"));
  EXPECT_EQ(old->Next(tiny_.Soon()).status().reason(), Reason::kRunOver);
  EXPECT_EQ(old->Next(tiny_.Soon()).status().reason(), Reason::kRunOver);
  Read(*young, 3);
}

TEST_F(RunsTest, ADetachedRunIsToldSo) {
  Write(3);
  auto reader = Open(Options("r1"));
  Read(*reader, 3);
  ASSERT_TRUE(DetachRun(*tiny_.stream, "train", "r1", tiny_.Soon()).ok());
  EXPECT_EQ(reader->Next(tiny_.Soon()).status().reason(), Reason::kRunOver);
}

TEST_F(RunsTest, ARankMayRestartWithinItsRunButNotBelowItsStart) {
  Write(10);
  auto reader = Open(Options("r1", 0, 4));
  Read(*reader, 3);
  reader = Open(Options("r1", 0, 6));
  Read(*reader, 2);
  EXPECT_EQ(Consumer::Open(tiny_.stream, Options("r1", 0, 2), tiny_.Soon()).status().code(),
            Code::kFailedPrecondition);
}

TEST_F(RunsTest, AReaderWithoutARunHasNoDurablePosition) {
  Write(1);
  auto reader = Open({});
  EXPECT_EQ(reader->SetDurable(0).code(), Code::kFailedPrecondition);
  EXPECT_TRUE(reader->Close(tiny_.Soon()).ok());
}

TEST_F(RunsTest, TroubleWithTheWatermarkDoesNotStopReading) {
  Write(10);
  auto reader = Open(Options("r1"));
  tiny_.faults->FailPuts("watermark/", UnavailableError("503"), 1000000);
  Read(*reader, 10);
  EXPECT_EQ(reader->Close(tiny_.In(30)).code(), Code::kDeadlineExceeded);
  tiny_.faults->Heal();
  EXPECT_TRUE(reader->Close(tiny_.Soon()).ok());
}

// A reader that waits on a trimmed step, or finds its object gone, is told that it was trimmed.
TEST_F(RunsTest, C11_H31_AReaderOfATrimmedStepGetsItsOwnError) {
  Write(10);
  ConsumerOptions options;
  options.prefetch_steps = 1;
  options.fetches_max = 1;
  auto reader = Open(options);
  ASSERT_TRUE(Trim(*tiny_.stream, {.to = 10}, tiny_.Soon()).ok());
  Read(*reader, 1);
  // One object or several: that is a matter of how fast they were written.
  auto objects = tiny_.faults->List({.prefix = DataPrefix(kMainBranch)}, tiny_.Soon());
  std::vector<std::string> keys;
  for (const ObjectInfo& object : objects->objects) keys.push_back(object.key);
  ASSERT_TRUE(tiny_.faults->Delete(keys, tiny_.Soon()).ok());
  Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) status = reader->Next(tiny_.Soon()).status();
  EXPECT_EQ(status.reason(), Reason::kStepTrimmed) << status;
  EXPECT_EQ(reader->Next(tiny_.Soon()).status().reason(), Reason::kStepTrimmed);
  auto late = Open({});
  EXPECT_EQ(late->Next(tiny_.Soon()).status().reason(), Reason::kStepTrimmed);
}

// The object that holds the last steps before the fork also holds the parent's next ones.
TEST_F(RunsTest, AReaderOfABranchSeesNothingOfItsParentBehindTheFork) {
  Write(4);
  ASSERT_TRUE(CreateBranch(*tiny_.stream, "side", 2, tiny_.Soon()).ok());
  auto branch = Stream::Open(tiny_.faults, tiny_.runtime, tiny_.Soon(), "side");
  ASSERT_TRUE(branch.ok());
  auto reader = Consumer::Open(*branch, {}, tiny_.Soon());
  ASSERT_TRUE(reader.ok());
  Read(**reader, 2);
  EXPECT_EQ((*reader)->Next(tiny_.In(30)).status().code(), Code::kDeadlineExceeded);
  auto producer = Producer::Open(*branch, {.name = "a"}, tiny_.Soon());
  ASSERT_TRUE(producer.ok()) << producer.status();
  ASSERT_TRUE((*producer)->Write(tiny_.MakeTgb(77), "", tiny_.Soon()).ok());
  ASSERT_TRUE((*producer)->Flush(tiny_.Soon()).ok());
  auto next = (*reader)->Next(tiny_.Soon());
  ASSERT_TRUE(next.ok() && *next) << next.status();
  EXPECT_EQ(TinyStream::Values((*next)->slice()).at(0), 77);
}

TEST_F(RunsTest, AReaderOfADeletedBranchIsToldSo) {
  Write(4);
  ASSERT_TRUE(CreateBranch(*tiny_.stream, "side", 2, tiny_.Soon()).ok());
  auto branch = Stream::Open(tiny_.faults, tiny_.runtime, tiny_.Soon(), "side");
  ASSERT_TRUE(branch.ok());
  ConsumerOptions options;
  options.poll_max = std::chrono::milliseconds(20);
  auto reader = Consumer::Open(*branch, options, tiny_.Soon());
  ASSERT_TRUE(reader.ok());
  Read(**reader, 2);
  ASSERT_TRUE(DeleteBranch(*tiny_.stream, "side", tiny_.Soon()).ok());
  const Status told = (*reader)->Next(tiny_.Soon()).status();
  EXPECT_EQ(told.reason(), Reason::kBranchClosed) << told;
}

}  // namespace
}  // namespace lakestream

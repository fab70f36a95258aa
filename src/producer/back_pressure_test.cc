// Producers and the jobs that read: who holds whom back, and who does not.
#include <gtest/gtest.h>

#include "lakestream/consumer.h"
#include "lakestream/lifecycle.h"
#include "lakestream/producer.h"
#include "lifecycle/watermarks.h"
#include "stream/ledger_context.h"
#include "tests/support/movable_clock.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::MovableClock;
using testing_support::TinyStream;

class BackPressureTest : public ::testing::Test {
 protected:
  std::unique_ptr<Producer> Open(ProducerOptions options) {
    options.name = "a";
    options.commit_interval = std::chrono::milliseconds(1);
    options.object_bytes_target = 1;  // a TGB an object, so that the limit cuts exactly
    auto producer = Producer::Open(tiny_.stream, options, tiny_.Soon());
    EXPECT_TRUE(producer.ok()) << producer.status();
    return *std::move(producer);
  }
  // Writes one by one; how many were published within a while.
  int Publish(Producer& producer, int count) {
    for (int i = 0; i < count; ++i) {
      EXPECT_TRUE(producer.Write(tiny_.MakeTgb(i), "", tiny_.Soon()).ok());
      if (!producer.Flush(tiny_.In(100)).ok()) return i;
    }
    return count;
  }
  void Report(Step read) {
    WatermarkWriter writer(ContextOf(*tiny_.stream), "train", "r1", 0);
    ASSERT_TRUE(writer.Write(read, 0, tiny_.Soon()).ok());
  }
  void Attach(const std::string& run, Step start) {
    ASSERT_TRUE(AttachRun(*tiny_.stream, {"train", run, 1, start}, tiny_.Soon()).ok());
  }

  const std::shared_ptr<MovableClock> clock_ = std::make_shared<MovableClock>();
  TinyStream tiny_{{}, {.mesh = {1, 1}}, clock_};
};

TEST_F(BackPressureTest, WithoutAJobNobodyIsHeldBack) {
  auto producer = Open({.ahead_steps_max = 3});
  EXPECT_EQ(Publish(*producer, 10), 10);
}

TEST_F(BackPressureTest, ProducersStopSoManyStepsAheadAndGoOnAsTheJobReads) {
  Attach("r1", 0);
  auto producer = Open({.ahead_steps_max = 3});
  EXPECT_EQ(Publish(*producer, 10), 3);
  const Status held = producer->Flush(tiny_.In(10));
  EXPECT_EQ(held.code(), Code::kDeadlineExceeded);
  EXPECT_NE(held.message().find("job train"), std::string::npos) << held;
  EXPECT_GT(producer->stats().held_back, 0u);
  Report(2);
  EXPECT_TRUE(producer->Flush(tiny_.Soon()).ok());
  EXPECT_EQ(tiny_.HeadState().next_step, 4u);
}

TEST_F(BackPressureTest, BytesAheadAreCountedByTheMeanSizeOfAStep) {
  Attach("r1", 0);
  auto producer = Open({});
  EXPECT_EQ(Publish(*producer, 1), 1);
  ASSERT_TRUE(producer->Close(tiny_.Soon()).ok());
  const uint64_t step_bytes = tiny_.HeadState().slice_bytes;
  producer = Open({.ahead_bytes_max = 5 * step_bytes});
  EXPECT_EQ(Publish(*producer, 10), 4);
}

TEST_F(BackPressureTest, ARunThatStartsFartherBackHoldsAtOnce) {
  Attach("r1", 0);
  auto producer = Open({.ahead_steps_max = 3});
  Report(100);  // it may say so
  EXPECT_EQ(Publish(*producer, 10), 10);
  Attach("r2", 0);
  EXPECT_LE(Publish(*producer, 10), 1);  // one may have been planned before the attach was seen
}

TEST_F(BackPressureTest, ADeadRunHoldsNobodyForLonger) {
  Attach("r1", 0);
  auto producer = Open({.ahead_steps_max = 1, .run_timeout = std::chrono::minutes(10)});
  EXPECT_EQ(Publish(*producer, 3), 1);
  clock_->Advance(std::chrono::minutes(11));
  EXPECT_TRUE(producer->Flush(tiny_.Soon()).ok());
}

// What would release the pressure is never held back by it.
TEST_F(BackPressureTest, CheckpointsTrimsSealsAndAFinishGoThrough) {
  Attach("r1", 0);
  auto producer = Open({.ahead_steps_max = 2});
  EXPECT_EQ(Publish(*producer, 2), 2);
  EXPECT_TRUE(SaveCheckpoint(*tiny_.stream, {.name = "c", .step = 2}, tiny_.Soon()).ok());
  EXPECT_TRUE(Trim(*tiny_.stream, {}, tiny_.Soon()).ok());
  EXPECT_TRUE(producer->Finish(tiny_.Soon()).ok());
}

TEST_F(BackPressureTest, AReaderReleasesItByReading) {
  auto producer = Open({.ahead_steps_max = 2});
  ConsumerOptions options;
  options.run = ConsumerRun{.job = "train", .run = "r1"};
  options.run->report_interval = std::chrono::milliseconds(5);
  auto consumer = Consumer::Open(tiny_.stream, options, tiny_.Soon());
  ASSERT_TRUE(consumer.ok()) << consumer.status();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(producer->Write(tiny_.MakeTgb(i), "", tiny_.Soon()).ok());
  }
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(*(*consumer)->Next(tiny_.Soon()));
}

TEST_F(BackPressureTest, AProducerReclaimsBesideProducing) {
  TinyStream tiny({}, {.mesh = {1, 1}, .reclaim_grace = std::chrono::seconds(1)}, clock_);
  ProducerOptions options{.name = "a"};
  options.object_bytes_target = 1;
  options.reclaim_interval = std::chrono::milliseconds(20);
  auto producer = Producer::Open(tiny.stream, options, tiny.Soon());
  ASSERT_TRUE(producer.ok());
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE((*producer)->Write(tiny.MakeTgb(i), "", tiny.Soon()).ok());
  ASSERT_TRUE((*producer)->Flush(tiny.Soon()).ok());
  ASSERT_TRUE(Trim(*tiny.stream, {.to = 9}, tiny.Soon()).ok());
  const auto objects = [&] {
    auto page = tiny.faults->List({.prefix = DataPrefix(kMainBranch)}, tiny.Soon());
    return page.ok() ? page->objects.size() : 0;
  };
  const Deadline deadline = tiny.Soon();
  while (objects() > 1 && CheckDeadline(*clock_, deadline, "").ok()) {
    clock_->Advance(std::chrono::milliseconds(300));
    ASSERT_TRUE(SleepFor(*clock_, std::chrono::milliseconds(5), deadline).ok());
  }
  EXPECT_EQ(objects(), 1u);
  EXPECT_TRUE((*producer)->Close(tiny.Soon()).ok());
}

}  // namespace
}  // namespace lakestream

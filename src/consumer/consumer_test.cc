#include "lakestream/consumer.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "consumer/buffer_pool.h"
#include "lakestream/producer.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::TinyStream;

class ConsumerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Producer> OpenProducer(const std::string& name = "a") {
    ProducerOptions options;
    options.name = name;
    options.commit_interval = std::chrono::milliseconds(1);
    auto producer = Producer::Open(tiny_.stream, options, tiny_.Soon());
    EXPECT_TRUE(producer.ok()) << producer.status();
    return *std::move(producer);
  }
  void WriteItems(int first, int count, int items_per_flush) {
    auto producer = OpenProducer();
    for (int item = first; item < first + count; ++item) {
      ASSERT_TRUE(producer->Write(tiny_.MakeTgb(item), "", tiny_.Soon()).ok());
      if ((item + 1) % items_per_flush == 0) {
        ASSERT_TRUE(producer->Flush(tiny_.Soon()).ok());
      }
    }
    ASSERT_TRUE(producer->Close(tiny_.Soon()).ok());
  }
  void Seal() {
    auto producer = OpenProducer("sealer");
    Follower follower({*tiny_.faults, *tiny_.runtime, tiny_.stream->info()});
    ASSERT_TRUE(follower.Start(tiny_.Soon()).ok());
    Committer committer(follower);
    ASSERT_TRUE(
        committer
            .Commit([](const State&) { return std::vector<Change>{SealChange{}}; }, tiny_.Soon())
            .ok());
  }
  std::unique_ptr<Consumer> Open(uint32_t dp, Step start, ConsumerOptions options = {}) {
    options.dp_index = dp;
    options.start_step = start;
    options.poll_min = std::chrono::milliseconds(1);
    auto consumer = Consumer::Open(tiny_.stream, options, tiny_.Soon());
    EXPECT_TRUE(consumer.ok()) << consumer.status();
    return *std::move(consumer);
  }
  // Reads to the end of the stream; checks steps and positions on the way.
  std::vector<int> ReadAll(Consumer& consumer, uint32_t dp) {
    std::vector<int> items;
    Step expected = consumer.position();
    while (true) {
      auto next = consumer.Next(tiny_.Soon());
      EXPECT_TRUE(next.ok()) << next.status();
      if (!next.ok() || !*next) break;
      EXPECT_EQ((*next)->step, expected++);
      EXPECT_EQ(consumer.position(), expected);
      const auto values = TinyStream::Values((*next)->slice());
      EXPECT_EQ(values.at(1), static_cast<int>(dp));
      items.push_back(values.at(0));
    }
    return items;
  }
  static std::vector<int> Range(int first, int count) {
    std::vector<int> items;
    for (int i = 0; i < count; ++i) items.push_back(first + i);
    return items;
  }

  TinyStream tiny_{{}, {.mesh = {2, 1}, .snapshot_interval = 8, .index_page_steps = 16}};
};

TEST_F(ConsumerTest, EachRankReadsItsSliceOfEveryStepInOrder) {
  WriteItems(0, 100, 7);
  Seal();
  for (uint32_t dp : {0u, 1u}) {
    auto consumer = Open(dp, 0);
    EXPECT_EQ(ReadAll(*consumer, dp), Range(0, 100));
    auto again = consumer->Next(tiny_.Soon());
    ASSERT_TRUE(again.ok());
    EXPECT_FALSE(*again);  // the end stays the end
  }
}

TEST_F(ConsumerTest, ReadingCanStartAtAnyStep) {
  WriteItems(0, 60, 5);
  Seal();
  for (Step start : {0, 1, 15, 16, 17, 31, 32, 59, 60}) {
    EXPECT_EQ(ReadAll(*Open(0, start), 0),
              Range(static_cast<int>(start), 60 - static_cast<int>(start)));
  }
}

TEST_F(ConsumerTest, AWaitingReaderGetsStepsAsTheyAreCommitted) {
  auto consumer = Open(1, 0);
  auto producer = OpenProducer();
  for (int item = 0; item < 20; ++item) {
    ASSERT_TRUE(producer->Write(tiny_.MakeTgb(item), "", tiny_.Soon()).ok());
    ASSERT_TRUE(producer->Flush(tiny_.Soon()).ok());
    auto next = consumer->Next(tiny_.Soon());
    ASSERT_TRUE(next.ok() && *next) << next.status();
    EXPECT_EQ(TinyStream::Values((*next)->slice()).at(0), item);
  }
}

TEST_F(ConsumerTest, ADeadlineNamesTheStepAndALaterCallGoesOn) {
  auto consumer = Open(0, 0);
  auto late = consumer->Next(tiny_.In(10));
  EXPECT_EQ(late.status().code(), Code::kDeadlineExceeded);
  EXPECT_NE(late.status().message().find("step 0"), std::string::npos);
  CancelToken token;
  token.Cancel();
  EXPECT_EQ(consumer->Next({TimePoint::max(), &token}).status().code(), Code::kCancelled);
  WriteItems(0, 1, 1);
  auto next = consumer->Next(tiny_.Soon());
  ASSERT_TRUE(next.ok() && *next);
  EXPECT_EQ((*next)->step, 0u);
}

TEST_F(ConsumerTest, AFlippedBitOnTheWayIsReadAgain) {
  WriteItems(0, 1, 1);
  tiny_.faults->CorruptGets("data/", 1);
  auto consumer = Open(0, 0);
  auto next = consumer->Next(tiny_.Soon());
  ASSERT_TRUE(next.ok() && *next) << next.status();
  EXPECT_EQ(consumer->stats().rereads, 1u);
}

// E3: the stored bytes themselves are bad.
TEST_F(ConsumerTest, E3_ADamagedObjectIsNamedAndThePositionStays) {
  WriteItems(0, 2, 2);
  tiny_.faults->CorruptGets("data/", 1000000);
  auto consumer = Open(0, 0);
  auto bad = consumer->Next(tiny_.Soon());
  EXPECT_EQ(bad.status().code(), Code::kDataLoss);
  EXPECT_NE(bad.status().message().find("data/main/"), std::string::npos);
  EXPECT_EQ(consumer->position(), 0u);
  tiny_.faults->Heal();
  auto good = consumer->Next(tiny_.Soon());
  while (!good.ok())
    good = consumer->Next(tiny_.Soon());  // a slice fetched before the healing may fail once more
  EXPECT_EQ((*good)->step, 0u);
}

// The other steps of a data object are not lost with the damaged one, although all are read
// together.
TEST_F(ConsumerTest, OneDamagedSliceFailsAlone) {
  WriteItems(0, 10, 10);
  Follower follower({*tiny_.faults, *tiny_.runtime, tiny_.stream->info()});
  ASSERT_TRUE(follower.Start(tiny_.Soon()).ok());
  const PlacedEntry* placed = FindStep(follower.state().tail, 5);
  ASSERT_NE(placed, nullptr);
  const ByteRange range =
      placed->entry.layout.FrameRange({2, 1}, static_cast<uint32_t>(5 - placed->first_step), 0, 0);
  const std::string key = DataKey(kMainBranch, placed->entry.session, placed->entry.object);
  auto stored = GetBytes(*tiny_.faults, key, tiny_.Soon());
  ASSERT_TRUE(stored.ok());
  std::vector<uint8_t> damaged(stored->bytes().begin(), stored->bytes().end());
  damaged[range.offset + 70] ^= 1;
  ASSERT_TRUE(PutBytes(*tiny_.faults, key, damaged, {}, tiny_.Soon()).ok());
  auto consumer = Open(0, 0);
  for (int item = 0; item < 5; ++item) {
    auto next = consumer->Next(tiny_.Soon());
    ASSERT_TRUE(next.ok() && *next) << next.status();
    EXPECT_EQ(TinyStream::Values((*next)->slice()).at(0), item);
  }
  EXPECT_EQ(consumer->Next(tiny_.Soon()).status().reason(), Reason::kChecksum);
  EXPECT_EQ(consumer->Next(tiny_.Soon()).status().reason(), Reason::kChecksum);
  EXPECT_EQ(consumer->position(), 5u);
}

TEST_F(ConsumerTest, AMissingDataObjectIsDataLoss) {
  WriteItems(0, 1, 1);
  const std::vector<std::string> key = {DataKey(kMainBranch, 1, 0)};
  ASSERT_TRUE(tiny_.faults->Delete(key, tiny_.Soon()).ok());
  EXPECT_EQ(Open(0, 0)->Next(tiny_.Soon()).status().code(), Code::kDataLoss);
}

// Found by simulation: what a poll had folded before it failed was never told to Next(), so the end
// was not seen.
TEST_F(ConsumerTest, AFailureInTheMiddleOfAPollHidesNothing) {
  WriteItems(0, 1, 1);
  auto consumer = Open(0, 0);
  ASSERT_TRUE(consumer->Next(tiny_.Soon()).ok());
  const Version head = tiny_.HeadState().version;
  // The poll folds the open and the seal, and fails to look behind them.
  tiny_.faults->FailGets(LogKey(kMainBranch, head + 3), UnavailableError("503"), 1000);
  Seal();
  auto end = consumer->Next(tiny_.In(5000));
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(*end);
}

TEST_F(ConsumerTest, ReadOnlyCredentialsAreEnough) {
  WriteItems(0, 40, 3);
  Seal();
  tiny_.faults->FailPuts("", PermissionDeniedError("read-only"), 1000000);
  const uint64_t puts = tiny_.faults->puts();
  auto stream = Stream::Open(tiny_.faults, tiny_.runtime, tiny_.Soon());
  ASSERT_TRUE(stream.ok()) << stream.status();
  auto consumer = Consumer::Open(*stream, {}, tiny_.Soon());
  ASSERT_TRUE(consumer.ok()) << consumer.status();
  EXPECT_EQ(ReadAll(**consumer, 0), Range(0, 40));
  EXPECT_EQ(tiny_.faults->puts(), puts);  // it does not even try
}

TEST_F(ConsumerTest, PositionsOutsideTheMeshAreRefused) {
  ConsumerOptions options;
  options.dp_index = 2;
  EXPECT_EQ(Consumer::Open(tiny_.stream, options, tiny_.Soon()).status().reason(),
            Reason::kMeshMismatch);
  options.dp_index = 0;
  options.mesh = Mesh{4, 1};
  EXPECT_EQ(Consumer::Open(tiny_.stream, options, tiny_.Soon()).status().code(),
            Code::kFailedPrecondition);
}

TEST_F(ConsumerTest, MissingIndexPagesAreMadeFromTheLog) {
  WriteItems(0, 64, 3);
  Seal();
  std::vector<std::string> pages;
  for (uint64_t page = 0; page < 4; ++page) pages.push_back(IndexKey(kMainBranch, page));
  ASSERT_TRUE(tiny_.faults->Delete(pages, tiny_.Soon()).ok());
  EXPECT_EQ(ReadAll(*Open(0, 0), 0), Range(0, 64));
}

TEST_F(ConsumerTest, SmallStepsOfOneObjectAreReadTogether) {
  WriteItems(0, 200, 200);
  Seal();
  ConsumerOptions options;
  options.prefetch_steps = 64;
  options.fetches_max = 1;
  auto consumer = Open(0, 0, options);
  EXPECT_EQ(ReadAll(*consumer, 0).size(), 200u);
  EXPECT_LT(consumer->stats().requests, 100u);
}

TEST_F(ConsumerTest, ReadsAheadWithinItsBounds) {
  WriteItems(0, 50, 1);
  ConsumerOptions options;
  options.prefetch_steps = 3;
  options.fetches_max = 1;
  auto consumer = Open(0, 0, options);
  ASSERT_TRUE(consumer->Next(tiny_.Soon()).ok());
  const uint64_t frame = 64 + 192;  // about; what counts is the order of magnitude
  EXPECT_LE(consumer->stats().bytes_read, 50u * 1024 + 5 * frame);
}

TEST(BufferPoolTest, KeepsWhatFitsBesideWhatIsUsed) {
  BufferPool pool(1 << 20);
  {
    auto a = pool.Allocate(300000);
    auto b = pool.Allocate(300000);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data) % 64, 0u);
    EXPECT_NE(a.data, b.data);
  }
  EXPECT_GT(pool.bytes_kept(), 600000u);
  auto a = pool.Allocate(300000);
  EXPECT_LT(pool.bytes_kept(), 400000u);  // one came from the pool
  auto large = pool.Allocate(4 << 20);
  a = {};
  EXPECT_EQ(pool.bytes_kept(), 0u);  // no room beside the large one
}

TEST(BufferPoolTest, BlocksMayOutliveThePool) {
  BufferAllocator::Block block;
  {
    BufferPool pool(1 << 20);
    block = pool.Allocate(5000);
  }
  block.data[4999] = 1;
}

}  // namespace
}  // namespace lakestream

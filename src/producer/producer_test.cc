#include "lakestream/producer.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "manifest/keys.h"
#include "manifest/record.h"
#include "store/memory_store.h"
#include "tests/support/faulty_store.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::FaultyStore;
using testing_support::TinyStream;

ProducerOptions Options(const std::string& name) {
  ProducerOptions options;
  options.name = name;
  options.commit_interval = std::chrono::milliseconds(1);
  return options;
}

class ProducerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Producer> Open(const std::string& name) {
    auto producer = Producer::Open(tiny_.stream, Options(name), tiny_.Soon());
    EXPECT_TRUE(producer.ok()) << producer.status();
    return *std::move(producer);
  }
  Status Write(Producer& producer, int item) {
    return producer.Write(tiny_.MakeTgb(item), Str("cursor-", item), tiny_.Soon());
  }

  TinyStream tiny_;
};

TEST_F(ProducerTest, WhatWasFlushedIsCommittedWithItsState) {
  auto producer = Open("a");
  EXPECT_EQ(producer->recovered_state(), "");
  for (int item = 0; item < 5; ++item) ASSERT_TRUE(Write(*producer, item).ok());
  ASSERT_TRUE(producer->Flush(tiny_.Soon()).ok());
  EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(producer->stats().tgbs_committed, 5u);
  ASSERT_TRUE(producer->Close(tiny_.Soon()).ok());
  auto next = Open("a");
  EXPECT_EQ(next->recovered_state(), "cursor-4");
  EXPECT_EQ(next->recovered_tgbs(), 5u);
  EXPECT_GT(next->session(), producer->session());
}

TEST_F(ProducerTest, StatesTooLargeForARecordAreRecoveredFromTheDataObject) {
  const std::string large(100000, 's');
  auto producer = Open("a");
  ASSERT_TRUE(producer->Write(tiny_.MakeTgb(0), large, tiny_.Soon()).ok());
  ASSERT_TRUE(producer->Close(tiny_.Soon()).ok());
  EXPECT_EQ(Open("a")->recovered_state(), large);
  EXPECT_EQ(Open("a")->recovered_state(), large);  // also past a session that wrote nothing
}

TEST_F(ProducerTest, H22_ANewSessionFencesTheOlderOne) {
  auto older = Open("a");
  ASSERT_TRUE(Write(*older, 0).ok());
  ASSERT_TRUE(older->Flush(tiny_.Soon()).ok());
  auto newer = Open("a");
  (void)Write(*older, 1);
  Status fenced = older->Flush(tiny_.Soon());
  EXPECT_EQ(fenced.reason(), Reason::kSessionFenced) << fenced;
  EXPECT_EQ(Write(*older, 2).reason(), Reason::kSessionFenced);
  ASSERT_TRUE(Write(*newer, 1).ok());
  ASSERT_TRUE(newer->Close(tiny_.Soon()).ok());
  EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{0, 1}));
}

TEST_F(ProducerTest, TheLastDeclaredFinishSealsTheStream) {
  TinyStream declared({"a", "b"});
  tiny_ = std::move(declared);
  auto a = Open("a");
  auto b = Open("b");
  ASSERT_TRUE(Write(*a, 1).ok());
  ASSERT_TRUE(a->Finish(tiny_.Soon()).ok());
  EXPECT_FALSE(tiny_.HeadState().sealed);
  ASSERT_TRUE(b->Finish(tiny_.Soon()).ok());
  EXPECT_TRUE(tiny_.HeadState().sealed);
  auto late = Producer::Open(tiny_.stream, Options("a"), tiny_.Soon());
  EXPECT_EQ(late.status().reason(), Reason::kSealed);
  auto stranger = Producer::Open(tiny_.stream, Options("c"), tiny_.Soon());
  EXPECT_EQ(stranger.status().code(), Code::kInvalidArgument);
}

TEST_F(ProducerTest, WriteBlocksWhileTooMuchIsPending) {
  auto options = Options("a");
  options.pending_bytes_max = 1;  // one TGB at a time
  auto producer = Producer::Open(tiny_.stream, options, tiny_.Soon());
  ASSERT_TRUE(producer.ok());
  tiny_.faults->FailPuts("data/", UnavailableError("store is down"), 1000000);
  ASSERT_TRUE(Write(**producer, 0).ok());
  EXPECT_EQ((*producer)->Write(tiny_.MakeTgb(1), "", tiny_.In(20)).code(), Code::kDeadlineExceeded);
  tiny_.faults->Heal();
  ASSERT_TRUE(Write(**producer, 1).ok());
  ASSERT_TRUE((*producer)->Close(tiny_.Soon()).ok());
  EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{0, 1}));
}

TEST_F(ProducerTest, BadTgbsAreRefusedAndNothingElseHappens) {
  auto producer = Open("a");
  EXPECT_EQ(producer->Write(Tgb(Mesh{1, 1}), "", tiny_.Soon()).reason(), Reason::kMeshMismatch);
  EXPECT_EQ(producer->Write(Tgb(tiny_.stream->info().spec.mesh), "", tiny_.Soon()).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(
      producer->Write(tiny_.MakeTgb(0), std::string((1 << 20) + 1, 'x'), tiny_.Soon()).reason(),
      Reason::kTooLarge);
  ASSERT_TRUE(Write(*producer, 0).ok());
  ASSERT_TRUE(producer->Close(tiny_.Soon()).ok());
  EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{0}));
}

TEST_F(ProducerTest, C18_AFullDiskIsReportedAndARestartLosesNothing) {
  auto producer = Open("a");
  ASSERT_TRUE(Write(*producer, 0).ok());
  ASSERT_TRUE(producer->Flush(tiny_.Soon()).ok());
  tiny_.faults->FailPuts("data/", ResourceExhaustedError("no space left", Reason::kDiskFull), 1);
  (void)Write(*producer, 1);
  EXPECT_EQ(producer->Flush(tiny_.Soon()).reason(), Reason::kDiskFull);
  EXPECT_EQ(Write(*producer, 2).reason(), Reason::kDiskFull);
  auto next = Open("a");
  EXPECT_EQ(next->recovered_state(), "cursor-0");
  ASSERT_TRUE(Write(*next, 1).ok());
  ASSERT_TRUE(next->Close(tiny_.Soon()).ok());
  EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{0, 1}));
}

TEST_F(ProducerTest, SmallTgbsShareADataObjectAndOneCommit) {
  auto options = Options("a");
  options.commit_interval = std::chrono::hours(1);
  auto opened = Producer::Open(tiny_.stream, options, tiny_.Soon());
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE(Write(**opened, 0).ok());
  ASSERT_TRUE((*opened)->Flush(tiny_.Soon()).ok());  // the first goes at once
  const uint64_t puts = tiny_.faults->puts();
  for (int item = 1; item <= 50; ++item) ASSERT_TRUE(Write(**opened, item).ok());
  ASSERT_TRUE((*opened)->Flush(tiny_.Soon()).ok());
  EXPECT_LE(tiny_.faults->puts() - puts, 3u);  // one object, one record, perhaps the hint
  EXPECT_EQ(tiny_.ItemsInOrder().size(), 51u);
}

// C1, H1, H2, H4: the put of a record was applied, its answer was lost; with and without a later
// 412.
TEST_F(ProducerTest, C1_H1_ACommitWhoseAnswerWasLostCountsOnce) {
  for (int lost_answers : {1, 2, 3}) {
    tiny_ = TinyStream();
    auto producer = Open("a");
    tiny_.faults->LosePutAnswers("log/", lost_answers);
    for (int item = 0; item < 5; ++item) {
      ASSERT_TRUE(Write(*producer, item).ok());
      ASSERT_TRUE(producer->Flush(tiny_.Soon()).ok());
    }
    EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{0, 1, 2, 3, 4})) << lost_answers;
    EXPECT_EQ(producer->stats().commits, 6u);  // the open and five
    EXPECT_GE(producer->stats().undecided, static_cast<uint64_t>(lost_answers));
  }
}

// C2, H11, H12: 409 decides nothing; the slot does.
// Lets somebody else commit first, so often.
class RivalStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override {
    if (key.starts_with("log/") && rounds > 0 && rival) {
      --rounds;
      rival();
    }
    return ForwardingStore::Put(key, pieces, options, deadline);
  }
  std::function<void()> rival;
  int rounds = 0;
};

TEST_F(ProducerTest, C9_AProducerThatKeepsLosingUploadsItsDataOnce) {
  auto rival = Open("b");
  auto store = std::make_shared<RivalStore>(tiny_.faults);
  auto stream = Stream::Open(store, tiny_.runtime, tiny_.Soon());
  ASSERT_TRUE(stream.ok()) << stream.status();
  auto producer = Producer::Open(*stream, Options("a"), tiny_.Soon());
  ASSERT_TRUE(producer.ok()) << producer.status();
  constexpr int kRounds = 20;
  store->rival = [&] {
    ASSERT_TRUE(Write(*rival, 1000).ok());
    ASSERT_TRUE(rival->Flush(tiny_.Soon()).ok());
  };
  store->rounds = kRounds;
  ASSERT_TRUE(Write(**producer, 0).ok());
  ASSERT_TRUE((*producer)->Flush(tiny_.Soon()).ok());
  EXPECT_EQ((*producer)->stats().conflicts, static_cast<uint64_t>(kRounds));
  const auto data = tiny_.faults->List({.prefix = DataPrefix(kMainBranch)}, tiny_.Soon());
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->objects.size(), static_cast<size_t>(kRounds + 1));
}

TEST_F(ProducerTest, C2_H11_ConflictAnswersAreTriedAgain) {
  auto producer = Open("a");
  tiny_.faults->FailPuts("log/", UnavailableError("409", Reason::kConflict), 3);
  ASSERT_TRUE(Write(*producer, 0).ok());
  ASSERT_TRUE(producer->Flush(tiny_.Soon()).ok());
  EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{0}));
}

// C13: whichever put fails, data and producer state move together.
TEST_F(ProducerTest, C13_AnyFailingPutLeavesDataAndStateTogether) {
  for (int nth = 0; nth < 12; ++nth) {
    tiny_ = TinyStream();
    {
      auto producer = Open("a");
      tiny_.faults->FailNthPut(nth, ResourceExhaustedError("no space left", Reason::kDiskFull));
      for (int item = 0; item < 5; ++item) {
        if (!Write(*producer, item).ok()) break;
        (void)producer->Flush(tiny_.Soon());
      }
    }
    tiny_.faults->Heal();
    auto next = Open("a");
    const std::vector<int> items = tiny_.ItemsInOrder();
    const std::string last = items.empty() ? "" : Str("cursor-", items.back());
    EXPECT_EQ(next->recovered_state(), last) << nth;
    for (size_t i = 0; i < items.size(); ++i) EXPECT_EQ(items[i], static_cast<int>(i));
  }
}

}  // namespace
}  // namespace lakestream

// Reclamation: what goes, what stays, and when.
#include <gtest/gtest.h>

#include <set>

#include "lakestream/lifecycle.h"
#include "lakestream/producer.h"
#include "manifest/keys.h"
#include "store/local_store.h"
#include "store/memory_store.h"
#include "tests/support/dying_store.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/movable_clock.h"
#include "tests/support/scoped_dir.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::DyingStore;
using testing_support::MovableClock;
using testing_support::TinyStream;

constexpr Duration kGrace = std::chrono::minutes(10);
constexpr StreamSpec kSmall{.mesh = {1, 1},
                            .snapshot_interval = 4,
                            .index_page_steps = 4,
                            .reclaim_grace = std::chrono::minutes(10)};

class ReclaimTest : public testing::Test {
 protected:
  std::unique_ptr<Producer> Open(const std::string& name, std::shared_ptr<Stream> stream) {
    auto producer = Producer::Open(std::move(stream), {.name = name}, tiny_.Soon());
    EXPECT_TRUE(producer.ok()) << producer.status();
    return *std::move(producer);
  }
  // One commit and one data object for each item.
  void Write(int first, int last, std::shared_ptr<Stream> stream) {
    auto producer = Open("a", std::move(stream));
    for (int item = first; item < last; ++item) {
      // A state too large to travel in the record: it lies in the data object.
      ASSERT_TRUE(producer->Write(tiny_.MakeTgb(item), std::string(9000, 's'), tiny_.Soon()).ok());
      ASSERT_TRUE(producer->Flush(tiny_.Soon()).ok());
    }
    ASSERT_TRUE(producer->Close(tiny_.Soon()).ok());
  }
  void Write(int first, int last) { Write(first, last, tiny_.stream); }
  ReclaimReport Pass(const ReclaimOptions& options = {}) {
    auto report = Reclaim(*tiny_.stream, options, tiny_.Soon());
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : ReclaimReport{};
  }
  void TrimTo(Step step) { ASSERT_TRUE(Trim(*tiny_.stream, {.to = step}, tiny_.Soon()).ok()); }
  // Passes until the boundary has moved and done its work.
  ReclaimReport PassUntilDone() {
    ReclaimReport total;
    for (int i = 0; i < 3; ++i) {
      const ReclaimReport report = Pass();
      total.data_objects += report.data_objects;
      total.log_records += report.log_records;
      total.snapshots += report.snapshots;
      total.index_pages += report.index_pages;
      clock_->Advance(kGrace + std::chrono::seconds(1));
    }
    return total;
  }
  std::set<std::string> Keys(const std::string& prefix) {
    auto page = tiny_.faults->List({.prefix = prefix}, tiny_.Soon());
    std::set<std::string> keys;
    for (const ObjectInfo& object : page->objects) keys.insert(object.key);
    return keys;
  }

  const std::shared_ptr<MovableClock> clock_ = std::make_shared<MovableClock>();
  TinyStream tiny_{{}, kSmall, clock_};
};

TEST_F(ReclaimTest, WhatIsTrimmedGoesAfterTheGraceAndNothingElse) {
  Write(0, 20);
  clock_->Advance(kGrace * 2);
  TrimTo(10);
  const ReclaimReport first = Pass();  // moves the boundary
  EXPECT_EQ(first.removed(), 0u);
  EXPECT_GT(first.next_release_ms, 0);
  clock_->Advance(kGrace / 2);
  EXPECT_EQ(Pass().removed(), 0u);
  EXPECT_EQ(Keys(DataPrefix("main")).size(), 20u);
  clock_->Advance(kGrace);
  const ReclaimReport second = Pass();
  EXPECT_EQ(second.data_objects, 10u);
  EXPECT_EQ(second.index_pages, 2u);  // steps 0..7; the third page holds step 10
  EXPECT_GT(second.log_records, 0u);
  EXPECT_GT(second.snapshots, 0u);
  EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
  EXPECT_EQ(Pass().removed(), 0u);
  Write(20, 22);
  EXPECT_EQ(tiny_.ItemsInOrder().size(), 12u);
}

TEST_F(ReclaimTest, ADryRunSaysTheSameAndRemovesNothing) {
  Write(0, 20);
  TrimTo(10);
  Pass();
  clock_->Advance(kGrace * 2);
  const ReclaimReport dry = Pass({.dry_run = true});
  EXPECT_EQ(dry.data_objects, 10u);
  EXPECT_EQ(Keys(DataPrefix("main")).size(), 20u);
  const ReclaimReport real = Pass();
  EXPECT_EQ(real.data_objects, dry.data_objects);
  EXPECT_EQ(real.removed(), dry.removed());
}

TEST_F(ReclaimTest, ADryRunAlsoNamesWhatWouldBeEnded) {
  auto gone = Open("gone", tiny_.stream);
  const std::string key = DataKey("main", gone->session(), 0);
  ASSERT_TRUE(PutBytes(*tiny_.faults, key, AsBytes("abandoned"), {}, tiny_.Soon()).ok());
  ASSERT_TRUE(AttachRun(*tiny_.stream, {"train", "r1", 1, 0}, tiny_.Soon()).ok());
  clock_->Advance(std::chrono::hours(24 * 8));
  const ReclaimOptions options{.dry_run = true, .detach_after = std::chrono::hours(1)};
  const Version before = tiny_.HeadState().version;
  const std::vector<std::string> expected = {"session 1 of gone", "run r1 of job train"};
  EXPECT_EQ(Pass(options).ended, expected);
  EXPECT_EQ(tiny_.HeadState().version, before);
  EXPECT_EQ(Pass({.detach_after = std::chrono::hours(1)}).ended, expected);
}

TEST_F(ReclaimTest, WhatIsLeftToReclaimIsKnownAtEachPointOnTheWay) {
  Write(0, 20);
  const auto left = [&] {
    auto retention = GetRetention(*tiny_.stream, tiny_.Soon());
    EXPECT_TRUE(retention.ok()) << retention.status();
    return retention->reclaimable_steps;
  };
  clock_->Advance(kGrace * 2);
  EXPECT_EQ(left(), 0u);
  TrimTo(10);
  EXPECT_EQ(left(), 10u);
  EXPECT_EQ(Pass().waiting_steps, 10u);  // moves the boundary
  EXPECT_EQ(left(), 10u);
  clock_->Advance(kGrace * 2);
  EXPECT_EQ(left(), 10u);  // may go, but is still there
  TrimTo(13);
  EXPECT_EQ(left(), 13u);
  EXPECT_EQ(Pass().waiting_steps, 3u);  // removes ten
  EXPECT_EQ(left(), 3u);
  ASSERT_TRUE(CreateBranch(*tiny_.stream, "exp", 15, tiny_.Soon()).ok());
  TrimTo(18);
  EXPECT_EQ(left(), 6u);  // 10..12 and 15..17: the branch keeps 13 and 14
  PassUntilDone();
  PassUntilDone();
  EXPECT_EQ(left(), 0u);
  const auto retention = GetRetention(*tiny_.stream, tiny_.Soon());
  EXPECT_EQ(retention->released_step, 18u);
  ASSERT_EQ(retention->branches.size(), 1u);
  EXPECT_EQ(retention->branches[0].trim_step, 13u);
  EXPECT_EQ(retention->branches[0].next_step, 15u);
}

// Objects go as a whole.
TEST_F(ReclaimTest, StepsThatShareAnObjectWithOneThatStaysAreNotCountedAsReclaimable) {
  // While the first upload is tried again, the others gather.
  tiny_.faults->FailPuts("data/", UnavailableError("503"), 2);
  auto producer =
      Producer::Open(tiny_.stream, {.name = "a", .uploads_max = 1}, tiny_.Soon()).value();
  for (int item = 0; item < 11; ++item) {
    ASSERT_TRUE(producer->Write(tiny_.MakeTgb(item), "", tiny_.Soon()).ok());
  }
  ASSERT_TRUE(producer->Close(tiny_.Soon()).ok());
  const std::vector<PlacedEntry> tail = tiny_.HeadState().tail;
  const auto shared = std::find_if(tail.begin(), tail.end(),
                                   [](const auto& placed) { return placed.entry.tgb_count() > 1; });
  ASSERT_TRUE(shared != tail.end());
  TrimTo(shared->first_step + 1);
  EXPECT_EQ(GetRetention(*tiny_.stream, tiny_.Soon())->reclaimable_steps, shared->first_step);
}

TEST_F(ReclaimTest, TheStateOfAProducerOutlivesTheStepsThatCarriedIt) {
  Write(0, 8);
  TrimTo(8);
  PassUntilDone();
  EXPECT_EQ(Keys(DataPrefix("main")).size(), 1u);  // the object that holds the state
  auto again = Open("a", tiny_.stream);
  EXPECT_EQ(again->recovered_state(), std::string(9000, 's'));
  EXPECT_EQ(again->recovered_tgbs(), 8u);
}

TEST_F(ReclaimTest, C10_H28_AnUploadOfACurrentSessionStaysHoweverOld) {
  Write(0, 2);
  auto slow = Open("slow", tiny_.stream);
  const std::string key = DataKey("main", slow->session(), 0);
  ASSERT_TRUE(PutBytes(*tiny_.faults, key, AsBytes("uploaded"), {}, tiny_.Soon()).ok());
  for (int i = 0; i < 30; ++i) {
    clock_->Advance(std::chrono::hours(1));
    EXPECT_EQ(Pass().data_objects, 0u);
  }
  EXPECT_TRUE(tiny_.faults->Head(key, tiny_.Soon()).ok());
}

TEST_F(ReclaimTest, H23_AnUploadOfASupersededSessionGoes) {
  Write(0, 2);
  const SessionId first = Open("p", tiny_.stream)->session();
  const std::string key = DataKey("main", first, 0);
  ASSERT_TRUE(PutBytes(*tiny_.faults, key, AsBytes("orphan"), {}, tiny_.Soon()).ok());
  clock_->Advance(kGrace * 2);
  EXPECT_EQ(Pass().data_objects, 0u);  // still current: it may publish it
  Open("p", tiny_.stream);
  EXPECT_EQ(Pass().data_objects, 1u);
  EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{0, 1}));
}

TEST_F(ReclaimTest, ASessionThatNeverReturnsIsFencedThenCollected) {
  auto gone = Open("gone", tiny_.stream);
  const std::string key = DataKey("main", gone->session(), 0);
  ASSERT_TRUE(PutBytes(*tiny_.faults, key, AsBytes("abandoned"), {}, tiny_.Soon()).ok());
  clock_->Advance(std::chrono::hours(24 * 8));
  const ReclaimReport fencing = Pass();
  EXPECT_EQ(fencing.data_objects, 0u);
  EXPECT_EQ(fencing.ended, (std::vector<std::string>{"session 1 of gone"}));
  EXPECT_EQ(Pass().data_objects, 1u);
  // Had it only slept: it is told, and nothing of it counts.
  ASSERT_TRUE(gone->Write(tiny_.MakeTgb(1), "", tiny_.Soon()).ok());
  EXPECT_EQ(gone->Flush(tiny_.Soon()).reason(), Reason::kSessionFenced);
}

TEST_F(ReclaimTest, ABranchKeepsWhatItSharesUntilItIsDeleted) {
  Write(0, 20);
  ASSERT_TRUE(CreateBranch(*tiny_.stream, "exp", 12, tiny_.Soon()).ok());
  auto branch = Stream::Open(tiny_.faults, tiny_.runtime, tiny_.Soon(), "exp");
  Write(100, 103, *branch);
  TrimTo(18);
  PassUntilDone();
  EXPECT_EQ(Keys(DataPrefix("main")).size(), 14u);  // the branch needs steps 0..11, main 18 and 19
  ASSERT_TRUE(Trim(**branch, {.to = 8}, tiny_.Soon()).ok());
  PassUntilDone();
  PassUntilDone();
  EXPECT_EQ(Keys(DataPrefix("main")).size(), 6u);  // steps 8..11 and 18, 19
  ASSERT_TRUE(DeleteBranch(*tiny_.stream, "exp", tiny_.Soon()).ok());
  PassUntilDone();
  PassUntilDone();
  EXPECT_EQ(Keys(DataPrefix("main")).size(), 2u);
  EXPECT_TRUE(Keys(DataPrefix("exp")).empty());
  EXPECT_TRUE(Keys(LogPrefix("exp")).empty());
  EXPECT_TRUE(Keys("index/exp/").empty());
  EXPECT_TRUE(Keys("head/exp").empty());
  EXPECT_TRUE(tiny_.HeadState().branches.empty());
  EXPECT_EQ(tiny_.ItemsInOrder(), (std::vector<int>{18, 19}));
}

// Found by tests/chaos: such a branch made every later pass fail, for all branches.
TEST_F(ReclaimTest, ADeletionThatDiedBehindItsCommitIsCompletedByAPass) {
  Write(0, 4);
  ASSERT_TRUE(CreateBranch(*tiny_.stream, "exp", 4, tiny_.Soon()).ok());
  auto exp = *Stream::Open(tiny_.faults, clock_, tiny_.Soon(), "exp");
  Write(4, 6, exp);
  tiny_.faults->FailPuts("boundary/exp", PermissionDeniedError("as good as dead"), 1);
  ASSERT_FALSE(DeleteBranch(*tiny_.stream, "exp", tiny_.Soon()).ok());
  for (int pass = 0; pass < 3; ++pass) {
    Pass();
    clock_->Advance(kGrace + std::chrono::seconds(1));
  }
  EXPECT_TRUE(Keys("data/exp/").empty());
  EXPECT_TRUE(Keys("log/exp/").empty());
}

TEST_F(ReclaimTest, H33_ACrashAtAnyRequestOfAPassLosesNothingAndTheNextOneGoesOn) {
  bool survived = false;
  for (int requests = 0; !survived; ++requests) {
    TinyStream tiny({}, kSmall, clock_);
    auto producer = Producer::Open(tiny.stream, {.name = "a"}, tiny.Soon());
    for (int item = 0; item < 14; ++item) {
      ASSERT_TRUE((*producer)->Write(tiny.MakeTgb(item), "", tiny.Soon()).ok());
      ASSERT_TRUE((*producer)->Flush(tiny.Soon()).ok());
    }
    ASSERT_TRUE((*producer)->Close(tiny.Soon()).ok());
    ASSERT_TRUE(Trim(*tiny.stream, {.to = 9}, tiny.Soon()).ok());
    const auto dying = std::make_shared<DyingStore>(tiny.faults, requests);
    for (int pass = 0; pass < 2; ++pass) {
      auto stream = Stream::Open(dying, tiny.runtime, tiny.Soon());
      if (stream.ok()) (void)Reclaim(**stream, {}, tiny.Soon());
      clock_->Advance(kGrace * 2);
    }
    survived = !dying->died();
    EXPECT_EQ(tiny.ItemsInOrder(), (std::vector<int>{9, 10, 11, 12, 13})) << requests;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(Reclaim(*tiny.stream, {}, tiny.Soon()).ok());
      clock_->Advance(kGrace * 2);
    }
    EXPECT_EQ(tiny.ItemsInOrder(), (std::vector<int>{9, 10, 11, 12, 13})) << requests;
    auto left = tiny.faults->List({.prefix = DataPrefix("main")}, tiny.Soon());
    EXPECT_EQ(left->objects.size(), 5u) << requests;
  }
}

TEST_F(ReclaimTest, H34_AbandonedUploadsAreEndedAndLivingOnesAreNot) {
  Write(0, 2);
  const auto begin = [&](const std::string& key) {
    auto upload = tiny_.faults->StartUpload(key, tiny_.Soon());
    const ConstBytes piece = AsBytes("part");
    EXPECT_TRUE((*upload)->PutPart(1, {&piece, 1}, tiny_.Soon()).ok());
    return *std::move(upload);
  };
  const auto crashed = begin("data/main/00000001-7.tgb");
  const auto on_branch = begin("data/gone/00000001-7.tgb");
  const auto foreign = begin("elsewhere");
  clock_->Advance(std::chrono::hours(24));
  const auto living = begin("data/main/00000001-8.tgb");
  EXPECT_EQ(Pass({.abandon_after = std::chrono::hours(25)}).uploads, 0u);
  clock_->Advance(std::chrono::seconds(1));
  EXPECT_EQ(Pass({.dry_run = true}).uploads, 2u);
  EXPECT_EQ(Pass().uploads, 2u);
  EXPECT_EQ(Pass().uploads, 0u);
  EXPECT_EQ(crashed->Complete(tiny_.Soon()).status().code(), Code::kNotFound);
  EXPECT_TRUE(living->Complete(tiny_.Soon()).ok());
  EXPECT_TRUE(foreign->Complete(tiny_.Soon()).ok());
}

TEST_F(ReclaimTest, AStoreThatCannotListUploadsIsReclaimedAllTheSame) {
  class WithoutUploadListing final : public ForwardingStore {
   public:
    using ForwardingStore::ForwardingStore;
    Result<uint64_t> AbortStaleUploads(const StaleUploadOptions&, const Deadline&) override {
      return UnimplementedError("not here");
    }
  };
  Write(0, 8);
  TrimTo(4);
  Pass();
  clock_->Advance(kGrace * 2);
  auto stream = Stream::Open(std::make_shared<WithoutUploadListing>(tiny_.faults), tiny_.runtime,
                             tiny_.Soon());
  const auto report = Reclaim(**stream, {}, tiny_.Soon());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->data_objects, 4u);
}

// D4: ages are told by the store's clock alone. Here a reclaimer's own clocks are weeks ahead.
TEST(ReclaimClockTest, H29_H57_AClientWhoseClockIsWrongDeletesNothingEarly) {
  const ScopedDir dir;
  const auto wrong = std::make_shared<MovableClock>();
  wrong->Advance(std::chrono::hours(24 * 30));
  std::shared_ptr<ObjectStore> store = *LocalStore::Open(dir.path(), {.fsync = false}, wrong);
  TinyStream tiny({}, kSmall, wrong, store);
  auto producer = Producer::Open(tiny.stream, {.name = "a"}, tiny.Soon());
  for (int item = 0; item < 14; ++item) {
    ASSERT_TRUE((*producer)->Write(tiny.MakeTgb(item), "", tiny.Soon()).ok());
    ASSERT_TRUE((*producer)->Flush(tiny.Soon()).ok());
  }
  ASSERT_TRUE(Trim(*tiny.stream, {.to = 9}, tiny.Soon()).ok());
  const std::string pending = DataKey("main", (*producer)->session(), 99);
  ASSERT_TRUE(PutBytes(*store, pending, AsBytes("uploaded"), {}, tiny.Soon()).ok());
  for (int pass = 0; pass < 3; ++pass) {
    const auto report = Reclaim(*tiny.stream, {}, tiny.Soon());
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->removed(), 0u);
    EXPECT_EQ(report->uploads, 0u);
    EXPECT_TRUE(report->ended.empty());
    wrong->Advance(std::chrono::hours(24 * 30));  // it even jumps
  }
}

// A store that cannot compare and swap.
class NoSwapStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  StoreCapabilities capabilities() const override {
    StoreCapabilities capabilities = ForwardingStore::capabilities();
    capabilities.put_if_match = false;
    return capabilities;
  }
};

TEST(ReclaimStoreTest, H32_WithoutCompareAndSwapNothingIsReclaimedAndCommitsGoOn) {
  testing_support::TinyStream tiny(
      {}, {.mesh = {2, 1}}, RealRuntime(),
      std::make_shared<NoSwapStore>(std::make_shared<MemoryStore>(RealRuntime(), "no-swap")));
  auto producer = Producer::Open(tiny.stream, {.name = "a"}, tiny.Soon());
  ASSERT_TRUE(producer.ok()) << producer.status();
  ASSERT_TRUE((*producer)->Write(tiny.MakeTgb(0), "", tiny.Soon()).ok());
  const auto refused = Reclaim(*tiny.stream, {}, tiny.Soon());
  EXPECT_EQ(refused.status().reason(), Reason::kUnsafeStore) << refused.status();
  ASSERT_TRUE((*producer)->Close(tiny.Soon()).ok());
  EXPECT_EQ(tiny.ItemsInOrder(), std::vector<int>{0});
}

TEST_F(ReclaimTest, PartsAndWatermarksOfThePastGo) {
  Write(0, 4);
  SaveCheckpointOptions part{.name = "c", .step = 2, .parts = 2, .part = 0, .attempt = "x"};
  ASSERT_FALSE(SaveCheckpoint(*tiny_.stream, part, tiny_.Soon()).value());
  clock_->Advance(kGrace * 2);
  Pass();
  EXPECT_EQ(Keys("part/").size(), 1u);  // pending: it may still be completed
  part.part = 1;
  ASSERT_TRUE(SaveCheckpoint(*tiny_.stream, part, tiny_.Soon()).value());
  Pass();
  EXPECT_TRUE(Keys("part/").empty());
  EXPECT_TRUE(FindCheckpoint(*tiny_.stream, "c", tiny_.Soon()).ok());
  part = {.name = "torn", .step = 3, .parts = 2, .part = 0, .attempt = "x"};
  ASSERT_FALSE(SaveCheckpoint(*tiny_.stream, part, tiny_.Soon()).value());
  clock_->Advance(std::chrono::hours(25));
  EXPECT_EQ(Pass().ended, (std::vector<std::string>{"pending checkpoint torn"}));
  clock_->Advance(kGrace * 2);
  Pass();
  EXPECT_TRUE(Keys("part/").empty());
}

TEST_F(ReclaimTest, ADeadJobIsDetachedByRuleAndSaysSo) {
  Write(0, 4);
  ASSERT_TRUE(AttachRun(*tiny_.stream, {"train", "r1", 1, 0}, tiny_.Soon()).ok());
  clock_->Advance(std::chrono::hours(2));
  EXPECT_TRUE(Pass({.detach_after = std::chrono::hours(3)}).ended.empty());
  clock_->Advance(std::chrono::hours(2));
  EXPECT_EQ(Pass({.detach_after = std::chrono::hours(3)}).ended,
            (std::vector<std::string>{"run r1 of job train"}));
  EXPECT_TRUE(ListRuns(*tiny_.stream, tiny_.Soon())->empty());
}

// Two jobs may name their runs alike.
TEST_F(ReclaimTest, OnlyTheDeadJobIsDetachedNotALivingOneWithARunOfTheSameName) {
  Write(0, 4);
  ASSERT_TRUE(AttachRun(*tiny_.stream, {"dead", "r1", 1, 0}, tiny_.Soon()).ok());
  clock_->Advance(std::chrono::hours(4));
  ASSERT_TRUE(AttachRun(*tiny_.stream, {"alive", "r1", 1, 0}, tiny_.Soon()).ok());
  EXPECT_EQ(Pass({.detach_after = std::chrono::hours(3)}).ended,
            (std::vector<std::string>{"run r1 of job dead"}));
  ASSERT_EQ(ListRuns(*tiny_.stream, tiny_.Soon())->size(), 1u);
}

}  // namespace
}  // namespace lakestream

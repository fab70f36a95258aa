#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/text.h"
#include "ledger/committer.h"
#include "ledger/housekeeping.h"
#include "ledger/step_index.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::TinyStream;

constexpr StreamSpec kSmall{.mesh = {1, 1}, .snapshot_interval = 4, .index_page_steps = 4};

// A writer that commits entries of made-up data objects.
class Writer {
 public:
  explicit Writer(TinyStream& tiny, bool keeps_house = true)
      : tiny_(tiny),
        follower({*tiny.faults, *tiny.runtime, tiny.stream->info()}),
        committer(follower),
        housekeeping(follower),
        keeps_house_(keeps_house) {
    follower.set_observer(
        [this](const ReadRecord&, const State& state, const std::vector<IndexPage>& pages) {
          housekeeping.OnFolded(state, pages);
        });
    EXPECT_TRUE(follower.Start(tiny.Soon()).ok());
  }

  Status Commit(const Committer::Planner& planner) { return Commit(planner, tiny_.Soon()); }
  Status Commit(const Committer::Planner& planner, const Deadline& deadline) {
    const Status status = committer.Commit(planner, deadline).status();
    if (keeps_house_) housekeeping.AfterCommits(committer.TakeOwnVersions(), deadline);
    return status;
  }
  Status Open(const std::string& name) {
    return Commit([&](const State& state) -> Result<std::vector<Change>> {
      const auto row = state.rows.find(name);
      return std::vector<Change>{
          OpenChange{name, row == state.rows.end() ? 0 : row->second.session}};
    });
  }
  // Publishes `tgbs` steps of the producer's current session.
  Status Publish(const std::string& name, uint32_t tgbs) {
    return Commit([&](const State& state) -> Result<std::vector<Change>> {
      const ProducerRow& row = state.rows.at(name);
      Entry entry;
      entry.session = row.session;
      entry.object = static_cast<uint32_t>(row.next_sequence);
      entry.first_sequence = row.next_sequence;
      entry.layout = {tgbs, {{tgbs, 2}}};
      entry.object_bytes = 1024;
      return std::vector<Change>{PublishChange{entry}};
    });
  }

 private:
  TinyStream& tiny_;

 public:
  Follower follower;
  Committer committer;
  Housekeeping housekeeping;

 private:
  const bool keeps_house_;
};

State ColdState(TinyStream& tiny) { return tiny.HeadState(); }

TEST(CommitterTest, AnotherWritersSlotIsLostAndPlannedAnew) {
  TinyStream tiny({}, kSmall);
  Writer first(tiny);
  Writer second(tiny);
  ASSERT_TRUE(first.Open("a").ok());
  ASSERT_TRUE(second.Open("b").ok());
  EXPECT_EQ(second.committer.stats().conflicts, 1u);
  EXPECT_EQ(second.follower.state().version, 2u);
  EXPECT_EQ(ColdState(tiny), second.follower.state());
}

// H5: the put timed out and the slot looks empty; the write may still land, so the slot is kept.
TEST(CommitterTest, H5_AnUndecidedSlotIsDecidedBeforeAnythingElse) {
  TinyStream tiny({}, kSmall);
  Writer writer(tiny);
  ASSERT_TRUE(writer.Open("a").ok());
  tiny.faults->FailPuts("log/", UnknownOutcomeError("timed out"), 1000000);
  EXPECT_EQ(writer
                .Commit(
                    [](const State& s) -> Result<std::vector<Change>> {
                      Entry entry;
                      entry.session = s.rows.at("a").session;
                      entry.layout = {1, {{1, 2}}};
                      return std::vector<Change>{PublishChange{entry}};
                    },
                    tiny.In(60))
                .code(),
            Code::kUnknownOutcome);
  tiny.faults->Heal();
  // The next call wants something else, but first completes what was undecided, in its slot.
  ASSERT_TRUE(writer.Publish("a", 1).ok());
  EXPECT_EQ(writer.follower.state().next_step, 2u);
  EXPECT_EQ(ColdState(tiny).rows.at("a").next_sequence, 2u);
}

// H2: the own put was applied and unanswered, then others committed; the slot, not the head, says
// whose it is.
TEST(CommitterTest, H2_AnOwnRecordIsFoundBehindOthers) {
  TinyStream tiny({}, kSmall);
  Writer writer(tiny);
  Writer others(tiny);
  ASSERT_TRUE(writer.Open("a").ok());
  // The put is applied, its answer is lost, and the slot cannot be read for a while.
  tiny.faults->LosePutAnswers("log/", 1);
  tiny.faults->FailGets("log/", UnavailableError("503"), 1000000);
  EXPECT_EQ(writer
                .Commit(
                    [](const State& s) -> Result<std::vector<Change>> {
                      Entry entry;
                      entry.session = s.rows.at("a").session;
                      entry.layout = {1, {{1, 2}}};
                      return std::vector<Change>{PublishChange{entry}};
                    },
                    tiny.In(60))
                .code(),
            Code::kUnknownOutcome);
  tiny.faults->Heal();
  ASSERT_TRUE(others.Open("b").ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(others.Publish("b", 1).ok());
  // H10: the next plan asks for what is still to be done, and only that goes to another slot.
  int planned_with_first_one_pending = 0;
  ASSERT_TRUE(writer
                  .Commit([&](const State& s) -> Result<std::vector<Change>> {
                    planned_with_first_one_pending += s.rows.at("a").next_sequence == 0;
                    return std::vector<Change>();
                  })
                  .ok());
  EXPECT_EQ(planned_with_first_one_pending, 0);
  ASSERT_TRUE(writer.Publish("a", 1).ok());
  const State state = ColdState(tiny);
  EXPECT_EQ(state.rows.at("a").next_sequence, 2u);
  EXPECT_EQ(state.next_step, 5u);
}

TEST(CommitterTest, AFailureThatIsSureIsReturned) {
  TinyStream tiny({}, kSmall);
  Writer writer(tiny);
  tiny.faults->FailPuts("log/", PermissionDeniedError("no right to write"), 1);
  EXPECT_EQ(writer.Open("a").code(), Code::kPermissionDenied);
  ASSERT_TRUE(writer.Open("a").ok());
}

// H48: a store that never accepts: the error comes when time is up, and says what was tried.
TEST(CommitterTest, H48_AStoreThatNeverDecidesEndsAtTheDeadline) {
  TinyStream tiny({}, kSmall);
  Writer writer(tiny);
  tiny.faults->FailPuts("log/", UnavailableError("503", Reason::kThrottled), 1000000);
  const Status status = writer.Commit(
      [](const State&) {
        return std::vector<Change>{OpenChange{"a", 0}};
      },
      tiny.In(50));
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status;
  EXPECT_LT(writer.committer.stats().attempts, 40u);  // pauses grow (C6)
}

// C6: many writers on one log; every commit lands once, and attempts stay bounded.
TEST(CommitterTest, C6_ContendingWritersAllGetThrough) {
  TinyStream tiny({}, {.mesh = {1, 1}, .snapshot_interval = 16, .index_page_steps = 16});
  constexpr int kWriters = 8;
  constexpr int kCommits = 10;
  std::vector<std::unique_ptr<Thread>> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.push_back(tiny.runtime->Spawn("writer", [&tiny, w] {
      Writer writer(tiny);
      const std::string name = Str("p", w);
      ASSERT_TRUE(writer.Open(name).ok());
      for (int i = 0; i < kCommits; ++i) ASSERT_TRUE(writer.Publish(name, 1).ok());
    }));
  }
  for (auto& thread : threads) thread->Join();
  const State state = ColdState(tiny);
  EXPECT_EQ(state.version, static_cast<Version>(kWriters * (kCommits + 1)));
  for (int w = 0; w < kWriters; ++w) EXPECT_EQ(state.rows.at(Str("p", w)).next_sequence, 10u);
}

TEST(FollowerTest, H35_AColdStartFindsTheHeadWhateverTheHintSays) {
  for (int hint = 0; hint < 5; ++hint) {
    TinyStream tiny({}, kSmall);
    Writer writer(tiny);
    ASSERT_TRUE(writer.Open("a").ok());
    for (int i = 0; i < 150; ++i) ASSERT_TRUE(writer.Publish("a", 1).ok());
    const std::string key = HeadKey(kMainBranch);
    const std::vector<std::string> keys = {key};
    ASSERT_TRUE(tiny.faults->Delete(keys, tiny.Soon()).ok());
    std::vector<uint8_t> bytes;
    if (hint == 1) bytes = EncodeHeadHint(1);
    if (hint == 2) bytes = EncodeHeadHint(1000000);
    if (hint == 3) bytes = {1, 2, 3};
    if (hint == 4) bytes = EncodeHeadHint(UINT64_MAX);
    if (hint > 0) {
      ASSERT_TRUE(PutBytes(*tiny.faults, key, bytes, {}, tiny.Soon()).ok());
    }
    const uint64_t reads = tiny.faults->reads();
    EXPECT_EQ(ColdState(tiny), writer.follower.state()) << hint;
    // H35: about 2 log2(n) probes, a snapshot, and the records behind it.
    EXPECT_LE(tiny.faults->reads() - reads, 2 * 8 + 1 + 2 * kSmall.snapshot_interval + 20u) << hint;
  }
}

TEST(FollowerTest, StartIsCheapWithAFreshHint) {
  uint64_t reads_small = 0;
  for (int commits : {20, 500}) {
    TinyStream tiny({}, {.mesh = {1, 1}, .snapshot_interval = 16, .index_page_steps = 16});
    Writer writer(tiny);
    ASSERT_TRUE(writer.Open("a").ok());
    while (writer.follower.state().version % 16 != 3 ||
           writer.follower.state().version < static_cast<Version>(commits)) {
      ASSERT_TRUE(writer.Publish("a", 1).ok());
    }
    writer.housekeeping.WriteHint(writer.follower.state().version, true, tiny.Soon());
    const uint64_t reads = tiny.faults->reads();
    EXPECT_EQ(ColdState(tiny).version, writer.follower.state().version);
    const uint64_t used = tiny.faults->reads() - reads;
    if (reads_small == 0) reads_small = used;
    EXPECT_LE(used, reads_small + 4);
  }
}

TEST(FollowerTest, ADamagedSnapshotIsPassedOver) {
  TinyStream tiny({}, kSmall);
  Writer writer(tiny);
  ASSERT_TRUE(writer.Open("a").ok());
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(writer.Publish("a", 1).ok());
  const Version newest = writer.follower.state().version / 4 * 4;
  ASSERT_TRUE(
      PutBytes(*tiny.faults, SnapshotKey(kMainBranch, newest), AsBytes("rubbish"), {}, tiny.Soon())
          .ok());
  EXPECT_EQ(ColdState(tiny), writer.follower.state());
  // All of them lost: the log alone says everything.
  for (Version v = 4; v <= newest; v += 4) {
    const std::vector<std::string> keys = {SnapshotKey(kMainBranch, v)};
    ASSERT_TRUE(tiny.faults->Delete(keys, tiny.Soon()).ok());
  }
  EXPECT_EQ(ColdState(tiny), writer.follower.state());
}

TEST(FollowerTest, ADamagedRecordStopsTheReaderWithItsName) {
  TinyStream tiny({}, {.mesh = {1, 1}, .snapshot_interval = 64, .index_page_steps = 4});
  Writer writer(tiny);
  ASSERT_TRUE(writer.Open("a").ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(writer.Publish("a", 1).ok());
  tiny.faults->CorruptGets(LogKey(kMainBranch, 3), 1000);
  Follower follower({*tiny.faults, *tiny.runtime, tiny.stream->info()});
  const Status status = follower.Start(tiny.Soon());
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_NE(status.message().find(LogKey(kMainBranch, 3)), std::string::npos);
}

// H15: the store let two writers create one version; whoever saw the other one notices.
TEST(FollowerTest, H15_ARewrittenVersionBreaksTheChain) {
  TinyStream tiny({}, kSmall);
  Writer writer(tiny);
  ASSERT_TRUE(writer.Open("a").ok());
  Follower witness({*tiny.faults, *tiny.runtime, tiny.stream->info()});
  ASSERT_TRUE(witness.Start(tiny.Soon()).ok());
  const std::vector<std::string> keys = {LogKey(kMainBranch, 1)};
  ASSERT_TRUE(tiny.faults->Delete(keys, tiny.Soon()).ok());
  Writer other(tiny);
  ASSERT_TRUE(other.Open("b").ok());
  ASSERT_TRUE(other.Publish("b", 1).ok());
  const Status status = witness.CatchUp(tiny.Soon());
  EXPECT_EQ(status.reason(), Reason::kHistoryChanged) << status;
}

TEST(HousekeepingTest, SnapshotsAndPagesArePureFunctionsOfTheLog) {
  TinyStream tiny({}, kSmall);
  Writer writer(tiny);
  ASSERT_TRUE(writer.Open("a").ok());
  std::map<Version, State> states;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(writer.Publish("a", 1 + i % 3).ok());
    states[writer.follower.state().version] = writer.follower.state();
  }
  for (Version v = 4; v <= writer.follower.state().version; v += 4) {
    auto bytes = GetBytes(*tiny.faults, SnapshotKey(kMainBranch, v), tiny.Soon());
    ASSERT_TRUE(bytes.ok()) << v << bytes.status();
    if (states.contains(v)) {
      EXPECT_EQ(DecodeSnapshot(tiny.stream->info(), bytes->bytes()).value(), states[v]);
    }
  }
  for (uint64_t page = 0; page < writer.follower.state().next_step / 4; ++page) {
    auto bytes = GetBytes(*tiny.faults, IndexKey(kMainBranch, page), tiny.Soon());
    ASSERT_TRUE(bytes.ok()) << page << bytes.status();
    auto built =
        BuildIndexPage(writer.follower.context(), writer.follower.state(), {}, page, tiny.Soon());
    ASSERT_TRUE(built.ok()) << built.status();
    EXPECT_EQ(DecodeIndexPage(tiny.stream->info(), page, bytes->bytes()).value(), *built);
  }
}

TEST(HousekeepingTest, WhatADeadCommitterLeftOutTheNextOneWrites) {
  TinyStream tiny({}, kSmall);
  {
    Writer careless(tiny, /*keeps_house=*/false);
    ASSERT_TRUE(careless.Open("a").ok());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(careless.Publish("a", 1).ok());
  }
  Writer careful(tiny);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(careful.Publish("a", 1).ok());
  std::set<Version> missing;
  for (Version v = 4; v <= careful.follower.state().version; v += 4) {
    if (!tiny.faults->Head(SnapshotKey(kMainBranch, v), tiny.Soon()).ok()) missing.insert(v);
  }
  EXPECT_TRUE(missing.empty());
  for (uint64_t page = 0; page < careful.follower.state().next_step / 4; ++page) {
    EXPECT_TRUE(tiny.faults->Head(IndexKey(kMainBranch, page), tiny.Soon()).ok()) << page;
  }
}

// H40: a snapshot that differs is never overwritten.
TEST(HousekeepingTest, H40_DifferentBytesAreReportedAndStay) {
  TinyStream tiny({}, kSmall);
  int errors = 0;
  auto runtime =
      RealRuntime([&](LogLevel level, std::string_view) { errors += level == LogLevel::kError; });
  ASSERT_TRUE(
      PutBytes(*tiny.faults, SnapshotKey(kMainBranch, 4), AsBytes("other"), {}, tiny.Soon()).ok());
  tiny.runtime = runtime;
  Writer writer(tiny);
  ASSERT_TRUE(writer.Open("a").ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer.Publish("a", 1).ok());
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(GetBytes(*tiny.faults, SnapshotKey(kMainBranch, 4), tiny.Soon())->text(), "other");
}

TEST(StepIndexTest, FindsEveryStepAndNoLaterOne) {
  TinyStream tiny({}, kSmall);
  Writer writer(tiny);
  ASSERT_TRUE(writer.Open("a").ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(writer.Publish("a", 1 + i % 5).ok());
  StepIndex index(writer.follower);
  const Step end = writer.follower.state().next_step;
  Step from_row = 0;
  for (Step step = 0; step < end; ++step) {
    auto place = index.Locate(step, tiny.Soon());
    ASSERT_TRUE(place.ok()) << place.status();
    EXPECT_EQ(place->entry->first_sequence + place->tgb_ordinal, from_row++);
  }
  EXPECT_EQ(index.Locate(end, tiny.Soon()).status().reason(), Reason::kStepNotYet);
}

}  // namespace
}  // namespace lakestream

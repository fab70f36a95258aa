#include <gtest/gtest.h>

#include "base/text.h"
#include "lakestream/admin.h"
#include "lakestream/lifecycle.h"
#include "lakestream/producer.h"
#include "manifest/frame.h"
#include "tests/support/movable_clock.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::TinyStream;

// A stream of 20 steps in several objects and versions, with snapshots and pages; each test damages
// one thing.
class VerifyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ProducerOptions options;
    options.name = "a";
    auto producer = Producer::Open(tiny_.stream, options, tiny_.Soon());
    ASSERT_TRUE(producer.ok()) << producer.status();
    for (int item = 0; item < 20; ++item) {
      ASSERT_TRUE(
          (*producer)->Write(tiny_.MakeTgb(item), std::string(3000, 's'), tiny_.Soon()).ok());
      if (item % 2 == 1) {
        ASSERT_TRUE((*producer)->Flush(tiny_.Soon()).ok());
      }
    }
    ASSERT_TRUE((*producer)->Close(tiny_.Soon()).ok());
    Follower follower({*tiny_.faults, *tiny_.runtime, tiny_.stream->info()});
    ASSERT_TRUE(follower.Start(tiny_.Soon()).ok());
    StepIndex index(follower);
    place_ = index.Locate(6, tiny_.Soon()).value();
    object_ = DataKey(kMainBranch, place_.entry->session, place_.entry->object);
  }

  VerifyReport Verified() {
    auto report = Verify(*tiny_.stream, {}, tiny_.Soon());
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : VerifyReport();
  }
  std::vector<uint8_t> Bytes(const std::string& key) {
    auto bytes = GetBytes(*tiny_.faults, key, tiny_.Soon());
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    return {bytes->bytes().begin(), bytes->bytes().end()};
  }
  void Store(const std::string& key, ConstBytes bytes) {
    ASSERT_TRUE(PutBytes(*tiny_.faults, key, bytes, {}, tiny_.Soon()).ok());
  }
  void Flip(const std::string& key, size_t offset) {
    auto bytes = Bytes(key);
    bytes.at(offset) ^= 1;
    Store(key, bytes);
  }
  void Delete(const std::string& key) {
    ASSERT_TRUE(tiny_.faults->Delete(std::vector<std::string>{key}, tiny_.Soon()).ok());
  }
  // Exactly one error, of this kind, about this object, that says what to do.
  void ExpectError(const char* kind, const std::string& key) {
    const VerifyReport report = Verified();
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_EQ(report.errors[0].kind, kind);
    EXPECT_TRUE(report.errors[0].object.ends_with(key)) << report.errors[0].object;
    EXPECT_NE(report.errors[0].detail.find(';'), std::string::npos) << report.errors[0].detail;
  }

  TinyStream tiny_{{}, {.mesh = {2, 1}, .snapshot_interval = 4, .index_page_steps = 4}};
  StepPlace place_;
  std::string object_;
};

TEST_F(VerifyTest, AWholeStreamHasNoFindings) {
  const VerifyReport report = Verified();
  EXPECT_TRUE(report.errors.empty()) << report.errors[0].detail;
  EXPECT_TRUE(report.warnings.empty()) << report.warnings[0].object << report.warnings[0].detail;
  EXPECT_EQ(report.steps, 20u);
  EXPECT_GT(report.versions, 10u);
  EXPECT_GT(report.objects, 9u);
}

TEST_F(VerifyTest, AMissingDataObjectIsFound) {
  Delete(object_);
  ExpectError("missing_object", object_);
}

TEST_F(VerifyTest, ATruncatedDataObjectIsFound) {
  auto bytes = Bytes(object_);
  bytes.resize(bytes.size() - 64);
  Store(object_, bytes);
  ExpectError("bad_checksum", object_);
}

TEST_F(VerifyTest, AFlippedBitIsFoundWhereverItIs) {
  const ByteRange frame = place_.entry->layout.FrameRange({2, 1}, place_.tgb_ordinal, 1, 0);
  const uint64_t size = place_.entry->object_bytes;
  const uint64_t state = place_.entry->state.offset;
  for (const uint64_t offset :
       {uint64_t{5}, frame.offset + 3, frame.offset + 80, state + 10, size - 60, size - 126}) {
    Flip(object_, offset);
    ExpectError("bad_checksum", object_);
    Flip(object_, offset);
  }
}

TEST_F(VerifyTest, WithoutReadingDataPresenceAndSizeAreChecked) {
  Flip(object_, 5);
  EXPECT_TRUE(Verify(*tiny_.stream, {.read_data = false}, tiny_.Soon())->errors.empty());
  Delete(object_);
  EXPECT_EQ(Verify(*tiny_.stream, {.read_data = false}, tiny_.Soon())->errors.size(), 1u);
}

TEST_F(VerifyTest, ADamagedRecordIsFound) {
  Flip(LogKey(kMainBranch, 5), 30);
  ExpectError("bad_record", LogKey(kMainBranch, 5));
}

TEST_F(VerifyTest, AGapInTheLogIsFound) {
  Delete(LogKey(kMainBranch, 5));
  const VerifyReport report = Verified();
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(report.errors[0].kind, "gap");
}

TEST_F(VerifyTest, ARecordOfAnotherStreamIsFound) {
  TinyStream other({}, {.mesh = {2, 1}});
  Record record = DecodeRecord(Bytes(LogKey(kMainBranch, 5)), {2, 1}).value();
  record.stream[0] ^= 1;
  Store(LogKey(kMainBranch, 5), EncodeRecord(record));
  ExpectError("bad_record", LogKey(kMainBranch, 5));
}

TEST_F(VerifyTest, SnapshotsAndPagesThatDifferAreFound) {
  Flip(SnapshotKey(kMainBranch, 4), 40);
  ExpectError("bad_snapshot", SnapshotKey(kMainBranch, 4));
  Flip(SnapshotKey(kMainBranch, 4), 40);
  Store(IndexKey(kMainBranch, 1), Bytes(IndexKey(kMainBranch, 0)));
  ExpectError("bad_index", IndexKey(kMainBranch, 1));
}

TEST_F(VerifyTest, WhatOnlyCostsTimeOrSpaceIsAWarning) {
  Delete(IndexKey(kMainBranch, 0));
  Delete(SnapshotKey(kMainBranch, 4));
  Store(DataKey(kMainBranch, 1, 4000), AsBytes("orphan"));
  Store("data/main/readme.txt", AsBytes("foreign"));
  const VerifyReport report = Verified();
  EXPECT_TRUE(report.errors.empty());
  EXPECT_EQ(report.warnings.size(), 4u);
}

TEST_F(VerifyTest, WhatLiesBehindADamagedRecordIsCheckedFromTheNextSnapshotOn) {
  Flip(LogKey(kMainBranch, 2), 30);
  Flip(object_, place_.entry->layout.FrameRange({2, 1}, place_.tgb_ordinal, 1, 0).offset + 80);
  Delete(LogKey(kMainBranch, 6));
  Store(DataKey(kMainBranch, 1, 4000), AsBytes("not committed"));
  const VerifyReport report = Verified();
  ASSERT_EQ(report.errors.size(), 3u);
  EXPECT_EQ(report.errors[0].kind, "bad_record");
  EXPECT_EQ(report.errors[1].kind, "gap");
  EXPECT_EQ(report.errors[2].kind, "bad_checksum");
  EXPECT_EQ(report.steps, 20u);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].kind, "unpublished");
}

// No client commits these; a record that says so is damage.
TEST_F(VerifyTest, ACheckpointBelowTheTrimPointAndATrimPastACheckpointAreFound) {
  ASSERT_TRUE(SaveCheckpoint(*tiny_.stream, {.name = "ten", .step = 10}, tiny_.Soon()).value());
  ASSERT_TRUE(Trim(*tiny_.stream, {.to = 6}, tiny_.Soon()).ok());
  const State state = tiny_.HeadState();
  const std::string next = LogKey(kMainBranch, state.version + 1);
  const auto forge = [&](Change change) {
    Store(next, EncodeRecord(MakeRecord(tiny_.stream->info(), state, {std::move(change)}, {}, 0)));
    ExpectError("bad_record", next);
  };
  forge(BeginCheckpointChange{.name = "below", .step = 5});
  forge(TrimChange{11});
  Delete(next);
  EXPECT_TRUE(Verified().errors.empty());
}

TEST_F(VerifyTest, TheStateOfAProducerIsCheckedEvenIfItsStepsAreTrimmed) {
  ASSERT_TRUE(Trim(*tiny_.stream, {.to = 20}, tiny_.Soon()).ok());
  const ProducerRow row = tiny_.HeadState().rows.at("a");
  ASSERT_EQ(row.state.kind, StateRef::Kind::kExtent);
  const std::string key = DataKey(kMainBranch, row.state_session, row.state_object);
  EXPECT_TRUE(Verified().errors.empty());
  EXPECT_EQ(Verified().objects, 1u);
  Flip(key, row.state.offset + 10);
  ExpectError("bad_checksum", key);
  Delete(key);
  ExpectError("missing_object", key);
}

// A store in which, at the first look at a data object, everything below is trimmed and reclaimed.
class ReclaimedMeanwhile final : public ForwardingStore {
 public:
  ReclaimedMeanwhile(std::shared_ptr<ObjectStore> below, std::function<void()> reclaim)
      : ForwardingStore(std::move(below)), reclaim_(std::move(reclaim)) {}
  Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) override {
    if (key.starts_with("data/") && reclaim_) std::exchange(reclaim_, nullptr)();
    return ForwardingStore::Head(key, deadline);
  }

 private:
  std::function<void()> reclaim_;
};

TEST(VerifyMeanwhileTest, WhatIsReclaimedDuringTheCheckIsNoFault) {
  const auto clock = std::make_shared<testing_support::MovableClock>();
  TinyStream tiny({}, {.mesh = {2, 1}, .snapshot_interval = 4, .index_page_steps = 4}, clock);
  auto producer = Producer::Open(tiny.stream, {.name = "a"}, tiny.Soon());
  for (int item = 0; item < 20; ++item) {
    ASSERT_TRUE((*producer)->Write(tiny.MakeTgb(item), "", tiny.Soon()).ok());
    ASSERT_TRUE((*producer)->Flush(tiny.Soon()).ok());
  }
  ASSERT_TRUE((*producer)->Close(tiny.Soon()).ok());
  const auto reclaim = [&] {
    ASSERT_TRUE(Trim(*tiny.stream, {.to = 18}, tiny.Soon()).ok());
    uint64_t removed = 0;
    for (int pass = 0; pass < 3; ++pass) {
      removed += Reclaim(*tiny.stream, {}, tiny.Soon())->data_objects;
      clock->Advance(std::chrono::hours(2));
    }
    ASSERT_EQ(removed, 18u);
  };
  auto store = std::make_shared<ReclaimedMeanwhile>(tiny.faults, reclaim);
  auto stream = Stream::Open(store, clock, After(*clock, std::chrono::hours(20)));
  const auto report = Verify(**stream, {}, After(*clock, std::chrono::hours(20)));
  // Pages may have gone as well: then it says that it was overtaken.
  if (report.ok()) {
    EXPECT_TRUE(report->errors.empty()) << report->errors[0].detail;
  } else {
    EXPECT_EQ(report.status().code(), Code::kUnavailable) << report.status();
  }
  const auto again = Verify(**stream, {}, After(*clock, std::chrono::hours(20)));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->errors.empty() && again->warnings.empty());
  EXPECT_EQ(again->steps, 2u);
}

}  // namespace
}  // namespace lakestream

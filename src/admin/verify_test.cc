#include <gtest/gtest.h>

#include "base/text.h"
#include "lakestream/admin.h"
#include "lakestream/producer.h"
#include "manifest/frame.h"
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

}  // namespace
}  // namespace lakestream

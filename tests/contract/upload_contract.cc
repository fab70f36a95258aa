// Multipart uploads.
#include <algorithm>

#include "base/text.h"
#include "tests/contract/object_store_contract.h"

namespace lakestream {
namespace {

// A part that the store takes: full ones have the smallest size allowed, but some bytes at least.
std::string PartContent(const ObjectStore& store, uint32_t number, bool last = false) {
  const uint64_t bytes = std::max<uint64_t>(store.capabilities().upload_part_bytes_min, 100'000);
  return std::string(last ? 1234 : bytes + number, static_cast<char>('a' + number % 26));
}

Status PutPart(Upload& upload, uint32_t number, const std::string& content,
               const Deadline& deadline) {
  const ConstBytes pieces[] = {AsBytes(content).first(content.size() / 2), ConstBytes(),
                               AsBytes(content).subspan(content.size() / 2)};
  return upload.PutPart(number, pieces, deadline);
}

TEST_P(ObjectStoreContract, PartsOfAnUploadAreJoinedByNumber) {
  const Result<std::unique_ptr<Upload>> upload = store_->StartUpload("a/big", deadline_);
  ASSERT_THAT(upload, IsOk());
  const std::string parts[] = {PartContent(*store_, 1), PartContent(*store_, 2),
                               PartContent(*store_, 3, true)};
  for (const uint32_t number : {3u, 1u, 2u}) {
    ASSERT_THAT(PutPart(**upload, number, parts[number - 1], deadline_), IsOk());
  }
  const Result<PutResult> done = (*upload)->Complete(deadline_);
  ASSERT_THAT(done, IsOk());
  EXPECT_TRUE(done->stored);
  EXPECT_TRUE(Read("a/big") == parts[0] + parts[1] + parts[2]);
  EXPECT_EQ(store_->Head("a/big", deadline_)->etag, done->etag);
  EXPECT_EQ(ListAll(), std::vector<std::string>{"a/big"});
}

TEST_P(ObjectStoreContract, OnePartIsAnUpload) {
  const Result<std::unique_ptr<Upload>> upload = store_->StartUpload("one", deadline_);
  ASSERT_THAT(upload, IsOk());
  ASSERT_THAT(PutPart(**upload, 1, "only", deadline_), IsOk());
  ASSERT_THAT((*upload)->Complete(deadline_), IsOk());
  EXPECT_EQ(Read("one"), "only");
}

TEST_P(ObjectStoreContract, PartsMayBeSentSideBySide) {
  const Result<std::unique_ptr<Upload>> upload = store_->StartUpload("big", deadline_);
  ASSERT_THAT(upload, IsOk());
  constexpr uint32_t kParts = 4;
  Together(kParts, [&](size_t i) {
    const uint32_t number = static_cast<uint32_t>(i) + 1;
    const std::string content = PartContent(*store_, number, number == kParts);
    EXPECT_THAT(PutPart(**upload, number, content, deadline_), IsOk());
  });
  ASSERT_THAT((*upload)->Complete(deadline_), IsOk());
  std::string whole;
  for (uint32_t number = 1; number <= kParts; ++number) {
    whole += PartContent(*store_, number, number == kParts);
  }
  EXPECT_TRUE(Read("big") == whole);
}

TEST_P(ObjectStoreContract, AnUploadIsInvisibleUntilItIsComplete) {
  ASSERT_THAT(Put("a", "old"), IsOk());
  const Result<std::unique_ptr<Upload>> over = store_->StartUpload("a", deadline_);
  const Result<std::unique_ptr<Upload>> fresh = store_->StartUpload("b", deadline_);
  ASSERT_TRUE(over.ok() && fresh.ok());
  ASSERT_THAT(PutPart(**over, 1, "new", deadline_), IsOk());
  ASSERT_THAT(PutPart(**fresh, 1, "new", deadline_), IsOk());
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(Read("b"), "<not_found>");
  EXPECT_EQ(ListAll(), std::vector<std::string>{"a"});
  EXPECT_TRUE(PutIfAbsent("b", "other")->stored);
  ASSERT_THAT((*over)->Complete(deadline_), IsOk());
  EXPECT_EQ(Read("a"), "new");
}

TEST_P(ObjectStoreContract, AnAbortedUploadLeavesNothing) {
  const Result<std::unique_ptr<Upload>> upload = store_->StartUpload("a", deadline_);
  ASSERT_THAT(upload, IsOk());
  ASSERT_THAT(PutPart(**upload, 1, "part", deadline_), IsOk());
  ASSERT_THAT((*upload)->Abort(deadline_), IsOk());
  EXPECT_FALSE((*upload)->Complete(deadline_).ok());
  EXPECT_FALSE(PutPart(**upload, 2, "part", deadline_).ok());
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(ListAll(), std::vector<std::string>());
}

TEST_P(ObjectStoreContract, AnUploadThatIsDroppedLeavesNothing) {
  {
    const Result<std::unique_ptr<Upload>> upload = store_->StartUpload("a", deadline_);
    ASSERT_THAT(upload, IsOk());
    ASSERT_THAT(PutPart(**upload, 1, "part", deadline_), IsOk());
  }
  EXPECT_FALSE(Exists("a"));
  EXPECT_EQ(ListAll(), std::vector<std::string>());
}

TEST_P(ObjectStoreContract, PartNumbersOutOfRangeAreRefused) {
  const Result<std::unique_ptr<Upload>> upload = store_->StartUpload("a", deadline_);
  ASSERT_THAT(upload, IsOk());
  const auto parts_max = static_cast<uint32_t>(store_->capabilities().upload_parts_max);
  EXPECT_THAT(PutPart(**upload, 0, "x", deadline_), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(PutPart(**upload, parts_max + 1, "x", deadline_), IsCode(Code::kInvalidArgument));
}

TEST_P(ObjectStoreContract, AnUploadWithAGapIsNotCompleted) {
  const Result<std::unique_ptr<Upload>> upload = store_->StartUpload("a", deadline_);
  ASSERT_THAT(upload, IsOk());
  ASSERT_THAT(PutPart(**upload, 2, "x", deadline_), IsOk());
  EXPECT_THAT((*upload)->Complete(deadline_), IsCode(Code::kInvalidArgument));
  EXPECT_FALSE(Exists("a"));
}

TEST_P(ObjectStoreContract, TwoUploadsOfOneKeyDoNotMix) {
  const Result<std::unique_ptr<Upload>> first = store_->StartUpload("a", deadline_);
  const Result<std::unique_ptr<Upload>> second = store_->StartUpload("a", deadline_);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_THAT(PutPart(**first, 1, "first", deadline_), IsOk());
  ASSERT_THAT(PutPart(**second, 1, "second", deadline_), IsOk());
  ASSERT_THAT((*second)->Complete(deadline_), IsOk());
  EXPECT_EQ(Read("a"), "second");
  ASSERT_THAT((*first)->Complete(deadline_), IsOk());
  EXPECT_EQ(Read("a"), "first");
}

// What a crashed writer leaves behind: here its Upload just stays, with a part sent.
std::unique_ptr<Upload> LeftBehind(ObjectStore& store, const std::string& key,
                                   const Deadline& deadline) {
  Result<std::unique_ptr<Upload>> upload = store.StartUpload(key, deadline);
  EXPECT_THAT(upload, IsOk());
  EXPECT_THAT(PutPart(**upload, 1, "part", deadline), IsOk());
  return *std::move(upload);
}

void ExpectEnded(Upload& upload, const Deadline& deadline) {
  const Code code = upload.Complete(deadline).status().code();
  EXPECT_TRUE(code == Code::kNotFound || code == Code::kUnknownOutcome) << CodeName(code);
}

TEST_P(ObjectStoreContract, AnUploadThatIsLeftBehindIsEndedByItsAge) {
  const std::unique_ptr<Upload> left = LeftBehind(*store_, "data/a", deadline_);
  const int64_t now_ms = Put("data/b", "stays")->date_ms;
  constexpr int64_t kMinuteMs = 60'000;
  EXPECT_EQ(*store_->AbortStaleUploads({"", now_ms - kMinuteMs}, deadline_), 0u);
  EXPECT_EQ(*store_->AbortStaleUploads({"", now_ms + kMinuteMs, true}, deadline_), 1u);
  EXPECT_EQ(*store_->AbortStaleUploads({"", now_ms + kMinuteMs}, deadline_), 1u);
  EXPECT_EQ(*store_->AbortStaleUploads({"", now_ms + kMinuteMs}, deadline_), 0u);
  ExpectEnded(*left, deadline_);
  EXPECT_EQ(ListAll(), std::vector<std::string>{"data/b"});
  EXPECT_EQ(Read("data/b"), "stays");
}

TEST_P(ObjectStoreContract, AnUploadThatIsNotOldEnoughCanBeCompleted) {
  const std::unique_ptr<Upload> upload = LeftBehind(*store_, "data/a", deadline_);
  const int64_t now_ms = Put("data/b", "")->date_ms;
  EXPECT_EQ(*store_->AbortStaleUploads({"", now_ms - 60'000}, deadline_), 0u);
  EXPECT_EQ(*store_->AbortStaleUploads({"", now_ms + 60'000, true}, deadline_), 1u);
  EXPECT_THAT(upload->Complete(deadline_), IsOk());
  EXPECT_EQ(Read("data/a"), "part");
}

TEST_P(ObjectStoreContract, UploadsThatAreOverAreNotStale) {
  const std::unique_ptr<Upload> completed = LeftBehind(*store_, "a", deadline_);
  const std::unique_ptr<Upload> aborted = LeftBehind(*store_, "b", deadline_);
  LeftBehind(*store_, "c", deadline_).reset();
  ASSERT_THAT(completed->Complete(deadline_), IsOk());
  ASSERT_THAT(aborted->Abort(deadline_), IsOk());
  const int64_t now_ms = Put("d", "")->date_ms;
  EXPECT_EQ(*store_->AbortStaleUploads({"", now_ms + 60'000}, deadline_), 0u);
  EXPECT_EQ(Read("a"), "part");
}

TEST_P(ObjectStoreContract, OnlyUploadsWithThePrefixAreEnded) {
  const std::unique_ptr<Upload> inside = LeftBehind(*store_, "data/a b+c", deadline_);
  const std::unique_ptr<Upload> twin = LeftBehind(*store_, "data/a b+c", deadline_);
  const std::unique_ptr<Upload> outside = LeftBehind(*store_, "dat", deadline_);
  const int64_t later_ms = Put("d", "")->date_ms + 60'000;
  if (!GetParam().knows_keys_of_uploads) {
    EXPECT_EQ(*store_->AbortStaleUploads({"data/", later_ms}, deadline_), 3u);
    return;
  }
  EXPECT_EQ(*store_->AbortStaleUploads({"data/", later_ms}, deadline_), 2u);
  ExpectEnded(*inside, deadline_);
  ExpectEnded(*twin, deadline_);
  EXPECT_FALSE(Exists("data/a b+c"));
  EXPECT_THAT(outside->Complete(deadline_), IsOk());
}

}  // namespace
}  // namespace lakestream

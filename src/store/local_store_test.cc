#include "store/local_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "base/text.h"
#include "store/local_folder.h"
#include "tests/support/movable_clock.h"
#include "tests/support/scoped_dir.h"
#include "tests/support/status_matchers.h"

namespace lakestream {
namespace {

const Deadline kNever = Deadline::Never();

class LocalStoreTest : public testing::Test {
 protected:
  std::unique_ptr<LocalStore> Open(const std::string& root) {
    return *LocalStore::Open(root, {}, RealRuntime());
  }
  Result<PutResult> Put(ObjectStore& store, const std::string& key, std::string_view text,
                        const PutOptions& options = {}) {
    return PutBytes(store, key, AsBytes(text), options, kNever);
  }
  std::vector<std::string> Temporaries() {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(root_ / std::string(kTemporaryFolder), error)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("lock-")) names.push_back(name);
    }
    return names;
  }

  ScopedDir root_;
};

TEST_F(LocalStoreTest, TheRootIsMadeByTheFirstWriteNotByOpening) {
  auto store = Open(root_ / "a/b");
  EXPECT_THAT(store->Head("x", kNever), IsCode(Code::kNotFound));
  EXPECT_TRUE(store->List({}, kNever)->objects.empty());
  const std::string keys[] = {"x"};
  EXPECT_THAT(store->Delete(keys, kNever), IsOk());
  EXPECT_FALSE(std::filesystem::exists(root_ / "a"));
  EXPECT_THAT(Put(*store, "x", "1"), IsOk());
  EXPECT_TRUE(std::filesystem::exists(root_ / "a/b/x"));
}

TEST_F(LocalStoreTest, OpenRefusesARootThatIsAFile) {
  std::ofstream(root_ / "file") << "x";
  EXPECT_THAT(LocalStore::Open(root_ / "file", {}, RealRuntime()), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(LocalStore::Open("relative", {}, RealRuntime()), IsCode(Code::kInvalidArgument));
}

TEST_F(LocalStoreTest, AFileHoldsExactlyTheBytesAndNoTemporaryIsLeft) {
  auto store = Open(root_.path());
  ASSERT_THAT(Put(*store, "log/main/1", "hello"), IsOk());
  ASSERT_THAT(Put(*store, "log/main/1", "again", {.if_absent = true}), IsOk());
  std::ifstream file(root_ / "log/main/1");
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "hello");
  EXPECT_TRUE(Temporaries().empty());
}

TEST_F(LocalStoreTest, KeysThatAFolderCannotHoldAreRefusedByEveryOperation) {
  auto store = Open(root_ / "root");
  std::ofstream(root_ / "secret") << "x";
  for (const std::string key : {"../secret", "a/../../secret", "/a", "a/", "a//b", ".", "a/./b",
                                ".lakestream-tmp/x", ".lakestream-tmp"}) {
    SCOPED_TRACE(key);
    EXPECT_THAT(Put(*store, key, "1"), IsCode(Code::kInvalidArgument));
    EXPECT_THAT(GetBytes(*store, key, kNever), IsCode(Code::kInvalidArgument));
    EXPECT_THAT(store->Head(key, kNever), IsCode(Code::kInvalidArgument));
    EXPECT_THAT(store->StartUpload(key, kNever), IsCode(Code::kInvalidArgument));
    EXPECT_THAT(store->Delete({&key, 1}, kNever), IsCode(Code::kInvalidArgument));
  }
  EXPECT_THAT(Put(*store, "a/" + std::string(256, 'x'), "1"), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(Put(*store, "a/" + std::string(255, 'x'), "1"), IsOk());
  EXPECT_THAT(Put(*store, "a/.lakestream-tmp", "1"), IsOk());
  EXPECT_TRUE(std::filesystem::exists(root_ / "secret"));
}

TEST_F(LocalStoreTest, APrefixCannotListOutsideOfTheRoot) {
  auto store = Open(root_ / "root");
  ASSERT_THAT(Put(*store, "a", "1"), IsOk());
  std::ofstream(root_ / "secret") << "x";
  for (const char* prefix : {"../", "../s", "a/../../", "/", "//", ".lakestream-tmp/"}) {
    SCOPED_TRACE(prefix);
    ListOptions options;
    options.prefix = prefix;
    EXPECT_TRUE(store->List(options, kNever)->objects.empty());
  }
}

TEST_F(LocalStoreTest, AnObjectAndAFolderOfOneNameExcludeEachOther) {
  auto store = Open(root_.path());
  ASSERT_THAT(Put(*store, "a/b", "1"), IsOk());
  EXPECT_THAT(Put(*store, "a", "2"), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(Put(*store, "a", "2", {.if_absent = true}), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(Put(*store, "a/b/c", "2"), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(store->Head("a", kNever), IsCode(Code::kNotFound));
  EXPECT_THAT(GetBytes(*store, "a", kNever), IsCode(Code::kNotFound));
  EXPECT_THAT(GetBytes(*store, "a/b/c", kNever), IsCode(Code::kNotFound));
  const std::string keys[] = {"a", "a/b/c"};
  EXPECT_THAT(store->Delete(keys, kNever), IsOk());
  EXPECT_EQ(GetBytes(*store, "a/b", kNever)->text(), "1");
  EXPECT_TRUE(Temporaries().empty());
}

TEST_F(LocalStoreTest, APutOutlivesTheRemovalOfItsFoldersByHand) {
  auto store = Open(root_ / "root");
  ASSERT_THAT(Put(*store, "a/b/c", "1"), IsOk());
  std::filesystem::remove_all(root_ / "root/a");
  EXPECT_THAT(Put(*store, "a/b/c", "2", {.if_absent = true}), IsOk());
  std::filesystem::remove_all(root_ / "root");
  EXPECT_THAT(Put(*store, "a/b/c", "3"), IsOk());
  EXPECT_EQ(GetBytes(*store, "a/b/c", kNever)->text(), "3");
}

TEST_F(LocalStoreTest, SpecialFilesAreNotObjectsAndDoNotHangAReader) {
  auto store = Open(root_.path());
  ASSERT_EQ(mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(GetBytes(*store, "pipe", kNever), IsCode(Code::kNotFound));
  EXPECT_TRUE(store->List({}, kNever)->objects.empty());
}

TEST_F(LocalStoreTest, EtagsDifferAlsoForEqualContentWrittenWithinOneTick) {
  LocalStoreOptions options;
  options.fsync = false;
  auto store = *LocalStore::Open(root_.path(), options, RealRuntime());
  std::set<std::string> etags;
  for (int i = 0; i < 200; ++i) etags.insert(Put(*store, "a", "same")->etag);
  EXPECT_EQ(etags.size(), 200u);
  const std::string last = Put(*store, "a", "same")->etag;
  EXPECT_EQ(store->Head("a", kNever)->etag, last);
}

TEST_F(LocalStoreTest, TemporariesOfTheDeadAreRemovedByAge) {
  auto store = Open(root_.path());
  ASSERT_THAT(Put(*store, "a", "1"), IsOk());
  const std::string left = root_ / ".lakestream-tmp/0123456789abcdef0123456789abcdef";
  std::ofstream(left) << "half an obj";
  const int64_t now_ms = store->Head("a", kNever)->date_ms;
  EXPECT_EQ(*store->AbortStaleUploads({"", now_ms - 60'000}, kNever), 0u);
  EXPECT_EQ(*store->AbortStaleUploads({"", now_ms + 60'000}, kNever), 1u);
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(Temporaries().empty());
  EXPECT_EQ(GetBytes(*store, "a", kNever)->text(), "1");
}

TEST_F(LocalStoreTest, AnUploadThatIsDroppedLeavesNothing) {
  auto store = Open(root_.path());
  {
    auto upload = *store->StartUpload("big", kNever);
    const ConstBytes piece = AsBytes("part");
    ASSERT_THAT(upload->PutPart(1, {&piece, 1}, kNever), IsOk());
    EXPECT_EQ(Temporaries().size(), 1u);
  }
  EXPECT_TRUE(Temporaries().empty());
  EXPECT_THAT(store->Head("big", kNever), IsCode(Code::kNotFound));
}

TEST_F(LocalStoreTest, AllPartsOfAnUploadAreOneAndAsOldAsTheFirst) {
  auto store = Open(root_.path());
  auto upload = *store->StartUpload("big", kNever);
  const ConstBytes piece = AsBytes("part");
  for (uint32_t number : {1u, 2u, 3u}) {
    ASSERT_THAT(upload->PutPart(number, {&piece, 1}, kNever), IsOk());
  }
  const auto first =
      std::filesystem::path(root_ / std::string(kTemporaryFolder)) / Temporaries()[0];
  std::filesystem::last_write_time(first,
                                   std::filesystem::last_write_time(first) - std::chrono::hours(2));
  const int64_t hour_ago_ms = Put(*store, "a", "1")->date_ms - 3'600'000;
  EXPECT_EQ(*store->AbortStaleUploads({"", hour_ago_ms}, kNever), 1u);
  EXPECT_TRUE(Temporaries().empty());
  EXPECT_THAT(upload->Complete(kNever), IsCode(Code::kNotFound));
}

// D4: the store's time is its file system's, whatever this host's clocks say.
TEST_F(LocalStoreTest, TimesAreTheFileSystemsWhateverTheClientsClockSays) {
  const int64_t written_ms = Put(*Open(root_.path()), "a", "1")->date_ms;
  constexpr int64_t kTestMs = 10 * 60'000;  // longer than this test may take
  const auto clock = std::make_shared<testing_support::MovableClock>();
  clock->Advance(std::chrono::hours(1000));
  auto store = *LocalStore::Open(root_.path(), {}, clock);
  const auto expect_near = [&](int64_t date_ms) {
    EXPECT_GE(date_ms, written_ms);
    EXPECT_LT(date_ms, written_ms + kTestMs);
  };
  for (int look = 0; look < 2; ++look) {
    expect_near(store->Head("a", kNever)->date_ms);
    expect_near(store->Get("a", {}, kNever)->info.date_ms);
    expect_near(store->Get("a", {.range = ByteRange{0, 1}}, kNever)->info.date_ms);
    expect_near(store->List({}, kNever)->date_ms);
    expect_near(Put(*store, "b", "2")->date_ms);
    expect_near(Put(*store, "b", "2", {.if_absent = true})->date_ms);
    clock->Advance(std::chrono::hours(1000));  // now also between two reads
  }
  EXPECT_TRUE(Temporaries().empty());
}

TEST_F(LocalStoreTest, WithoutItsFolderOfTemporariesAStoreStillTellsItsTime) {
  ASSERT_THAT(Put(*Open(root_.path()), "a", "1"), IsOk());
  std::filesystem::remove_all(root_ / std::string(kTemporaryFolder));  // as in a copy
  auto store = Open(root_.path());
  EXPECT_GT(store->Head("a", kNever)->date_ms, 0);
  EXPECT_GT(store->List({}, kNever)->date_ms, 0);
}

}  // namespace
}  // namespace lakestream

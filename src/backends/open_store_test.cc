#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lakestream/object_store.h"
#include "tests/support/scoped_dir.h"
#include "tests/support/status_matchers.h"

namespace lakestream {
namespace {

const Deadline kNever = Deadline::Never();

TEST(OpenStoreTest, OneMemoryStorePerNameInTheProcess) {
  {
    auto store = OpenStore("memory://open-store-test-a", {}, RealRuntime());
    ASSERT_THAT(PutBytes(**store, "k", AsBytes("1"), {}, kNever), IsOk());
  }
  auto again = OpenStore("memory://open-store-test-a/", {}, RealRuntime());
  EXPECT_EQ(GetBytes(**again, "k", kNever)->text(), "1");
  auto other = OpenStore("memory://open-store-test-b", {}, RealRuntime());
  EXPECT_THAT((*other)->Head("k", kNever), IsCode(Code::kNotFound));
}

TEST(OpenStoreTest, ALocalStoreIsMadeByTheFirstWrite) {
  ScopedDir dir;
  auto store = OpenStore("file://" + (dir / "my%20data"), {}, RealRuntime());
  ASSERT_THAT(store, IsOk());
  EXPECT_FALSE(std::filesystem::exists(dir / "my data"));
  ASSERT_THAT(PutBytes(**store, "a/b", AsBytes("1"), {}, kNever), IsOk());
  EXPECT_TRUE(std::filesystem::exists(dir / "my data/a/b"));
  EXPECT_TRUE((*store)->capabilities().durable);
  auto again = OpenStore((*store)->Describe(), {}, RealRuntime());
  EXPECT_EQ(GetBytes(**again, "a/b", kNever)->text(), "1");
}

TEST(OpenStoreTest, WithoutFsyncAStoreDoesNotClaimToBeDurable) {
  ScopedDir dir;
  StoreOptions options;
  options.fsync = false;
  EXPECT_FALSE((*OpenStore(dir.path(), options, RealRuntime()))->capabilities().durable);
}

TEST(OpenStoreTest, RefusesAFileAsRootAndUnknownSchemes) {
  ScopedDir dir;
  std::ofstream(dir / "file") << "x";
  EXPECT_THAT(OpenStore(dir / "file", {}, RealRuntime()), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(OpenStore("gs://b", {}, RealRuntime()), IsCode(Code::kInvalidArgument));
}

TEST(OpenStoreTest, S3StoresAreOpenedWithoutARequest) {
  StoreOptions options;
  options.endpoint = "http://127.0.0.1:1";
  options.region = "us-east-1";
  auto store = OpenStore("s3://bucket/p/", options, RealRuntime());
  ASSERT_THAT(store, IsOk());
  EXPECT_EQ((*store)->Describe(), "s3://bucket/p");
}

}  // namespace
}  // namespace lakestream

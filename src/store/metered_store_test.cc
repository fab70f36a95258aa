#include "store/metered_store.h"

#include <gtest/gtest.h>

#include "store/memory_store.h"
#include "tests/support/status_matchers.h"

namespace lakestream {
namespace {

const Deadline kNever = Deadline::Never();

TEST(MeteredStoreTest, CountsCallsByOperationAndBytesOfContent) {
  MeteredStore store(std::make_shared<MemoryStore>(RealRuntime(), "metered"));
  ASSERT_THAT(PutBytes(store, "a", AsBytes("12345"), {}, kNever), IsOk());
  GetOptions range;
  range.range = ByteRange{1, 2};
  ASSERT_THAT(store.Get("a", range, kNever), IsOk());
  ASSERT_THAT(store.Head("missing", kNever), IsCode(Code::kNotFound));
  ASSERT_THAT(store.List({}, kNever), IsOk());
  const std::string keys[] = {"a"};
  ASSERT_THAT(store.Delete(keys, kNever), IsOk());

  const StoreCounts counts = store.counts();
  EXPECT_EQ(counts.puts, 1u);
  EXPECT_EQ(counts.gets, 1u);
  EXPECT_EQ(counts.heads, 1u);
  EXPECT_EQ(counts.lists, 1u);
  EXPECT_EQ(counts.deletes, 1u);
  EXPECT_EQ(counts.bytes_written, 5u);
  EXPECT_EQ(counts.bytes_read, 2u);
  EXPECT_EQ(counts.requests(), 5u);
}

TEST(MeteredStoreTest, CountsTheCallsOfUploadsEvenAfterTheStoreIsGone) {
  auto store = std::make_unique<MeteredStore>(std::make_shared<MemoryStore>(RealRuntime(), "m"));
  auto upload = *store->StartUpload("a", kNever);
  const ConstBytes piece = AsBytes("12345");
  ASSERT_THAT(upload->PutPart(1, {&piece, 1}, kNever), IsOk());
  EXPECT_EQ(store->counts().upload_calls, 2u);
  EXPECT_EQ(store->counts().bytes_written, 5u);
  store.reset();
  EXPECT_THAT(upload->Complete(kNever), IsOk());
}

}  // namespace
}  // namespace lakestream

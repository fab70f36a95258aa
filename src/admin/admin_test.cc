#include "lakestream/admin.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "lakestream/producer.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::TinyStream;

class AdminTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, int first, int count) {
    ProducerOptions options;
    options.name = name;
    auto producer = Producer::Open(tiny_.stream, options, tiny_.Soon());
    ASSERT_TRUE(producer.ok()) << producer.status();
    for (int item = first; item < first + count; ++item) {
      ASSERT_TRUE((*producer)->Write(tiny_.MakeTgb(item), "state", tiny_.Soon()).ok());
    }
    ASSERT_TRUE((*producer)->Close(tiny_.Soon()).ok());
  }

  TinyStream tiny_{{"a", "b"}, {.mesh = {2, 2}, .snapshot_interval = 4, .index_page_steps = 4}};
};

TEST_F(AdminTest, StatusSaysWhatTheLogSays) {
  Write("a", 0, 10);
  auto status = GetStatus(*tiny_.stream, tiny_.Soon());
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->next_step, 10u);
  EXPECT_FALSE(status->sealed);
  EXPECT_GT(status->slice_bytes, 10u * 4 * 64);
  ASSERT_EQ(status->producers.size(), 2u);
  EXPECT_EQ(status->producers[0].name, "a");
  EXPECT_EQ(status->producers[0].tgbs, 10u);
  EXPECT_EQ(status->producers[0].state_bytes, 5u);
  EXPECT_EQ(status->producers[1].session, 0u);  // declared, never opened
}

TEST_F(AdminTest, ListStepsCutsAtTheEnd) {
  Write("a", 0, 10);
  auto steps = ListSteps(*tiny_.stream, 7, 100, tiny_.Soon());
  ASSERT_TRUE(steps.ok()) << steps.status();
  ASSERT_EQ(steps->size(), 3u);
  EXPECT_EQ(steps->front().step, 7u);
  EXPECT_EQ(steps->front().slices.size(), 4u);
  EXPECT_TRUE(ListSteps(*tiny_.stream, 10, 1, tiny_.Soon())->empty());
  EXPECT_TRUE(ListSteps(*tiny_.stream, UINT64_MAX, UINT64_MAX, tiny_.Soon())->empty());
  EXPECT_EQ(ListSteps(*tiny_.stream, 0, UINT64_MAX, tiny_.Soon())->size(), 10u);
}

TEST_F(AdminTest, ReadSliceVerifiesAndReadsTwiceAtMost) {
  Write("a", 0, 3);
  auto slice = ReadSlice(*tiny_.stream, 1, 1, 0, tiny_.Soon());
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_EQ(TinyStream::Values(*slice), (std::vector<int32_t>{1, 1, 0}));
  EXPECT_EQ(ReadSlice(*tiny_.stream, 3, 0, 0, tiny_.Soon()).status().reason(), Reason::kStepNotYet);
  EXPECT_EQ(ReadSlice(*tiny_.stream, 0, 2, 0, tiny_.Soon()).status().reason(),
            Reason::kMeshMismatch);
  tiny_.faults->CorruptGets("data/", 1);
  EXPECT_TRUE(ReadSlice(*tiny_.stream, 0, 0, 0, tiny_.Soon()).ok());
  tiny_.faults->CorruptGets("data/", 2);
  EXPECT_EQ(ReadSlice(*tiny_.stream, 0, 0, 0, tiny_.Soon()).status().code(), Code::kDataLoss);
}

TEST_F(AdminTest, TailShowsEachVersionOnce) {
  Write("a", 0, 5);
  ASSERT_TRUE(Seal(*tiny_.stream, tiny_.Soon()).ok());
  ASSERT_TRUE(Seal(*tiny_.stream, tiny_.Soon()).ok());  // again is no failure
  std::vector<CommitInfo> commits;
  const auto keep = [&](const CommitInfo& commit) {
    commits.push_back(commit);
    return true;
  };
  ASSERT_TRUE(Tail(*tiny_.stream, 1, true, keep, tiny_.Soon()).ok());
  ASSERT_GE(commits.size(), 3u);
  for (size_t i = 0; i < commits.size(); ++i) EXPECT_EQ(commits[i].version, i + 1);
  EXPECT_EQ(commits.front().changes.front(), "open a");
  EXPECT_EQ(commits.back().changes.front(), "seal");
  EXPECT_EQ(commits.back().next_step, 5u);
}

TEST_F(AdminTest, TailFollowsUntilItsDeadline) {
  Write("a", 0, 1);
  int shown = 0;
  const auto count = [&](const CommitInfo&) { return ++shown > 0; };
  EXPECT_EQ(Tail(*tiny_.stream, 2, true, count, tiny_.In(30)).code(), Code::kDeadlineExceeded);
  EXPECT_EQ(shown, 1);
}

}  // namespace
}  // namespace lakestream

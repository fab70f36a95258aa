#include "lakestream/stream.h"

#include <gtest/gtest.h>

#include "manifest/keys.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::FaultyStore;
using testing_support::TinyStream;

class StreamTest : public ::testing::Test {
 protected:
  Deadline Soon() { return After(*runtime_, std::chrono::seconds(20)); }
  std::shared_ptr<Runtime> runtime_ = RealRuntime();
  std::shared_ptr<FaultyStore> store_ =
      std::make_shared<FaultyStore>(std::make_shared<MemoryStore>(runtime_, "s"));
  const StreamSpec spec_{.mesh = {4, 2}, .producers = {"a", "b"}};
};

TEST_F(StreamTest, IsCreatedOnceAndOpenedAgain) {
  EXPECT_EQ(Stream::Open(store_, runtime_, Soon()).status().reason(), Reason::kStreamMissing);
  auto created = Stream::Create(store_, runtime_, spec_, Soon());
  ASSERT_TRUE(created.ok()) << created.status();
  auto opened = Stream::Open(store_, runtime_, Soon());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->info().uuid, (*created)->info().uuid);
  EXPECT_EQ((*opened)->info().spec.mesh, spec_.mesh);
  EXPECT_EQ(Stream::Create(store_, runtime_, spec_, Soon()).status().reason(),
            Reason::kStreamExists);
}

// C7, H24: many at once.
TEST_F(StreamTest, C7_H24_ManyCreatorsAllGetTheSameStream) {
  std::vector<std::string> uuids(16);
  std::vector<std::unique_ptr<Thread>> threads;
  for (auto& uuid : uuids) {
    threads.push_back(runtime_->Spawn("creator", [&] {
      auto stream = Stream::OpenOrCreate(store_, runtime_, spec_, Soon());
      if (stream.ok()) uuid = (*stream)->info().uuid;
    }));
  }
  for (auto& thread : threads) thread->Join();
  for (const auto& uuid : uuids) EXPECT_EQ(uuid, uuids[0]);
  EXPECT_EQ(uuids[0].size(), 32u);
}

TEST_F(StreamTest, ALostAnswerToItsCreationIsNoFailure) {
  store_->LosePutAnswers(kStreamKey, 1);
  EXPECT_TRUE(Stream::Create(store_, runtime_, spec_, Soon()).ok());
}

TEST_F(StreamTest, AnotherMeshOrProducersAreRefused) {
  ASSERT_TRUE(Stream::Create(store_, runtime_, spec_, Soon()).ok());
  EXPECT_EQ(
      Stream::OpenOrCreate(store_, runtime_, {.mesh = {2, 2}, .producers = {"a", "b"}}, Soon())
          .status()
          .reason(),
      Reason::kMeshMismatch);
  EXPECT_EQ(Stream::OpenOrCreate(store_, runtime_, {.mesh = {4, 2}}, Soon()).status().code(),
            Code::kFailedPrecondition);
}

TEST_F(StreamTest, DamagedAndNewerStreamsAreRefused) {
  ASSERT_TRUE(Stream::Create(store_, runtime_, spec_, Soon()).ok());
  const std::string text(GetBytes(*store_, kStreamKey, Soon())->text());
  const auto open_with = [&](std::string_view content) {
    EXPECT_TRUE(PutBytes(*store_, kStreamKey, AsBytes(content), {}, Soon()).ok());
    return Stream::Open(store_, runtime_, Soon()).status();
  };
  EXPECT_EQ(open_with(text.substr(0, text.size() / 2)).code(), Code::kDataLoss);
  EXPECT_EQ(open_with("").code(), Code::kDataLoss);
  std::string newer = text;
  newer.replace(newer.find("\"format\": 1"), 11, "\"format\": 9");
  EXPECT_EQ(open_with(newer).reason(), Reason::kFormatTooNew);
}

// C5, H15: a store that ignores the condition is no place for a stream.
class IgnoresConditions final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions&, const Deadline& deadline) override {
    return ForwardingStore::Put(key, pieces, {}, deadline);
  }
};

TEST_F(StreamTest, C5_AStoreThatIgnoresConditionsIsRefused) {
  auto unsafe = std::make_shared<IgnoresConditions>(store_);
  EXPECT_EQ(Stream::Create(unsafe, runtime_, spec_, Soon()).status().reason(),
            Reason::kUnsafeStore);
  EXPECT_EQ(Stream::Open(store_, runtime_, Soon()).status().reason(), Reason::kStreamMissing);
}

}  // namespace
}  // namespace lakestream

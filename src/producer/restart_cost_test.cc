// What a restart costs in requests: the same after a short past and after a long one.
#include <gtest/gtest.h>

#include <bit>

#include "lakestream/consumer.h"
#include "lakestream/producer.h"
#include "store/memory_store.h"
#include "store/metered_store.h"
#include "tests/support/long_history.h"

namespace lakestream {
namespace {

using testing_support::LongHistory;

constexpr StreamSpec kSpec{.mesh = {2, 1}, .snapshot_interval = 32};
// Both end 16 records behind a snapshot, far enough from the next one that no test completes it.
constexpr Version kShort = 32 * 20 + 16;
constexpr Version kLong = 32 * 4000 + 16;

class RestartCostTest : public testing::Test {
 protected:
  struct Past {
    explicit Past(Version versions)
        : store(std::make_shared<MeteredStore>(
              std::make_shared<MemoryStore>(RealRuntime(), "restart"))),
          middle(versions / 2) {
      auto stream = testing_support::Must(Stream::Create(
          store, RealRuntime(), kSpec, After(*RealRuntime(), std::chrono::minutes(1))));
      LongHistory(*stream, {.versions = versions,
                            .readable_from = middle,
                            .readable_end = middle + 600,
                            .can_lose_hint = true});
    }
    void LoseHint() {
      const std::string hint = HeadKey(kMainBranch);
      ASSERT_TRUE(store->Delete(std::span(&hint, 1), Deadline::Never()).ok());
    }
    const std::shared_ptr<MeteredStore> store;
    const Step middle;
  };

  // A new process of the producer, to its first commit.
  static uint64_t RequestsOfRestart(Past& past) {
    const Deadline soon = After(*RealRuntime(), std::chrono::seconds(20));
    const uint64_t before = past.store->counts().requests();
    auto stream = testing_support::Must(Stream::Open(past.store, RealRuntime(), soon));
    auto producer =
        testing_support::Must(Producer::Open(stream, {.name = LongHistory::kProducer}, soon));
    EXPECT_TRUE(producer->Write(testing_support::HistoryTgb(kSpec.mesh), "row", soon).ok());
    EXPECT_TRUE(producer->Close(soon).ok());
    return past.store->counts().requests() - before;
  }

  // A new process of a consumer, to a step in the middle.
  static uint64_t RequestsOfResume(Past& past) {
    const Deadline soon = After(*RealRuntime(), std::chrono::seconds(20));
    const uint64_t before = past.store->counts().requests();
    auto stream = testing_support::Must(Stream::Open(past.store, RealRuntime(), soon));
    auto consumer = testing_support::Must(Consumer::Open(
        stream, {.start_step = past.middle, .prefetch_steps = 1, .fetches_max = 1}, soon));
    auto next = consumer->Next(soon);
    EXPECT_TRUE(next.ok() && next->has_value()) << next.status();
    consumer.reset();
    return past.store->counts().requests() - before;
  }
};

// Requests that a race may add: the hint, the next step's slice.
constexpr uint64_t kRaces = 3;
// stream.json, boundary, hint, two probes, snapshot; an open, a data object, a record, hints; an
// index page, a slice.
constexpr uint64_t kFixed = 16;

TEST_F(RestartCostTest, C8_ARestartCostsTheSameAfterAShortAndALongPast) {
  Past after_short(kShort);
  Past after_long(kLong);
  for (const auto& [name, requests] :
       {std::pair("resume", &RequestsOfResume), std::pair("restart", &RequestsOfRestart)}) {
    const uint64_t few = requests(after_short);
    const uint64_t many = requests(after_long);
    EXPECT_LE(many, few + kRaces) << name;
    EXPECT_LE(many, kFixed + 16 + kRaces) << name;  // 16: the records behind the snapshot
  }
}

TEST_F(RestartCostTest, H35_WithoutTheHintItCostsProbesByTheLogarithmOfThePast) {
  for (const Version versions : {kShort, kLong}) {
    Past past(versions);
    const uint64_t log2 = static_cast<uint64_t>(std::bit_width(versions / kSpec.snapshot_interval));
    for (const auto& [name, requests] :
         {std::pair("resume", &RequestsOfResume), std::pair("restart", &RequestsOfRestart)}) {
      past.LoseHint();
      const uint64_t without = requests(past);
      EXPECT_LE(without, kFixed + 2 * kSpec.snapshot_interval + 2 * log2 + kRaces) << name;
    }
  }
}

}  // namespace
}  // namespace lakestream

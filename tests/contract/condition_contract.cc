// Conditional writes, and what many threads see.
#include <atomic>

#include "base/text.h"
#include "tests/contract/object_store_contract.h"

namespace lakestream {
namespace {

TEST_P(ObjectStoreContract, PutIfAbsentStoresOnlyTheFirst) {
  const Result<PutResult> first = PutIfAbsent("slot", "first");
  ASSERT_THAT(first, IsOk());
  EXPECT_TRUE(first->stored);
  const Result<PutResult> second = PutIfAbsent("slot", "second");
  ASSERT_THAT(second, IsOk());
  EXPECT_FALSE(second->stored);
  EXPECT_EQ(Read("slot"), "first");
  EXPECT_EQ(store_->Head("slot", deadline_)->etag, first->etag);
}

TEST_P(ObjectStoreContract, PutIfAbsentSeesEqualContentAsTaken) {
  ASSERT_TRUE(PutIfAbsent("slot", "same")->stored);
  EXPECT_FALSE(PutIfAbsent("slot", "same")->stored);
}

TEST_P(ObjectStoreContract, PutIfAbsentTakesADeletedKeyAgain) {
  ASSERT_TRUE(PutIfAbsent("slot", "first")->stored);
  ASSERT_THAT(Delete({"slot"}), IsOk());
  EXPECT_TRUE(PutIfAbsent("slot", "second")->stored);
  EXPECT_EQ(Read("slot"), "second");
}

TEST_P(ObjectStoreContract, EmptyObjectsOccupyTheirKey) {
  ASSERT_TRUE(PutIfAbsent("slot", "")->stored);
  EXPECT_FALSE(PutIfAbsent("slot", "x")->stored);
  EXPECT_EQ(Read("slot"), "");
}

TEST_P(ObjectStoreContract, TwoConditionsAtOnceAreRefused) {
  PutOptions options;
  options.if_absent = true;
  options.if_match = "etag";
  EXPECT_THAT(Put("slot", "x", options), IsCode(Code::kInvalidArgument));
  EXPECT_FALSE(Exists("slot"));
}

// A store that does not decide a race (kConflict) may fail losers, but only one write may count.
TEST_P(ObjectStoreContract, OneOfManyRacingWritersWinsEachKey) {
  constexpr size_t kWriters = 8;
  for (size_t round = 0; round < Scaled(12); ++round) {
    const std::string key = Str("race/", round);
    std::vector<int> stored(kWriters, 0);
    Together(kWriters, [&](size_t writer) {
      const Result<PutResult> put = PutIfAbsent(key, Str("writer ", writer));
      if (put.ok() && put->stored) stored[writer] = 1;
      if (!put.ok()) {
        EXPECT_THAT(put, HasReason(Reason::kConflict));
      }
    });
    size_t winners = 0;
    size_t winner = 0;
    for (size_t writer = 0; writer < kWriters; ++writer) {
      if (stored[writer] == 0) continue;
      ++winners;
      winner = writer;
    }
    ASSERT_EQ(winners, 1u);
    EXPECT_EQ(Read(key), Str("writer ", winner));
  }
}

TEST_P(ObjectStoreContract, PutIfMatchStoresOverThatVersionOnly) {
  const std::string first = Put("a", "first")->etag;
  const Result<PutResult> second = PutIfMatch("a", "second", first);
  if (!store_->capabilities().put_if_match) {
    EXPECT_THAT(second, IsCode(Code::kUnimplemented));
    EXPECT_EQ(Read("a"), "first");
    return;
  }
  ASSERT_THAT(second, IsOk());
  EXPECT_TRUE(second->stored);
  EXPECT_NE(second->etag, first);
  EXPECT_FALSE(PutIfMatch("a", "stale", first)->stored);
  EXPECT_EQ(Read("a"), "second");
  ASSERT_THAT(Delete({"a"}), IsOk());
  const Result<PutResult> missing = PutIfMatch("a", "third", second->etag);
  ASSERT_THAT(missing, IsOk());
  EXPECT_FALSE(missing->stored);
  EXPECT_FALSE(Exists("a"));
}

// Each thread counts in its own cell of one object; at the end no increment may be missing.
TEST_P(ObjectStoreContract, CompareAndSwapLosesNoIncrement) {
  if (!store_->capabilities().put_if_match) {
    EXPECT_THAT(PutIfMatch("counters", "x", "etag"), IsCode(Code::kUnimplemented));
    return;
  }
  constexpr size_t kThreads = 4;
  const size_t increments = Scaled(20);
  ASSERT_THAT(Put("counters", std::string(kThreads, '\0')), IsOk());
  Together(kThreads, [&](size_t thread) {
    while (true) {
      const Result<GetResult> current = store_->Get("counters", {}, deadline_);
      ASSERT_THAT(current, IsOk());
      std::string counters(current->data.text());
      // The own cell says what was applied, also after an answer that left it open.
      if (static_cast<size_t>(counters[thread]) == increments) break;
      ++counters[thread];
      const Result<PutResult> put = PutIfMatch("counters", counters, current->info.etag);
      if (!put.ok() && put.status().code() != Code::kUnknownOutcome) {
        ASSERT_THAT(put, HasReason(Reason::kConflict));
      }
    }
  });
  EXPECT_EQ(Read("counters"), std::string(kThreads, static_cast<char>(increments)));
}

// Each write is one letter in one length; a reader that sees a mixture saw a torn object.
TEST_P(ObjectStoreContract, ReadersNeverSeeATornOverwrite) {
  const auto content = [](size_t n) {
    return std::string(10'000 + n * 7919 % 90'000, static_cast<char>('a' + n % 26));
  };
  ASSERT_THAT(Put("a", content(0)), IsOk());
  std::atomic<size_t> writing{2};
  Together(4, [&](size_t thread) {
    if (thread < 2) {
      for (size_t n = 0; n < Scaled(40); ++n)
        EXPECT_THAT(Put("a", content(2 * n + thread)), IsOk());
      --writing;
      return;
    }
    while (writing > 0) {
      const Result<GetResult> get = store_->Get("a", {}, deadline_);
      ASSERT_THAT(get, IsOk());
      const std::string_view text = get->data.text();
      ASSERT_EQ(text.size(), get->info.size);
      ASSERT_EQ(text.find_first_not_of(text[0]), std::string_view::npos);
    }
  });
}

TEST_P(ObjectStoreContract, AWriteOfOneThreadIsSeenByAllOthers) {
  for (size_t round = 0; round < Scaled(8); ++round) {
    const std::string key = Str("seen/", round);
    ASSERT_THAT(Put(key, "x"), IsOk());
    Together(4, [&](size_t thread) {
      if (thread == 0) {
        EXPECT_EQ(Read(key), "x");
      }
      if (thread == 1) {
        EXPECT_TRUE(Exists(key));
      }
      if (thread == 2) {
        EXPECT_EQ(ListAll(key), std::vector<std::string>{key});
      }
      if (thread == 3) {
        EXPECT_FALSE(PutIfAbsent(key, "y")->stored);
      }
    });
  }
}

}  // namespace
}  // namespace lakestream

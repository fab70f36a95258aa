#include "sim/sim_store.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace lakestream::sim {
namespace {

// Runs `body` as the only process's main task, with one fault at full rate.
class StormTest : public testing::Test {
 protected:
  void Play(Fault fault, const std::function<void(SimStore&, SimRuntime&)>& body,
            StoreProfile profile = StoreProfile()) {
    profile.client_timeout = kSecond;
    profile.client_retries = 0;
    scheduler_ = std::make_unique<Scheduler>(5);
    storage_ = std::make_shared<SimStorage>(scheduler_.get(), 5, profile);
    if (fault != Fault::kNone) storage_->faults()[fault] = 1;
    auto runtime = std::make_shared<SimRuntime>(scheduler_.get(), scheduler_->NewProcess("p"));
    SimStore store(storage_, runtime);
    bool done = false;
    scheduler_->Spawn(&runtime->process(), "main", [&] {
      body(store, *runtime);
      done = true;
    });
    const auto idle = [&] { return done && storage_->in_flight() == 0; };
    EXPECT_EQ(scheduler_->Run(idle, 100 * kMinute, 100000), Scheduler::End::kDone);
  }
  static Result<PutResult> PutIfAbsent(SimStore& store, std::string_view text) {
    return PutBytes(store, "log/1", AsBytes(text), PutOptions{.if_absent = true},
                    Deadline::Never());
  }
  std::string Content(const std::string& key = "log/1") {
    const auto found = storage_->objects().find(key);
    return found == storage_->objects().end() ? "(absent)" : std::string(found->second.data.text());
  }
  std::unique_ptr<Scheduler> scheduler_;
  std::shared_ptr<SimStorage> storage_;
};

TEST_F(StormTest, PutIfAbsentLetsOneWin) {
  Play(Fault::kNone, [&](SimStore& store, SimRuntime&) {
    EXPECT_TRUE(PutIfAbsent(store, "first")->stored);
    EXPECT_FALSE(PutIfAbsent(store, "second")->stored);
  });
  EXPECT_EQ(Content(), "first");
}

TEST_F(StormTest, LostRequestIsUnknownAndNeverApplied) {
  Play(Fault::kRequestLost, [&](SimStore& store, SimRuntime& runtime) {
    const TimePoint before = runtime.Now();
    EXPECT_EQ(PutIfAbsent(store, "x").status().code(), Code::kUnknownOutcome);
    EXPECT_GE(runtime.Now() - before, std::chrono::seconds(1));
    EXPECT_EQ(GetBytes(store, "log/1", Deadline::Never()).status().code(), Code::kUnavailable);
  });
  EXPECT_EQ(Content(), "(absent)");
}

TEST_F(StormTest, LostAnswerAndServerErrorAreUnknownAndApplied) {
  for (const Fault fault : {Fault::kAnswerLost, Fault::kErrorAfter}) {
    Play(fault, [&](SimStore& store, SimRuntime&) {
      EXPECT_EQ(PutIfAbsent(store, "x").status().code(), Code::kUnknownOutcome);
    });
    EXPECT_EQ(Content(), "x") << FaultName(fault);
  }
}

TEST_F(StormTest, LatePutLandsAfterTheClientGaveUp) {
  Play(Fault::kLateApply, [&](SimStore& store, SimRuntime& runtime) {
    storage_->set_late_max(5 * kMinute);
    EXPECT_EQ(PutIfAbsent(store, "x").status().code(), Code::kUnknownOutcome);
    (void)runtime;
  });
  EXPECT_EQ(Content(), "x");
}

TEST_F(StormTest, HiddenResendAnswersConditionNotMetForAnOwnWrite) {
  Play(Fault::kDuplicateAnswered, [&](SimStore& store, SimRuntime&) {
    const auto put = PutIfAbsent(store, "x");
    ASSERT_TRUE(put.ok());
    EXPECT_FALSE(put->stored);
  });
  EXPECT_EQ(Content(), "x");
}

TEST_F(StormTest, DuplicateOverwritesWithOldBytesLater) {
  Play(Fault::kDuplicate, [&](SimStore& store, SimRuntime&) {
    ASSERT_TRUE(PutBytes(store, "head/main", AsBytes("old"), {}, Deadline::Never()).ok());
    storage_->Heal();
    ASSERT_TRUE(PutBytes(store, "head/main", AsBytes("new"), {}, Deadline::Never()).ok());
  });
  EXPECT_EQ(Content("head/main"), "old");
  EXPECT_TRUE(storage_->rewritten().empty());  // a hint may be rewritten
}

TEST_F(StormTest, RefusalsAreSurelyNotApplied) {
  for (const Fault fault : {Fault::kConflict, Fault::kThrottled}) {
    Play(fault, [&](SimStore& store, SimRuntime&) {
      EXPECT_EQ(PutIfAbsent(store, "x").status().code(), Code::kUnavailable);
    });
    EXPECT_EQ(Content(), "(absent)") << FaultName(fault);
  }
}

TEST_F(StormTest, LostRaceIsA409WhereTheStoreSaysSo) {
  Play(
      Fault::kNone,
      [&](SimStore& store, SimRuntime&) {
        EXPECT_TRUE(PutIfAbsent(store, "first")->stored);
        EXPECT_EQ(PutIfAbsent(store, "second").status().reason(), Reason::kConflict);
      },
      ProfileNamed("409"));
  EXPECT_EQ(Content(), "first");
}

TEST_F(StormTest, CorruptReadFlipsABitOfDataOnly) {
  Play(Fault::kCorruptRead, [&](SimStore& store, SimRuntime&) {
    storage_->Place("data/x", AsBytes("payload"));
    storage_->Place("log/1", AsBytes("payload"));
    EXPECT_NE(GetBytes(store, "data/x", Deadline::Never())->text(), "payload");
    EXPECT_EQ(GetBytes(store, "log/1", Deadline::Never())->text(), "payload");
  });
}

TEST_F(StormTest, CancelledCallComesBackSoonAndIsUnknown) {
  Play(Fault::kRequestLost, [&](SimStore& store, SimRuntime& runtime) {
    CancelToken token;
    auto canceller = runtime.Spawn("canceller", [&] {
      (void)SleepFor(runtime, std::chrono::milliseconds(20), Deadline::Never());
      token.Cancel();
    });
    const TimePoint before = runtime.Now();
    const auto put = PutBytes(store, "k", AsBytes("v"), {}, Deadline{TimePoint::max(), &token});
    EXPECT_EQ(put.status().code(), Code::kUnknownOutcome);
    EXPECT_LT(runtime.Now() - before, std::chrono::milliseconds(200));
  });
}

TEST_F(StormTest, ReplacedImmutableObjectIsNoticed) {
  Play(Fault::kNone, [&](SimStore& store, SimRuntime&) {
    ASSERT_TRUE(PutBytes(store, "data/x", AsBytes("a"), {}, Deadline::Never()).ok());
    ASSERT_TRUE(PutBytes(store, "data/x", AsBytes("a"), {}, Deadline::Never()).ok());
    EXPECT_TRUE(storage_->rewritten().empty());
    ASSERT_TRUE(PutBytes(store, "data/x", AsBytes("b"), {}, Deadline::Never()).ok());
  });
  EXPECT_EQ(storage_->rewritten(), std::vector<std::string>{"data/x"});
}

TEST_F(StormTest, ListingLagsWhereTheStoreIsWeak) {
  Play(
      Fault::kNone,
      [&](SimStore& store, SimRuntime& runtime) {
        ASSERT_TRUE(PutBytes(store, "a/1", AsBytes("x"), {}, Deadline::Never()).ok());
        EXPECT_TRUE(store.List({.prefix = "a/"}, Deadline::Never())->objects.empty());
        (void)SleepFor(runtime, std::chrono::seconds(30), Deadline::Never());
        EXPECT_EQ(store.List({.prefix = "a/"}, Deadline::Never())->objects.size(), 1u);
      },
      ProfileNamed("lagging"));
}

}  // namespace
}  // namespace lakestream::sim

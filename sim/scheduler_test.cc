#include "sim/scheduler.h"

#include <gtest/gtest.h>

#include <set>

#include "base/mutex.h"
#include "base/text.h"
#include "runtime/parallel.h"
#include "sim/sim_runtime.h"

namespace lakestream::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

bool Never() { return false; }

// Three tasks that write down who was when.
std::string Weave(uint64_t seed, uint64_t* hash) {
  Scheduler scheduler(seed);
  std::string order;
  Process* process = scheduler.NewProcess("p");
  for (char name : {'a', 'b', 'c'}) {
    scheduler.Spawn(process, std::string(1, name), [&scheduler, &order, name] {
      for (int i = 0; i < 5; ++i) {
        order += name;
        scheduler.Seam();
      }
    });
  }
  EXPECT_EQ(scheduler.Run([&] { return order.size() == 15; }, kMinute, 10000),
            Scheduler::End::kDone);
  *hash = scheduler.event_hash();
  scheduler.Abandon();
  return order;
}

TEST(SchedulerTest, EqualSeedsGiveEqualOrdersAndOthersDiffer) {
  std::set<std::string> orders;
  std::set<uint64_t> hashes;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    uint64_t first = 0;
    uint64_t second = 0;
    const std::string order = Weave(seed, &first);
    EXPECT_EQ(Weave(seed, &second), order);
    EXPECT_EQ(first, second);
    orders.insert(order);
    hashes.insert(first);
  }
  EXPECT_GT(orders.size(), 15u);
  EXPECT_EQ(hashes.size(), 20u);
}

TEST(SchedulerTest, VirtualTimeJumpsToTheNextTimer) {
  Scheduler scheduler(1);
  SimRuntime runtime(&scheduler, scheduler.NewProcess("p"));
  bool slept = false;
  scheduler.Spawn(&runtime.process(), "sleeper", [&] {
    const TimePoint before = runtime.Now();
    EXPECT_TRUE(SleepFor(runtime, hours(5), Deadline::Never()).ok());
    EXPECT_GE(runtime.Now(), before + hours(5));
    EXPECT_LT(runtime.Now(), before + hours(5) + milliseconds(1));
    slept = true;
  });
  EXPECT_EQ(scheduler.Run([&] { return slept; }, kNever - 1, 1000), Scheduler::End::kDone);
}

TEST(SchedulerTest, ConditionsJoinAndParallelForWork) {
  Scheduler scheduler(7);
  SimRuntime runtime(&scheduler, scheduler.NewProcess("p"));
  int sum = 0;
  bool done = false;
  scheduler.Spawn(&runtime.process(), "main", [&] {
    Mutex mutex;
    auto condition = runtime.NewCondition();
    bool ready = false;
    auto thread = runtime.Spawn("setter", [&] {
      (void)SleepFor(runtime, milliseconds(5), Deadline::Never());
      MutexLock lock(mutex);
      ready = true;
      condition->NotifyAll();
    });
    {
      MutexLock lock(mutex);
      EXPECT_FALSE(condition->WaitUntil(mutex, runtime.Now() + milliseconds(1)));
      while (!ready) condition->Wait(mutex);
    }
    thread->Join();
    EXPECT_TRUE(ParallelFor(runtime, 10, 4, [&](size_t i) {
                  (void)SleepFor(runtime, milliseconds(1), Deadline::Never());
                  sum += static_cast<int>(i);
                  return OkStatus();
                }).ok());
    done = true;
  });
  EXPECT_EQ(scheduler.Run([&] { return done; }, kMinute, 100000), Scheduler::End::kDone);
  EXPECT_EQ(sum, 45);
}

TEST(SchedulerTest, DeadlockIsReportedWithWhoWaits) {
  Scheduler scheduler(1);
  SimRuntime runtime(&scheduler, scheduler.NewProcess("p"));
  Mutex mutex;
  auto condition = runtime.NewCondition();
  scheduler.Spawn(&runtime.process(), "forlorn", [&] {
    MutexLock lock(mutex);
    condition->Wait(mutex);
  });
  EXPECT_EQ(scheduler.Run(Never, kMinute, 1000), Scheduler::End::kDeadlock);
  EXPECT_NE(scheduler.Dump().find("p/forlorn: condition"), std::string::npos);
  scheduler.Abandon();
}

TEST(SchedulerTest, LockHeldAcrossASeamIsFound) {
  Scheduler scheduler(1);
  SimRuntime runtime(&scheduler, scheduler.NewProcess("p"));
  Mutex mutex;
  auto condition = runtime.NewCondition();
  scheduler.Spawn(&runtime.process(), "waiter", [&] {
    MutexLock lock(mutex);
    condition->Wait(mutex);
  });
  scheduler.Spawn(&runtime.process(), "offender", [&] {
    (void)SleepFor(runtime, milliseconds(1), Deadline::Never());
    MutexLock lock(mutex);
    condition->NotifyAll();
    runtime.SleepUntil(runtime.Now() + milliseconds(1));
  });
  (void)scheduler.Run(Never, kMinute, 1000);
  EXPECT_NE(scheduler.failure().find("held across a seam"), std::string::npos);
  scheduler.Abandon();
  mutex.Unlock();  // the abandoned offender's
}

TEST(SchedulerTest, CrashedProcessNeverRunsAgainAndPausedOneLater) {
  Scheduler scheduler(3);
  Process* dying = scheduler.NewProcess("dying");
  Process* pausing = scheduler.NewProcess("pausing");
  int ticks = 0;
  Time resumed_at = 0;
  scheduler.Spawn(dying, "ticker", [&] {
    while (true) {
      ++ticks;
      scheduler.Seam();
    }
  });
  scheduler.Spawn(pausing, "sleeper", [&] {
    scheduler.SleepUntil(scheduler.now() + kSecond);
    resumed_at = scheduler.now();
  });
  dying->crash_after_seams = 10;
  scheduler.Pause(pausing, kMinute);
  EXPECT_EQ(scheduler.Run(Never, kNever - 1, 1000), Scheduler::End::kDeadlock);
  EXPECT_EQ(ticks, 10);
  EXPECT_TRUE(dying->crashed);
  EXPECT_GE(resumed_at, kMinute);
  scheduler.Abandon();
}

TEST(SchedulerTest, ClocksOfProcessesDiffer) {
  Scheduler scheduler(1);
  Process* process = scheduler.NewProcess("p");
  process->steady_offset = 100 * kSecond;
  process->wall_offset_ms = -5000;
  SimRuntime skewed(&scheduler, process);
  SimRuntime straight(&scheduler, scheduler.NewProcess("q"));
  EXPECT_EQ(skewed.Now() - straight.Now(), std::chrono::seconds(100));
  EXPECT_EQ(skewed.WallTimeMs() - straight.WallTimeMs(), -5000);
  EXPECT_EQ(skewed.ToVirtual(skewed.ToLocal(12345)), 12345);
  EXPECT_EQ(skewed.ToVirtual(TimePoint::max()), kNever);
}

}  // namespace
}  // namespace lakestream::sim

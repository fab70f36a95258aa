#include "lakestream/runtime.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/mutex.h"
#include "runtime/backoff.h"
#include "runtime/parallel.h"

namespace lakestream {
namespace {

using std::chrono::milliseconds;

TEST(RuntimeTest, ConditionWakesWaiter) {
  auto runtime = RealRuntime();
  Mutex mutex;
  bool ready = false;
  auto condition = runtime->NewCondition();
  auto thread = runtime->Spawn("setter", [&] {
    MutexLock lock(mutex);
    ready = true;
    condition->NotifyAll();
  });
  {
    MutexLock lock(mutex);
    while (!ready) condition->Wait(mutex);
  }
  thread->Join();
  EXPECT_TRUE(ready);
}

TEST(RuntimeTest, WaitUntilReportsThatTimePassed) {
  auto runtime = RealRuntime();
  Mutex mutex;
  auto condition = runtime->NewCondition();
  MutexLock lock(mutex);
  const TimePoint at = runtime->Now() + milliseconds(5);
  while (condition->WaitUntil(mutex, at)) {
  }
  EXPECT_GE(runtime->Now(), at);
}

TEST(DeadlineTest, SleepEndsAtTheDeadlineAndOnCancel) {
  auto runtime = RealRuntime();
  EXPECT_EQ(SleepFor(*runtime, std::chrono::hours(1), After(*runtime, milliseconds(5))).code(),
            Code::kDeadlineExceeded);
  CancelToken token;
  token.Cancel();
  EXPECT_EQ(SleepFor(*runtime, std::chrono::hours(1), {TimePoint::max(), &token}).code(),
            Code::kCancelled);
  EXPECT_TRUE(SleepFor(*runtime, milliseconds(1), Deadline::Never()).ok());
}

TEST(ParallelTest, RunsAllAndReturnsTheFirstFailure) {
  auto runtime = RealRuntime();
  std::atomic<int> calls{0};
  EXPECT_TRUE(ParallelFor(*runtime, 100, 4, [&](size_t) {
                ++calls;
                return OkStatus();
              }).ok());
  EXPECT_EQ(calls, 100);
  Status status = ParallelFor(*runtime, 10, 3, [&](size_t i) {
    return i >= 4 ? NotFoundError(std::to_string(i)) : OkStatus();
  });
  EXPECT_EQ(status.message(), "4");
}

TEST(BackoffTest, StaysUnderTheCap) {
  auto runtime = RealRuntime();
  Backoff backoff(milliseconds(10), milliseconds(100));
  for (int i = 0; i < 50; ++i) {
    Duration delay = backoff.NextDelay(*runtime);
    EXPECT_GE(delay, Duration::zero());
    EXPECT_LE(delay, milliseconds(i == 0 ? 10 : 100));
  }
}

}  // namespace
}  // namespace lakestream

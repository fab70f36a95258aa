#include "sim/sim_runtime.h"

#include <algorithm>
#include <vector>

#include "base/mutex.h"

namespace lakestream::sim {
namespace {

constexpr int64_t kEpochMs = 1'800'000'000'000;  // wall time when a run begins

class SimThread final : public Thread {
 public:
  SimThread(Scheduler* scheduler, Task* task) : scheduler_(scheduler), task_(task) {}
  ~SimThread() override { Join(); }
  void Join() override {
    if (!scheduler_->Done(task_)) scheduler_->Join(task_);
  }

 private:
  Scheduler* scheduler_;
  Task* task_;
};

class SimCondition final : public Condition {
 public:
  explicit SimCondition(SimRuntime* runtime) : runtime_(runtime) {}

  void Wait(Mutex& mutex) override { WaitVirtual(mutex, kNever); }
  bool WaitUntil(Mutex& mutex, TimePoint at) override {
    return WaitVirtual(mutex, runtime_->ToVirtual(at));
  }
  void NotifyAll() override {
    for (Task* waiter : waiters_) runtime_->scheduler().Wake(waiter);
    waiters_.clear();
  }

 private:
  bool WaitVirtual(Mutex& mutex, Time at) LS_NO_THREAD_SAFETY_ANALYSIS {
    Scheduler& scheduler = runtime_->scheduler();
    mutex.Unlock();
    waiters_.push_back(scheduler.current());
    const bool woken = scheduler.Block(at, "condition");
    if (!woken) std::erase(waiters_, scheduler.current());
    scheduler.Seam();  // a waiter takes the lock some time after it was woken
    while (!mutex.native().try_lock()) {
      scheduler.Fail(
          "a lock is held across a seam: a condition's mutex is taken by a task that "
          "is not running\n" +
          scheduler.Dump());
      scheduler.Block(kNever, "lock held across a seam");
    }
    return woken;
  }

  SimRuntime* runtime_;
  std::vector<Task*> waiters_;
};

}  // namespace

int64_t SimRuntime::WallTimeMs() {
  return kEpochMs + scheduler_->now() / kMillisecond + process_->wall_offset_ms;
}

std::unique_ptr<Thread> SimRuntime::Spawn(std::string name, std::function<void()> body) {
  return std::make_unique<SimThread>(scheduler_,
                                     scheduler_->Spawn(process_, std::move(name), std::move(body)));
}

std::unique_ptr<Condition> SimRuntime::NewCondition() {
  return std::make_unique<SimCondition>(this);
}

void SimRuntime::SleepUntil(TimePoint at) {
  scheduler_->Seam();
  scheduler_->SleepUntil(ToVirtual(at));
}

void SimRuntime::Log(LogLevel level, std::string_view message) {
  if (sink_) sink_(*process_, level, message);
}

TimePoint SimRuntime::ToLocal(Time at) const {
  if (at == kNever) return TimePoint::max();
  return TimePoint(Duration(at + process_->steady_offset));
}

Time SimRuntime::ToVirtual(TimePoint at) const {
  if (at == TimePoint::max()) return kNever;
  return std::max<Time>(0, at.time_since_epoch().count() - process_->steady_offset);
}

}  // namespace lakestream::sim

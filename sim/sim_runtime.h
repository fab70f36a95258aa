// SimRuntime: the Runtime of one simulated process, on the scheduler's tasks and virtual clock.
//
// Waits, sleeps and joins switch tasks; Now(), Random64(), NotifyAll() and Spawn() do not, since
// they may be called with a lock held. A lock that is held across a switch is found and reported.
#pragma once

#include <memory>

#include "lakestream/runtime.h"
#include "sim/scheduler.h"

namespace lakestream::sim {

// Where Runtime::Log goes.
using SimLogSink = std::function<void(const Process&, LogLevel, std::string_view)>;

class SimRuntime final : public Runtime {
 public:
  // Both are borrowed and outlive the runtime.
  SimRuntime(Scheduler* scheduler, Process* process, SimLogSink sink = {})
      : scheduler_(scheduler), process_(process), sink_(std::move(sink)) {}

  TimePoint Now() override { return ToLocal(scheduler_->now()); }
  int64_t WallTimeMs() override;
  uint64_t Random64() override { return scheduler_->Draw(); }
  std::unique_ptr<Thread> Spawn(std::string name, std::function<void()> body) override;
  std::unique_ptr<Condition> NewCondition() override;
  void SleepUntil(TimePoint at) override;
  void Log(LogLevel level, std::string_view message) override;

  Scheduler& scheduler() const { return *scheduler_; }
  Process& process() const { return *process_; }
  // Between this process's clock and virtual time; the ends of time stay the ends.
  TimePoint ToLocal(Time at) const;
  Time ToVirtual(TimePoint at) const;

 private:
  Scheduler* scheduler_;
  Process* process_;
  SimLogSink sink_;
};

}  // namespace lakestream::sim

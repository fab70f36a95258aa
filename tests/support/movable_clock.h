// A runtime whose clocks a test moves forward: hours of grace pass in no time.
#pragma once

#include <atomic>

#include "lakestream/runtime.h"

namespace lakestream::testing_support {

class MovableClock final : public Runtime {
 public:
  void Advance(Duration by) { offset_ns_ += by.count(); }

  TimePoint Now() override { return real_->Now() + Duration(offset_ns_); }
  int64_t WallTimeMs() override { return real_->WallTimeMs() + offset_ns_ / 1'000'000; }
  uint64_t Random64() override { return real_->Random64(); }
  std::unique_ptr<Thread> Spawn(std::string name, std::function<void()> body) override {
    return real_->Spawn(std::move(name), std::move(body));
  }
  std::unique_ptr<Condition> NewCondition() override {
    return std::make_unique<MovedCondition>(*this, real_->NewCondition());
  }
  void SleepUntil(TimePoint at) override { real_->SleepUntil(at - Duration(offset_ns_)); }
  void Log(LogLevel level, std::string_view message) override { real_->Log(level, message); }

 private:
  class MovedCondition final : public Condition {
   public:
    MovedCondition(MovableClock& clock, std::unique_ptr<Condition> real)
        : clock_(clock), real_(std::move(real)) {}
    void Wait(Mutex& mutex) override { real_->Wait(mutex); }
    bool WaitUntil(Mutex& mutex, TimePoint at) override {
      if (at == TimePoint::max()) return real_->Wait(mutex), true;
      return real_->WaitUntil(mutex, at - Duration(clock_.offset_ns_));
    }
    void NotifyAll() override { real_->NotifyAll(); }
    void NotifyOne() override { real_->NotifyOne(); }

   private:
    MovableClock& clock_;
    std::unique_ptr<Condition> real_;
  };

  const std::shared_ptr<Runtime> real_ = RealRuntime();
  std::atomic<int64_t> offset_ns_{0};
};

}  // namespace lakestream::testing_support

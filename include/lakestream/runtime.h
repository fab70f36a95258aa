// Runtime: the one door to time, threads and chance.
//
// Every wait, clock reading, thread and random number of the library goes through this interface.
// Production uses RealRuntime(); the deterministic simulation puts a seeded scheduler and a virtual
// clock behind it and runs the same code.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lakestream/status.h"

namespace lakestream {

class Mutex;  // base/mutex.h

using Duration = std::chrono::nanoseconds;
// Monotonic time of this process; only differences mean anything.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// Set from any thread (or a signal handler) to make calls that carry it return kCancelled soon.
class CancelToken {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// Until when a call may take, and who may stop it. A value; the token is borrowed.
struct Deadline {
  TimePoint at = TimePoint::max();
  const CancelToken* cancel = nullptr;

  static Deadline Never() { return {}; }
  bool cancelled() const { return cancel != nullptr && cancel->cancelled(); }
  // The same token with the earlier of both times.
  Deadline Sooner(TimePoint other) const { return {other < at ? other : at, cancel}; }
};

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// A joinable thread. The destructor joins.
class Thread {
 public:
  virtual ~Thread() = default;
  virtual void Join() = 0;  // idempotent
};

// A condition variable. Waits may wake spuriously; loop on the predicate.
class Condition {
 public:
  virtual ~Condition() = default;
  virtual void Wait(Mutex& mutex) = 0;
  // False when `at` passed first.
  virtual bool WaitUntil(Mutex& mutex, TimePoint at) = 0;
  virtual void NotifyAll() = 0;
  // Wakes one waiter at least, if there is any.
  virtual void NotifyOne() { NotifyAll(); }
};

// Thread-safe. No lock may be held across Sleep(), Thread::Join() or any call on an ObjectStore
// (the simulation switches actors there).
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual TimePoint Now() = 0;
  // Milliseconds since 1970 by this host's clock. For people and request signing; no decision of
  // the protocol may rest on it.
  virtual int64_t WallTimeMs() = 0;
  // Uniform 64 random bits; from the operating system's entropy in production.
  virtual uint64_t Random64() = 0;
  virtual std::unique_ptr<Thread> Spawn(std::string name, std::function<void()> body) = 0;
  virtual std::unique_ptr<Condition> NewCondition() = 0;
  virtual void SleepUntil(TimePoint at) = 0;
  // A message for the operator. The library never prints; the default runtime drops messages unless
  // a sink is set. Must not block for long.
  virtual void Log(LogLevel level, std::string_view message) = 0;
};

using LogSink = std::function<void(LogLevel, std::string_view)>;
// A runtime on the operating system's clock and threads. `sink` may be called from any thread.
std::shared_ptr<Runtime> RealRuntime(LogSink sink = {});

// Sleeps for `duration`, but not past the deadline; notices cancellation within about 50 ms.
// kDeadlineExceeded or kCancelled if that ended the sleep.
Status SleepFor(Runtime& runtime, Duration duration, const Deadline& deadline);
// kCancelled or kDeadlineExceeded if `deadline` says so now, naming `what` was being done.
Status CheckDeadline(Runtime& runtime, const Deadline& deadline, std::string_view what);
// A deadline `duration` from now.
Deadline After(Runtime& runtime, Duration duration, const CancelToken* cancel = nullptr);
// Uniform in [0, 1).
double RandomUnit(Runtime& runtime);

}  // namespace lakestream

// Scheduler: simulated processes, threads ("tasks") and time, all chosen by one seed.
//
// - Exactly one task runs at a time; it runs until it waits. Which runnable task is next is drawn
//   from the seed. Computing takes (almost) no virtual time.
// - When no task can run, the clock jumps to the next timer.
// - A process is a group of tasks with a clock of its own. Crash() stops all of them for ever, at
//   whatever seam they are in; nothing of theirs is unwound, as with kill -9. Pause() is SIGSTOP.
// - Every choice and every recorded event is folded into event_hash(): equal seeds, equal hashes.
//
// Memory that a crashed process held is never freed: run seeds in a forked child (seed_runner.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fiber.h"
#include "sim/random.h"

namespace lakestream::sim {

using Time = int64_t;  // virtual nanoseconds since the run began
inline constexpr Time kNever = INT64_MAX;
inline constexpr Time kMicrosecond = 1000;
inline constexpr Time kMillisecond = 1000 * kMicrosecond;
inline constexpr Time kSecond = 1000 * kMillisecond;
inline constexpr Time kMinute = 60 * kSecond;

// "12.345678s"
std::string TimeText(Time at);

struct Task;

// One simulated operating system process.
struct Process {
  uint32_t id = 0;
  std::string name;
  Time steady_offset = 0;      // its monotonic clock minus virtual time
  int64_t wall_offset_ms = 0;  // its wall clock's error
  bool crashed = false;
  Time paused_until = 0;
  // > 0: crashes when it has passed this many more seams.
  uint64_t crash_after_seams = 0;
  uint64_t seams = 0;  // seams passed so far
  // Kept by SimStorage: what it sent so far, how much of that were data and other plain puts, and
  // how often something went wrong.
  uint64_t requests = 0;
  uint64_t plain_puts = 0;
  uint64_t faults = 0;
};

class Scheduler {
 public:
  explicit Scheduler(uint64_t seed);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  Process* NewProcess(std::string name);
  // A new task of the process, runnable now. The handle lives as long as the scheduler.
  Task* Spawn(Process* process, std::string name, std::function<void()> body);
  // Calls `action` at that time, outside any task. It must not wait.
  void At(Time at, std::function<void()> action);

  enum class End { kDone, kDeadlock, kTimeLimit, kStepLimit };
  // Runs until `done()`, which is asked after each step.
  End Run(const std::function<bool()>& done, Time time_limit, uint64_t step_limit);

  // The following are called by the running task.
  // A seam: others may run now, this process may crash here.
  void Seam();
  void SleepUntil(Time at);
  // Waits for Wake(); false if `at` came first.
  bool Block(Time at, const char* why);
  void Join(Task* task);

  // From anywhere.
  void Wake(Task* task);
  void Crash(Process* process);
  void Pause(Process* process, Time duration);
  // No process crashes by itself any more (crash_after_seams).
  void StopCrashing();
  // The run is over: gives the stacks of all unfinished tasks back. Nothing can run afterwards.
  void Abandon();

  Time now() const { return now_; }
  Task* current() const { return current_; }
  Process* current_process() const;
  bool Done(const Task* task) const;
  // Chance for each seam to take a nap: spreads tasks that would run in step.
  void set_nap_chance(double chance) { nap_chance_ = chance; }
  uint64_t Draw() { return runtime_random_.Next(); }

  void Note(uint64_t event) { hash_ = Random::Mix(hash_ ^ event) + 0x9e3779b97f4a7c15ull; }
  void Note(std::string_view event);
  uint64_t event_hash() const { return hash_; }
  uint64_t steps() const { return steps_; }
  // Who is alive and what each waits for, for people.
  std::string Dump() const;
  // A defect of the product or the simulation that forbids going on: ends the run.
  void Fail(std::string why);
  const std::string& failure() const { return failure_; }

 private:
  struct Timer {
    Task* task = nullptr;  // wakes this task if its wait is still `wait`
    uint64_t wait = 0;
    std::function<void()> action;
  };
  void MakeRunnable(Task* task);
  void SwitchOut();
  void FireDueTimers();
  void RunOne();
  void AddTimer(Time at, Timer timer);

  Random random_;          // who runs next
  Random runtime_random_;  // Runtime::Random64
  Time now_ = kSecond;
  uint64_t next_timer_ = 0;
  std::map<std::pair<Time, uint64_t>, Timer> timers_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<Task*> runnable_;
  Task* current_ = nullptr;
  double nap_chance_ = 0;
  uint64_t hash_ = 0;
  uint64_t steps_ = 0;
  std::string failure_;
};

}  // namespace lakestream::sim

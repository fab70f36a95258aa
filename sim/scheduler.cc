#include "sim/scheduler.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

namespace lakestream::sim {

struct Task {
  uint32_t id = 0;
  Process* process = nullptr;
  std::string name;
  std::unique_ptr<Fiber> fiber;
  bool done = false;
  bool runnable = false;
  bool parked = false;  // runnable, but its process is paused
  bool woken = false;   // by Wake(), not by its timer
  bool waiting = false;
  uint64_t wait = 0;  // number of the current wait
  const char* why = "new";
  Time since = 0;
  std::vector<Task*> joiners;
};

std::string TimeText(Time at) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%06llds", static_cast<long long>(at / kSecond),
                static_cast<long long>(at % kSecond / kMicrosecond));
  return text;
}

Scheduler::Scheduler(uint64_t seed)
    : random_(seed, "schedule"), runtime_random_(seed, "runtime"), hash_(seed) {}

Scheduler::~Scheduler() = default;

Process* Scheduler::NewProcess(std::string name) {
  auto process = std::make_unique<Process>();
  process->id = static_cast<uint32_t>(processes_.size());
  process->name = std::move(name);
  processes_.push_back(std::move(process));
  return processes_.back().get();
}

Task* Scheduler::Spawn(Process* process, std::string name, std::function<void()> body) {
  auto task = std::make_unique<Task>();
  task->id = static_cast<uint32_t>(tasks_.size());
  task->process = process;
  task->name = std::move(name);
  task->fiber = std::make_unique<Fiber>(std::move(body));
  task->since = now_;
  tasks_.push_back(std::move(task));
  MakeRunnable(tasks_.back().get());
  return tasks_.back().get();
}

void Scheduler::AddTimer(Time at, Timer timer) {
  timers_.emplace(std::make_pair(at, next_timer_++), std::move(timer));
}

void Scheduler::At(Time at, std::function<void()> action) {
  AddTimer(at, Timer{nullptr, 0, std::move(action)});
}

void Scheduler::MakeRunnable(Task* task) {
  if (task->runnable || task->done || task->process->crashed) return;
  task->runnable = true;
  if (task->process->paused_until > now_) {
    task->parked = true;
    AddTimer(task->process->paused_until, Timer{nullptr, 0, [this, task] {
                                                  task->runnable = task->parked = false;
                                                  MakeRunnable(task);
                                                }});
    return;
  }
  runnable_.push_back(task);
}

void Scheduler::FireDueTimers() {
  while (!timers_.empty() && timers_.begin()->first.first <= now_) {
    auto node = timers_.extract(timers_.begin());
    Timer& timer = node.mapped();
    if (timer.action) {
      timer.action();
    } else if (timer.task->waiting && timer.task->wait == timer.wait) {
      timer.task->waiting = false;
      MakeRunnable(timer.task);
    }
  }
}

void Scheduler::RunOne() {
  const size_t pick = random_.Below(runnable_.size());
  Task* task = runnable_[pick];
  runnable_[pick] = runnable_.back();
  runnable_.pop_back();
  task->runnable = false;
  if (task->process->crashed) return;
  if (task->process->paused_until > now_) return MakeRunnable(task);
  ++steps_;
  now_ += 1 + static_cast<Time>(random_.Below(kMicrosecond));
  Note((uint64_t{task->id} << 40) ^ static_cast<uint64_t>(now_));
  current_ = task;
  task->fiber->Resume();
  current_ = nullptr;
  if (task->fiber->done()) {
    task->done = true;
    task->fiber.reset();
    for (Task* joiner : task->joiners) Wake(joiner);
    task->joiners.clear();
  }
}

Scheduler::End Scheduler::Run(const std::function<bool()>& done, Time time_limit,
                              uint64_t step_limit) {
  while (!done()) {
    if (!failure_.empty()) return End::kDone;
    FireDueTimers();
    if (!runnable_.empty()) {
      if (steps_ >= step_limit) return End::kStepLimit;
      RunOne();
      continue;
    }
    if (done()) break;  // by an action of a timer
    if (timers_.empty()) return End::kDeadlock;
    const Time next = timers_.begin()->first.first;
    if (next > time_limit) return End::kTimeLimit;
    now_ = std::max(now_, next);
  }
  return End::kDone;
}

void Scheduler::SwitchOut() {
  Task* self = current_;
  self->since = now_;
  self->fiber->Suspend();
}

void Scheduler::Seam() {
  Task* self = current_;
  assert(self != nullptr && "a seam outside any task");
  Process* process = self->process;
  ++process->seams;
  if (process->crash_after_seams > 0 && --process->crash_after_seams == 0) Crash(process);
  self->why = "yield";
  if (random_.Chance(nap_chance_)) {
    SleepUntil(now_ + static_cast<Time>(random_.LogUniform(1e3, 20e6)));
    return;
  }
  MakeRunnable(self);
  SwitchOut();
}

bool Scheduler::Block(Time at, const char* why) {
  Task* self = current_;
  assert(self != nullptr && "a wait outside any task");
  self->why = why;
  self->woken = false;
  self->waiting = true;
  ++self->wait;
  if (at != kNever) AddTimer(at, Timer{self, self->wait, nullptr});
  SwitchOut();
  self->why = "running";
  return self->woken;
}

void Scheduler::SleepUntil(Time at) {
  // Only the timer ends a sleep: nobody has the task's handle to wake it early.
  Block(std::max(at, now_), "sleep");
}

void Scheduler::Join(Task* task) {
  while (!task->done) {
    task->joiners.push_back(current_);
    Block(kNever, "join");
  }
}

void Scheduler::Wake(Task* task) {
  if (!task->waiting) return;
  task->waiting = false;
  task->woken = true;
  MakeRunnable(task);
}

void Scheduler::Crash(Process* process) { process->crashed = true; }

void Scheduler::Pause(Process* process, Time duration) {
  process->paused_until = std::max(process->paused_until, now_ + duration);
}

void Scheduler::StopCrashing() {
  for (const auto& process : processes_) process->crash_after_seams = 0;
}

void Scheduler::Abandon() {
  runnable_.clear();
  timers_.clear();
  for (const auto& task : tasks_) task->fiber.reset();
}

Process* Scheduler::current_process() const { return current_ ? current_->process : nullptr; }

bool Scheduler::Done(const Task* task) const { return task->done; }

void Scheduler::Note(std::string_view event) {
  uint64_t hash = 1469598103934665603ull;
  for (char c : event) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  Note(hash);
}

std::string Scheduler::Dump() const {
  std::string text = "tasks at " + TimeText(now_) + ":\n";
  for (const auto& task : tasks_) {
    if (task->done || task->process->crashed) continue;
    text += "  " + task->process->name + "/" + task->name + ": " + task->why + " since " +
            TimeText(task->since);
    if (task->process->paused_until > now_) {
      text += " (process paused until " + TimeText(task->process->paused_until) + ")";
    }
    text += "\n";
  }
  return text;
}

void Scheduler::Fail(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
}

}  // namespace lakestream::sim

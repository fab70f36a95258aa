#include "sim/seed_runner.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/text.h"
#include "tests/support/kill_process.h"

namespace lakestream::sim {
namespace {

constexpr uint64_t kStepsMin = 20;

constexpr uint64_t RunResult::*kCounters[] = {
    &RunResult::crashes,  &RunResult::pauses,      &RunResult::twins,    &RunResult::clock_jumps,
    &RunResult::steps,    &RunResult::versions,    &RunResult::sessions, &RunResult::reads,
    &RunResult::branches, &RunResult::checkpoints, &RunResult::trims,    &RunResult::runs,
    &RunResult::removed,  &RunResult::requests,    &RunResult::switches};

// What a child writes for each seed: this, then the texts.
struct Wire {
  uint64_t seed, event_hash;
  std::array<uint64_t, std::size(kCounters)> counters;
  Time virtual_time;
  SimStorage::Coverage coverage;
  uint32_t checker_bytes, report_bytes;
};

bool WriteAll(int fd, const void* data, size_t size) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t wrote = write(fd, next, size);
    if (wrote <= 0) return false;
    next += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return true;
}

// False if the other end is gone, or nothing came for `seconds`.
bool ReadAll(int fd, void* data, size_t size, double seconds) {
  char* next = static_cast<char*>(data);
  while (size > 0) {
    pollfd wait{fd, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(seconds * 1000)) <= 0) return false;
    const ssize_t got = read(fd, next, size);
    if (got <= 0) return false;
    next += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

void Send(int fd, const RunResult& result) {
  const std::string checker = result.violations.empty() ? "" : result.violations[0].checker;
  Wire wire{};
  wire.seed = result.seed;
  wire.event_hash = result.event_hash;
  for (size_t i = 0; i < std::size(kCounters); ++i) wire.counters[i] = result.*kCounters[i];
  wire.virtual_time = result.virtual_time;
  wire.coverage = result.coverage;
  wire.checker_bytes = static_cast<uint32_t>(checker.size());
  wire.report_bytes = static_cast<uint32_t>(result.report.size());
  WriteAll(fd, &wire, sizeof wire);
  WriteAll(fd, checker.data(), checker.size());
  WriteAll(fd, result.report.data(), result.report.size());
}

bool Receive(int fd, double seconds, SeedReport& report) {
  Wire wire{};
  if (!ReadAll(fd, &wire, sizeof wire, seconds)) return false;
  report.checker.resize(wire.checker_bytes);
  report.report.resize(wire.report_bytes);
  if (!ReadAll(fd, report.checker.data(), report.checker.size(), seconds)) return false;
  if (!ReadAll(fd, report.report.data(), report.report.size(), seconds)) return false;
  report.seed = wire.seed;
  report.event_hash = wire.event_hash;
  report.failed = !report.checker.empty();
  RunResult& numbers = report.numbers;
  for (size_t i = 0; i < std::size(kCounters); ++i) numbers.*kCounters[i] = wire.counters[i];
  numbers.virtual_time = wire.virtual_time;
  numbers.coverage = wire.coverage;
  return true;
}

struct Child {
  pid_t pid = -1;
  int fd = -1;
};

// A child that plays [first, last) and writes their results.
Child Fork(uint64_t first, uint64_t last, RunSize size, bool verbose) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    for (uint64_t seed = first; seed < last; ++seed) {
      Send(ends[1], RunWorld(DrawOptions(seed, size), verbose));
    }
    _exit(0);  // no leak check, no destructors: see fiber.h
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return {};
  }
  return {pid, ends[0]};
}

// Ends the child and says how it ended: "" if by itself.
std::string Bury(const Child& child, bool hung) {
  if (hung) KillProcess(child.pid);
  int status = 0;
  waitpid(child.pid, &status, 0);
  close(child.fd);
  if (hung) return "hang";
  if (WIFSIGNALED(status)) return Str("crash (signal ", WTERMSIG(status), ")");
  return WEXITSTATUS(status) == 0 ? "" : Str("crash (exit code ", WEXITSTATUS(status), ")");
}

bool StillRuns(const Child& child) {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == 0;
}

}  // namespace

void RunSeeds(const SeedPlan& plan, const std::function<void(const SeedReport&)>& on_seed) {
  uint64_t next = plan.first;
  const uint64_t end = plan.first + plan.count;
  uint64_t failures = 0;
  const auto stop = [&] { return failures >= plan.failures_max || (plan.stop && plan.stop()); };
  while (next < end && !stop()) {
    const uint64_t last = std::min(end, next + plan.seeds_per_child);
    const Child child = Fork(next, last, plan.size, false);
    if (child.pid < 0) return on_seed({next, 0, true, "crash (fork failed)", "", {}});
    SeedReport report;
    bool stopped = false;
    while (next < last && !stopped && Receive(child.fd, plan.seconds_per_seed_max, report)) {
      failures += report.failed;
      on_seed(report);
      ++next;
      stopped = next < last && stop();
    }
    if (stopped) {
      Bury(child, true);
      return;
    }
    // A child that said nothing more and still lives hangs; else its death tells the cause.
    usleep(next < last ? 50'000 : 0);
    const std::string death = Bury(child, next < last && StillRuns(child));
    if (next < last) {
      ++failures;
      on_seed({next,
               0,
               true,
               death.empty() ? "crash (silent)" : death,
               DrawOptions(next, plan.size).ToText(),
               {}});
      ++next;
    }
  }
}

SeedReport ReplaySeed(uint64_t seed, RunSize size) {
  SeedReport report;
  const Child child = Fork(seed, seed + 1, size, true);
  const bool came = child.pid >= 0 && Receive(child.fd, 600, report);
  const std::string death = Bury(child, !came && StillRuns(child));
  if (!came) {
    report = {
        seed, 0, true, death.empty() ? "crash (silent)" : death, DrawOptions(seed, size).ToText(),
        {}};
  }
  return report;
}

void Totals::Add(const SeedReport& report) {
  ++seeds;
  failed += report.failed;
  const RunResult& numbers = report.numbers;
  for (const auto counter : kCounters) sum.*counter += numbers.*counter;
  uint64_t faults = numbers.crashes + numbers.pauses + numbers.twins + numbers.clock_jumps;
  sum.virtual_time += numbers.virtual_time;
  for (int f = 0; f < kFaults; ++f) {
    for (int op = 0; op < kStoreOps; ++op) {
      sum.coverage[static_cast<size_t>(f)][static_cast<size_t>(op)] +=
          numbers.coverage[static_cast<size_t>(f)][static_cast<size_t>(op)];
      if (f > 0) faults += numbers.coverage[static_cast<size_t>(f)][static_cast<size_t>(op)];
    }
  }
  weak += !report.failed && (numbers.steps < kStepsMin || faults == 0);
}

std::string Totals::ToText() const {
  std::string text =
      Str(seeds, " seeds, ", failed, " failed, ", weak, " weak; ", sum.steps, " steps in ",
          sum.versions, " versions by ", sum.sessions, " sessions, ", sum.reads, " slices read; ",
          sum.branches, " branches, ", sum.checkpoints, " checkpoints, ", sum.trims, " trims, ",
          sum.runs, " runs, ", sum.removed, " objects removed; ", sum.crashes, " crashes, ",
          sum.pauses, " pauses, ", sum.twins, " twins, ", sum.clock_jumps, " clock jumps; ",
          sum.requests, " requests, ", sum.switches, " switches, ", sum.virtual_time / kMinute,
          " minutes of virtual time\n");
  char cell[64];
  std::snprintf(cell, sizeof cell, "%-20s", "fault x operation");
  text += cell;
  for (int op = 0; op < kStoreOps; ++op) {
    std::snprintf(cell, sizeof cell, "%14s", StoreOpName(static_cast<StoreOp>(op)));
    text += cell;
  }
  for (int f = 0; f < kFaults; ++f) {
    std::snprintf(cell, sizeof cell, "\n%-20s", FaultName(static_cast<Fault>(f)));
    text += cell;
    for (int op = 0; op < kStoreOps; ++op) {
      if (f > 0 && !Applies(static_cast<Fault>(f), static_cast<StoreOp>(op))) {
        std::snprintf(cell, sizeof cell, "%14s", "-");
      } else {
        std::snprintf(cell, sizeof cell, "%14llu",
                      static_cast<unsigned long long>(
                          sum.coverage[static_cast<size_t>(f)][static_cast<size_t>(op)]));
      }
      text += cell;
    }
  }
  return text + "\n";
}

}  // namespace lakestream::sim

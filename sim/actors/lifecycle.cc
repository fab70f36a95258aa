// The operator, who makes checkpoints, trims and branches, and the reclaimers.
#include "lakestream/lifecycle.h"

#include <algorithm>

#include "base/text.h"
#include "sim/actors/supervisor.h"

namespace lakestream::sim {
namespace {

constexpr uint64_t kCheckpointNames = 6;

class Operator {
 public:
  Operator(World& world, Process* process)
      : world_(world), process_(process), runtime_(world.RuntimeOf(process)) {}

  ActorEnd Run() {
    while (!world_.main().over() || world_.random.Chance(0.8)) {
      Rest();
      Act();
    }
    return ActorEnd::kDone;
  }

 private:
  Deadline Soon() { return After(*runtime_, Duration(120 * kSecond)); }
  void Rest() {
    runtime_->SleepUntil(runtime_->Now() +
                         Duration(static_cast<int64_t>(world_.random.LogUniform(
                             1e6, static_cast<double>(world_.options.operator_rest_max)))));
  }

  void Act() {
    std::deque<Timeline>& lines = world_.lines();
    Timeline& line = lines[world_.random.Chance(0.7) ? 0 : world_.random.Below(lines.size())];
    if (line.log.closed()) return;
    auto stream = Stream::Open(world_.StoreOf(runtime_), runtime_, Soon(), line.branch);
    if (!stream.ok()) return;
    switch (world_.random.Below(10)) {
      case 0:
      case 1:
      case 2:
        return Save(line, **stream);
      case 3:
        return Say(line, "pin",
                   PinCheckpoint(**stream, AnyName(), world_.random.Chance(0.3), Soon()));
      case 4:
        return Say(line, "delete checkpoint", DeleteCheckpoint(**stream, AnyName(), Soon()));
      case 5:
      case 6:
      case 7:
        return TrimNow(line, **stream);
      case 8:
        return Fork(line, **stream);
      default:
        return DropSomething(line, **stream);
    }
  }

  std::string AnyName() { return Str("ck-", world_.random.Below(kCheckpointNames)); }
  Step AnyStep(const Timeline& line) {
    return static_cast<Step>(world_.random.Between(static_cast<int64_t>(line.log.trim_step()),
                                                   static_cast<int64_t>(line.log.next_step())));
  }

  void Save(const Timeline& line, Stream& stream) {
    SaveCheckpointOptions options;
    options.name = AnyName();
    options.step = AnyStep(line);
    options.pinned = world_.random.Chance(0.1);
    options.parts =
        world_.random.Chance(0.5) ? static_cast<uint32_t>(world_.random.Between(1, 3)) : 0;
    options.attempt = Str("try-", process_->id, "-", ++attempts_);
    const uint32_t calls = std::max(options.parts, 1u);
    for (options.part = 0; options.part < calls; ++options.part) {
      if (options.parts > 0 && world_.random.Chance(0.15)) return;  // torn: this rank died
      const auto live = SaveCheckpoint(stream, options, Soon());
      Say(line,
          Str("checkpoint ", options.name, " at step ", options.step, ", part ", options.part,
              " of ", options.parts),
          live.status());
      if (!live.ok()) return;
      // Never without all parts. (With all it may still not be: a begin that a dead operator left
      // on its way can land in between and start it anew.)
      if (*live && options.part + 1 < calls) {
        world_.Report("nothing_lost", Str("checkpoint ", options.name, " is live with ",
                                          options.part + 1, " of ", options.parts, " parts"));
      }
    }
  }

  void TrimNow(const Timeline& line, Stream& stream) {
    TrimOptions options;
    if (world_.random.Chance(0.3)) options.to = AnyStep(line);
    if (world_.random.Chance(0.5)) {
      options.rules.keep_last = static_cast<uint32_t>(world_.random.Between(1, 3));
    }
    if (world_.random.Chance(0.2)) options.rules.keep_every = 2 + world_.random.Below(6);
    if (world_.random.Chance(0.2)) options.rules.keep_newer = Duration(20 * kSecond);
    if (world_.random.Chance(0.2)) options.rules.bytes_max = 1 + world_.random.Below(20'000);
    const auto report = Trim(stream, options, Soon());
    Say(line, report.ok() ? Str("trim from ", report->from, " to ", report->to) : "trim",
        report.status());
  }

  void Fork(const Timeline& line, Stream& stream) {
    // What a crash left half done is done first: the fork is in the log, the branch is not there.
    // A copy: the logs move on while a call waits.
    for (const auto& [name, step] : std::map<std::string, Step>(line.log.forks())) {
      const auto& lines = world_.lines();
      const bool there = std::any_of(lines.begin(), lines.end(),
                                     [&](const Timeline& other) { return other.branch == name; });
      if (!there) return Say(line, "branch " + name, CreateBranch(stream, name, step, Soon()));
    }
    if (world_.branches_begun >= world_.options.branches_max || line.over()) return;
    const std::string name = Str("branch-", world_.branches_begun += 1);
    const Step step = AnyStep(line);
    Say(line, Str("branch ", name, " at step ", step), CreateBranch(stream, name, step, Soon()));
  }

  void DropSomething(const Timeline& line, Stream& stream) {
    if (line.parent != nullptr) {
      return Say(line, "delete branch " + line.branch, DeleteBranch(stream, line.branch, Soon()));
    }
    if (world_.options.jobs == 0 || world_.healed() || !world_.random.Chance(0.3)) return;
    const std::string job = Str("job-", world_.random.Below(world_.options.jobs));
    const auto found = line.log.runs().find(job);
    if (found == line.log.runs().end()) return;
    const std::string run = found->second;
    Say(line, Str("detach ", run, " of ", job), DetachRun(stream, job, run, Soon()));
  }

  void Say(const Timeline& line, const std::string& what, const Status& status) {
    world_.Line(process_, Str(line.branch, ": ", what, ": ", status.ToString()));
    if (status.code() == Code::kDataLoss || status.code() == Code::kInternal) {
      world_.Report("nothing_lost", Str("operator: ", what, ": ", status.ToString()));
    }
  }

  World& world_;
  Process* process_;
  std::shared_ptr<SimRuntime> runtime_;
  uint64_t attempts_ = 0;
};

ActorEnd RunReclaimer(World& world, Process* process) {
  const std::shared_ptr<SimRuntime> runtime = world.RuntimeOf(process);
  const RunOptions& options = world.options;
  while (!world.over) {
    const double grace = static_cast<double>(options.reclaim_grace);
    runtime->SleepUntil(runtime->Now() + Duration(static_cast<int64_t>(
                                             world.random.LogUniform(grace / 4, grace * 2))));
    const Deadline deadline = After(*runtime, Duration(10 * kMinute));
    auto stream = Stream::Open(world.StoreOf(runtime), runtime, deadline);
    if (!stream.ok()) continue;
    ReclaimOptions reclaim;
    reclaim.dry_run = world.random.Chance(0.05);
    reclaim.fence_after = Duration(options.fence_after);
    reclaim.abandon_after = Duration(options.abandon_after);
    // A job that is done reports no more; nobody detaches those that are still at it.
    reclaim.detach_after = Duration(world.healed() ? 0 : options.detach_after);
    const auto report = Reclaim(**stream, reclaim, deadline);
    world.Line(process, Str("reclaims: ", report.ok() ? Str(report->removed(), " objects")
                                                      : report.status().ToString()));
    const Code code = report.status().code();
    if (code == Code::kDataLoss || code == Code::kInternal) {
      world.Report("nothing_lost", Str("reclaimer: ", report.status().ToString()));
    }
  }
  return ActorEnd::kDone;
}

// Starts the actors of branches as they appear, until nobody is left who could make one.
void SuperviseBranches(World& world) {
  SpawnSupervisor(world, "supervisor of branches", [&world] {
    for (size_t started = 1;;) {
      for (; started < world.lines().size(); ++started) StartLine(world, world.lines()[started]);
      if (!world.operator_works) return;
      world.scheduler.SleepUntil(world.scheduler.now() + kLook);
    }
  });
}

}  // namespace

void SuperviseLifecycle(World& world) {
  if (!world.options.lifecycle) return;
  world.operator_works = true;
  SpawnSupervisor(world, "supervisor of the operator", [&world] {
    Supervisor supervisor(world, "operator",
                          [&world](Process* process) { return Operator(world, process).Run(); });
    while (supervisor.Reap().empty()) {
      if (!supervisor.AnyRunning()) supervisor.Start();
      world.scheduler.SleepUntil(world.scheduler.now() + kLook);
    }
    supervisor.KillAll();
    world.operator_works = false;
  });
  SuperviseBranches(world);
  if (!world.options.profile.put_if_match) return;
  for (uint32_t i = 0; i < world.options.reclaimers; ++i) {
    world.scheduler.Spawn(world.director, Str("supervisor of reclaimer ", i), [&world, i] {
      Supervisor supervisor(world, Str("reclaimer-", i),
                            [&world](Process* process) { return RunReclaimer(world, process); });
      while (!world.over) {
        supervisor.Reap();
        if (!supervisor.AnyRunning()) supervisor.Start();
        world.scheduler.SleepUntil(world.scheduler.now() + kLook);
      }
      supervisor.KillAll();
    });
  }
}

}  // namespace lakestream::sim

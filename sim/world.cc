#include "sim/world.h"

#include <algorithm>

#include "base/text.h"
#include "manifest/keys.h"
#include "manifest/state.h"
#include "sim/actors/actors.h"

namespace lakestream::sim {
namespace {

constexpr uint64_t kSwitchesMax = 20'000'000;
// After the last fault: the longest pause, the longest time-outs of actors, and then some.
constexpr Time kRecoveryMax = 60 * kMinute;

}  // namespace

World::World(RunOptions run_options, bool verbose)
    : options(std::move(run_options)),
      random(options.seed, "actors"),
      scheduler(options.seed),
      storage(std::make_shared<SimStorage>(&scheduler, options.seed, options.profile)) {
  lines_.push_back({.items = options.items,
                    .items_each = options.items_each,
                    .log = LogReader(storage.get(), options.items)});
  storage->faults() = options.faults;
  storage->set_late_max(options.late_max);
  scheduler.set_nap_chance(options.nap_chance);
  director = scheduler.NewProcess("director");
  keep_lines = verbose;
  if (verbose) storage->trace = [this](const std::string& text) { Show(nullptr, text); };
}

Process* World::NewProcess(std::string name) {
  Process* process = scheduler.NewProcess(std::move(name));
  process->steady_offset = static_cast<Time>(random.Below(1000)) * kSecond;
  const int64_t skew = options.wall_skew_max_ms;
  process->wall_offset_ms = skew == 0 ? 0 : random.Between(-skew, skew);
  return process;
}

std::shared_ptr<SimRuntime> World::RuntimeOf(Process* process) {
  return std::make_shared<SimRuntime>(
      &scheduler, process, [this](const Process& who, LogLevel, std::string_view message) {
        Show(&who, Str("log: ", message));
      });
}

std::shared_ptr<SimStore> World::StoreOf(std::shared_ptr<SimRuntime> runtime) {
  return std::make_shared<SimStore>(storage, std::move(runtime));
}

StreamSpec World::Spec() const {
  StreamSpec spec;
  spec.mesh = options.mesh;
  spec.snapshot_interval = options.snapshot_interval;
  spec.index_page_steps = options.index_page_steps;
  spec.zstd_level = options.zstd_level;
  spec.reclaim_grace = std::chrono::milliseconds(options.reclaim_grace / kMillisecond);
  for (uint32_t p = 0; options.declared && p < options.producers; ++p) {
    spec.producers.push_back(ProducerName(p));
  }
  return spec;
}

void World::Line(const Process* process, std::string_view text) {
  scheduler.Note(text);
  Show(process, text);
}

void World::Show(const Process* process, std::string_view what) {
  if (!keep_lines) return;
  story.push_back(Str(TimeText(scheduler.now()), " ",
                      process ? Str(process->name, " (p", process->id, ") ") : "", what));
}

void World::Report(std::string checker, std::string detail) {
  violations.push_back({std::move(checker), std::move(detail)});
}

void World::Heal() {
  healed_ = true;
  storage->Heal();
  if (crashes > 0) scheduler.StopCrashing();  // else those who are to die still do: once each
  Line(nullptr, "---- no more faults from here on ----");
}

void World::FindBranches() {
  const std::string prefix = BranchKey("");
  const Archive& archive = storage->archive();
  for (auto found = archive.lower_bound(prefix);
       found != archive.end() && found->first.starts_with(prefix); ++found) {
    const std::string name = found->first.substr(prefix.size());
    const auto known = [&](const std::string& branch) {
      return std::find_if(lines_.begin(), lines_.end(),
                          [&](const Timeline& line) { return line.branch == branch; });
    };
    if (known(name) != lines_.end()) continue;
    const Result<BranchInfo> info =
        DecodeBranch(*lines_.front().log.info(), name, found->second.front().data.bytes());
    const auto parent = info.ok() ? known(info->parent) : lines_.end();
    if (parent == lines_.end()) {
      Report("one_order", Str(found->first, " is no branch of a known one"));
      continue;
    }
    std::vector<ViewStep> shared = parent->log.view().Steps();
    if (shared.size() < info->fork_step) {
      Report("one_order", Str(found->first, " forks at a step that is not there"));
      continue;
    }
    shared.resize(info->fork_step);
    ItemLaw items = options.items;
    items.seed = Random(items.seed, name).Next();
    lines_.push_back({.branch = name,
                      .parent = &*parent,
                      .items = items,
                      .items_each = options.branch_items_each,
                      .log = LogReader(storage.get(), items, *info, std::move(shared))});
  }
}

std::deque<Timeline>& World::lines() {
  lines_.front().log.Refresh();
  if (!lines_.front().log.created()) return lines_;
  for (size_t known = 0; known != lines_.size();) {
    known = lines_.size();
    for (Timeline& line : lines_) line.log.Refresh();
    FindBranches();
  }
  return lines_;
}

namespace {

void CreateQuietly(World& world) {
  const FaultRates storm = world.storage->faults();
  world.storage->faults() = FaultRates();
  const auto runtime = world.RuntimeOf(world.NewProcess("creator"));
  const auto created = Stream::Create(world.StoreOf(runtime), runtime, world.Spec(),
                                      After(*runtime, Duration(60 * kSecond)));
  if (!created.ok()) world.Report("create", created.status().ToString());
  world.storage->faults() = storm;
}

void StartActors(World& world) {
  StartLine(world, world.main());
  SuperviseLifecycle(world);
  SpoilHints(world);
  world.scheduler.At(world.options.heal_at, [&world] { world.Heal(); });
}

// Runs until `done`; what keeps it from that is a violation.
bool RunUntil(World& world, const std::function<bool()>& done, Time time_limit, const char* phase) {
  const Scheduler::End end = world.scheduler.Run(done, time_limit, kSwitchesMax);
  if (!world.scheduler.failure().empty()) {
    world.Report("seams", world.scheduler.failure());
    return false;
  }
  if (end == Scheduler::End::kDone) return true;
  const char* why = end == Scheduler::End::kDeadlock    ? "everyone waits for ever"
                    : end == Scheduler::End::kTimeLimit ? "it takes too long without any fault"
                                                        : "endless activity";
  world.Report("no_coordinator", Str(phase, ": ", why, "\n", world.scheduler.Dump()));
  return false;
}

bool Play(World& world) {
  bool created = false;
  world.scheduler.Spawn(world.director, "setup", [&] {
    if (!world.options.create_in_the_storm) CreateQuietly(world);
    StartActors(world);
    created = true;
  });
  const Time limit = world.options.heal_at + world.options.pause_max + kRecoveryMax;
  if (!RunUntil(
          world, [&] { return created && world.actors_running == 0; }, limit, "the run")) {
    return false;
  }
  world.over = true;
  if (!world.healed()) world.Heal();
  // What is still on its way must do no harm when it lands.
  const Time landing = world.scheduler.now() + 2 * world.options.late_max + kMinute;
  if (!RunUntil(
          world, [&] { return world.storage->in_flight() == 0; }, landing, "landing")) {
    return false;
  }
  bool audited = false;
  world.scheduler.Spawn(world.director, "audit", [&] {
    Audit(world);
    audited = true;
  });
  return RunUntil(
      world, [&] { return audited; }, world.scheduler.now() + kRecoveryMax, "the audit");
}

// When the parent's log forked this branch, and what it had trimmed by then.
std::pair<Time, Step> BirthOf(const Timeline& line) {
  Step trim = 0;
  if (line.parent == nullptr) return {0, trim};
  trim = line.parent->log.view().first_trim;
  for (const ViewRecord& record : line.parent->log.view().records) {
    for (const Change& change : record.lifecycle) {
      if (const auto* moved = std::get_if<TrimChange>(&change)) trim = moved->step;
      const auto* fork = std::get_if<ForkChange>(&change);
      if (fork != nullptr && fork->branch == line.branch) return {record.applied_at, trim};
    }
  }
  return {0, 0};
}

void Judge(World& world, bool complete) {
  const auto report = [&](const Timeline& line, std::vector<Violation> violations) {
    for (Violation& violation : violations) {
      if (line.parent != nullptr) violation.detail = line.branch + ": " + violation.detail;
      world.violations.push_back(std::move(violation));
    }
  };
  std::vector<LineEvidence> lines;
  for (const Timeline& line : world.lines()) {
    report(line,
           CheckAll(
               {line.history, line.log.view(), world.options.mesh, line.items, line.items_each,
                world.options.producers, complete && line.started && !line.log.closed(),
                world.options.snapshot_interval,
                line.parent == nullptr ? world.storage->rewritten() : std::vector<std::string>()}));
    const auto [born, trim] = BirthOf(line);
    lines.push_back({line.parent == nullptr ? "" : line.parent->branch, born, trim, line.log.view(),
                     line.history});
  }
  if (!world.main().log.created()) return;
  const RetentionEvidence retention{
      lines,
      world.storage->archive(),
      *world.main().log.info(),
      world.storage->unfinished_uploads(),
      world.scheduler.now(),
      complete && world.options.lifecycle && world.options.profile.put_if_match};
  report(world.main(), CheckNothingLost(retention));
  report(world.main(), CheckNothingUseless(retention));
}

std::string ReportText(const World& world) {
  std::string text = world.options.ToText();
  for (const std::string& line : world.story) text += line + "\n";
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < world.violations.size() && i < kShown; ++i) {
    text += Str("VIOLATION ", world.violations[i].checker, ": ", world.violations[i].detail, "\n");
  }
  if (world.violations.size() > kShown) {
    text += Str("... and ", world.violations.size() - kShown, " more\n");
  }
  return text;
}

}  // namespace

RunResult RunWorld(const RunOptions& options, bool verbose) {
  // Never freed: tasks of crashed processes still refer to it from their abandoned stacks.
  World& world = *new World(options, verbose);
  const bool complete = Play(world);
  Judge(world, complete);
  RunResult result;
  result.seed = options.seed;
  result.event_hash = world.scheduler.event_hash();
  result.violations = world.violations;
  if (verbose || !world.violations.empty()) result.report = ReportText(world);
  result.coverage = world.storage->coverage();
  result.crashes = world.crashes;
  result.pauses = world.pauses;
  result.twins = world.twins;
  result.clock_jumps = world.clock_jumps;
  for (const Timeline& line : world.lines()) {
    const LogView& view = line.log.view();
    result.branches += line.parent != nullptr;
    result.steps += line.log.next_step() - view.fork_step;
    result.versions += view.records.size();
    result.sessions += line.history.sessions.size();
    result.reads += line.history.reads.size();
    for (const ViewRecord& record : view.records) {
      for (const Change& change : record.lifecycle) {
        result.checkpoints += std::holds_alternative<BeginCheckpointChange>(change);
        result.trims += std::holds_alternative<TrimChange>(change);
        result.runs += std::holds_alternative<AttachChange>(change);
      }
    }
  }
  for (const auto& [key, lifetimes] : world.storage->archive()) {
    for (const Lifetime& life : lifetimes) result.removed += life.gone_by != 0;
  }
  result.requests = world.storage->requests();
  result.switches = world.scheduler.steps();
  result.virtual_time = world.scheduler.now();
  world.scheduler.Abandon();
  return result;
}

}  // namespace lakestream::sim

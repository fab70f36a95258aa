#include "sim/world.h"

#include "base/text.h"
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
      storage(std::make_shared<SimStorage>(&scheduler, options.seed, options.profile)),
      log_(storage.get(), options.items) {
  storage->faults() = options.faults;
  storage->set_late_max(options.late_max);
  scheduler.set_nap_chance(options.nap_chance);
  director = scheduler.NewProcess("director");
  history.verbose = verbose;
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
  for (uint32_t p = 0; options.declared && p < options.producers; ++p) {
    spec.producers.push_back(ProducerName(p));
  }
  return spec;
}

void World::Line(const Process* process, std::string_view text) {
  scheduler.Note(text);
  Show(process, text);
}

void World::Show(const Process* process, std::string_view text) {
  if (!history.verbose) return;
  history.lines.push_back(Str(TimeText(scheduler.now()), " ",
                              process ? Str(process->name, " (p", process->id, ") ") : "", text));
}

void World::Report(std::string checker, std::string detail) {
  violations.push_back({std::move(checker), std::move(detail)});
}

void World::Heal() {
  healed_ = true;
  storage->Heal();
  scheduler.StopCrashing();
  Line(nullptr, "---- no more faults from here on ----");
}

LogReader& World::log() {
  log_.Refresh();
  return log_;
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
  for (uint32_t p = 0; p < world.options.producers; ++p) SuperviseProducer(world, p);
  for (uint32_t rank = 0; rank < world.options.readers; ++rank) SuperviseConsumer(world, rank);
  SuperviseSeal(world);
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

void Judge(World& world, bool complete) {
  const Evidence evidence{world.history,
                          world.log().view(),
                          world.options.mesh,
                          world.options.items,
                          world.options.items_each,
                          world.options.producers,
                          complete,
                          world.options.snapshot_interval,
                          world.storage->rewritten()};
  for (Violation& violation : CheckAll(evidence)) world.violations.push_back(std::move(violation));
}

std::string ReportText(const World& world) {
  std::string text = world.options.ToText();
  for (const std::string& line : world.history.lines) text += line + "\n";
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
  result.steps = world.log().next_step();
  result.versions = world.log().view().records.size();
  result.sessions = world.history.sessions.size();
  result.reads = world.history.reads.size();
  result.requests = world.storage->requests();
  result.switches = world.scheduler.steps();
  result.virtual_time = world.scheduler.now();
  world.scheduler.Abandon();
  return result;
}

}  // namespace lakestream::sim

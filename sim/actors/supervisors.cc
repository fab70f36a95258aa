// Those who keep producers, readers and jobs running. They see the log as it is.
#include <algorithm>

#include "base/text.h"
#include "lakestream/admin.h"
#include "lakestream/producer.h"
#include "manifest/keys.h"
#include "sim/actors/supervisor.h"

namespace lakestream::sim {
namespace {

bool Reached(const std::vector<ActorEnd>& ends, ActorEnd end) {
  return std::find(ends.begin(), ends.end(), end) != ends.end();
}

// The ranks of one job, and where each of them would restart.
struct JobRanks {
  uint64_t runs = 0;
  Step start = 0;
  std::vector<Step> saved;
  std::vector<bool> done;
  std::vector<std::unique_ptr<Supervisor>> supervisors;
};

// A new run, of all ranks: where the job left off, or at a checkpoint.
void StartRun(World& world, Timeline& line, JobRanks& ranks) {
  ++ranks.runs;
  const std::vector<Step> checkpoints = line.log.CheckpointSteps();
  ranks.start = *std::min_element(ranks.saved.begin(), ranks.saved.end());
  if (!checkpoints.empty() && world.random.Chance(0.5)) {
    ranks.start = checkpoints[world.random.Below(checkpoints.size())];
  }
  ranks.start = std::clamp(ranks.start, line.log.trim_step(), line.log.next_step());
  std::fill(ranks.saved.begin(), ranks.saved.end(), ranks.start);
  std::fill(ranks.done.begin(), ranks.done.end(), false);
}

}  // namespace

void SuperviseProducer(World& world, Timeline& line, uint32_t index) {
  const std::string name =
      line.parent == nullptr ? ProducerName(index) : Str(line.branch, "/", ProducerName(index));
  SpawnSupervisor(world, "supervisor of " + name, [&world, &line, index, name] {
    Supervisor supervisor(world, name, [&world, &line, index](Process* process) {
      return RunProducer(world, line, process, index);
    });
    const double twins_a_look = world.options.twin_chance / 10;
    const bool dies_early = line.parent == nullptr && index == 0;
    while (true) {
      world.lines();
      supervisor.Reap();
      const bool finished = line.over() || line.log.Finished(ProducerName(index));
      if (finished && supervisor.empty() && line.over()) return;
      if (!finished && !supervisor.AnyRunning()) {
        supervisor.Rest(2 * kSecond);
        supervisor.Start(dies_early && world.crashes == 0 ? world.options.first_crash : 0);
      } else if (!finished && !world.healed() && world.random.Chance(twins_a_look)) {
        ++world.twins;
        supervisor.Start();
      }
      world.scheduler.SleepUntil(world.scheduler.now() + kLook);
    }
  });
}

void SuperviseConsumer(World& world, Timeline& line, uint32_t rank) {
  SpawnSupervisor(world, Str("supervisor of reader ", rank), [&world, &line, rank] {
    auto saved = std::make_shared<Step>(
        line.parent == nullptr ? 0
                               : static_cast<Step>(world.random.Between(
                                     static_cast<int64_t>(line.log.trim_step()),
                                     static_cast<int64_t>(line.log.view().fork_step))));
    Supervisor supervisor(
        world, Str(line.parent == nullptr ? "" : line.branch + "/", "reader-", rank),
        [&world, &line, rank, saved](Process* process) {
          // What is trimmed is gone for a reader that no job attached.
          *saved = std::max(*saved, line.log.trim_step());
          const Step start = world.random.Chance(0.9) ? *saved : line.log.trim_step();
          return RunConsumer(world, line, process, {rank, start, std::nullopt}, *saved);
        });
    while (!Reached(supervisor.Reap(), ActorEnd::kDone)) {
      world.lines();
      if (line.log.closed()) return supervisor.KillAll();
      if (!supervisor.AnyRunning()) {
        supervisor.Rest(2 * kSecond);
        supervisor.Start();
      }
      world.scheduler.SleepUntil(world.scheduler.now() + kLook);
    }
    supervisor.KillAll();
  });
}

void SuperviseJob(World& world, Timeline& line, uint32_t job) {
  SpawnSupervisor(world, Str("supervisor of job ", job), [&world, &line, job] {
    const uint32_t count = world.options.readers;
    auto ranks = std::make_shared<JobRanks>();
    ranks->saved.assign(count, line.log.trim_step());
    ranks->done.assign(count, false);
    StartRun(world, line, *ranks);
    for (uint32_t rank = 0; rank < count; ++rank) {
      ranks->supervisors.push_back(std::make_unique<Supervisor>(
          world, Str("job-", job, ".", rank), [&world, &line, job, rank, count, ranks](Process* p) {
            const uint64_t run = ranks->runs;
            Step& saved = ranks->saved[rank];
            ConsumerRun options{Str("job-", job), Str("run-", run), rank, count};
            options.report_interval = Duration(world.options.poll_min * 4);
            const ActorEnd end = RunConsumer(world, line, p, {rank, saved, options}, saved);
            return run == ranks->runs ? end : ActorEnd::kFailed;  // of a run before
          }));
    }
    while (std::find(ranks->done.begin(), ranks->done.end(), false) != ranks->done.end()) {
      world.lines();
      if (line.log.closed()) break;
      const auto current = line.log.runs().find(Str("job-", job));
      bool over = !world.healed() && world.random.Chance(world.options.job_restart_chance);
      for (uint32_t rank = 0; rank < count; ++rank) {
        const std::vector<ActorEnd> ends = ranks->supervisors[rank]->Reap();
        if (Reached(ends, ActorEnd::kDone)) ranks->done[rank] = true;
        over |= Reached(ends, ActorEnd::kRunOver);
        // A reader that is not attached yet may find its start trimmed.
        over |= ranks->saved[rank] < line.log.trim_step() &&
                (current == line.log.runs().end() || current->second != Str("run-", ranks->runs));
      }
      if (over) {
        for (const auto& supervisor : ranks->supervisors) supervisor->KillAll();
        StartRun(world, line, *ranks);
      }
      for (uint32_t rank = 0; rank < count; ++rank) {
        Supervisor& supervisor = *ranks->supervisors[rank];
        if (!ranks->done[rank] && !supervisor.AnyRunning()) supervisor.Start();
      }
      world.scheduler.SleepUntil(world.scheduler.now() + kLook);
    }
    for (const auto& supervisor : ranks->supervisors) supervisor->KillAll();
  });
}

void SuperviseSeal(World& world, Timeline& line) {
  if (world.options.declared) return;
  SpawnSupervisor(world, "sealer", [&world, &line] {
    const auto all_finished = [&world, &line] {
      for (uint32_t p = 0; p < world.options.producers; ++p) {
        if (!line.log.Finished(ProducerName(p))) return false;
      }
      return true;
    };
    Process* process = world.NewProcess("sealer");
    const std::shared_ptr<SimRuntime> runtime = world.RuntimeOf(process);
    while (!line.over()) {
      world.scheduler.SleepUntil(world.scheduler.now() + 500 * kMillisecond);
      world.lines();
      if (!all_finished()) continue;
      Result<std::shared_ptr<Stream>> stream = Stream::Open(
          world.StoreOf(runtime), runtime, After(*runtime, Duration(60 * kSecond)), line.branch);
      if (!stream.ok()) continue;
      const Status sealed = Seal(**stream, After(*runtime, Duration(60 * kSecond)));
      world.Line(process, "seal: " + sealed.ToString());
    }
  });
}

void StartLine(World& world, Timeline& line) {
  const RunOptions& options = world.options;
  const bool is_main = line.parent == nullptr;
  line.started = true;
  for (uint32_t p = 0; p < options.producers; ++p) SuperviseProducer(world, line, p);
  for (uint32_t job = 0; is_main && job < options.jobs; ++job) SuperviseJob(world, line, job);
  const uint32_t readers = is_main ? (options.jobs > 0 ? 0 : options.readers) : 1;
  for (uint32_t rank = 0; rank < readers; ++rank) SuperviseConsumer(world, line, rank);
  SuperviseSeal(world, line);
}

void SpoilHints(World& world) {
  if (!world.options.spoil_hints) return;
  world.scheduler.Spawn(world.director, "hint spoiler", [&world] {
    while (!world.healed()) {
      world.scheduler.SleepUntil(world.scheduler.now() +
                                 static_cast<Time>(world.random.LogUniform(0.1e9, 5e9)));
      const auto& lines = world.lines();
      const std::string key = HeadKey(lines[world.random.Below(lines.size())].branch);
      if (world.random.Chance(0.5)) {
        world.storage->Remove(key);
        continue;
      }
      std::vector<uint8_t> garbage(world.random.Below(60));
      for (uint8_t& byte : garbage) byte = static_cast<uint8_t>(world.random.Next());
      world.storage->Place(key, garbage);
    }
  });
}

}  // namespace lakestream::sim

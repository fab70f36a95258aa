#include "sim/actors/supervisor.h"

#include <algorithm>

#include "base/text.h"

namespace lakestream::sim {
namespace {

// What becomes of a new incarnation, by chance: a crash after some number of seams, a pause, a
// clock that jumps.
void DrawFate(World& world, Process* process) {
  const RunOptions& options = world.options;
  if (world.healed()) return;
  Random& random = world.random;
  if (random.Chance(options.crash_chance)) {
    process->crash_after_seams =
        1 + static_cast<uint64_t>(random.LogUniform(1, options.seams_to_crash_max));
  }
  const auto later = [&](std::function<void()> action) {
    const Time in = static_cast<Time>(random.LogUniform(1e6, 20e9));
    world.scheduler.At(world.scheduler.now() + in, [&world, process, action = std::move(action)] {
      if (!world.healed() && !process->crashed) action();
    });
  };
  if (random.Chance(options.pause_chance)) {
    const Time length =
        static_cast<Time>(random.LogUniform(0.1e9, static_cast<double>(options.pause_max)));
    later([&world, process, length] {
      ++world.pauses;
      ++process->faults;
      world.Line(process, "paused for " + TimeText(length));
      world.scheduler.Pause(process, length);
    });
  }
  if (options.wall_jumps && random.Chance(0.3)) {
    const int64_t by = random.Between(-options.wall_skew_max_ms, options.wall_skew_max_ms);
    later([&world, process, by] {
      ++world.clock_jumps;
      process->wall_offset_ms += by;
      world.Line(process, Str("its wall clock jumps by ", by, " ms"));
    });
  }
}

}  // namespace

void Supervisor::Start(uint64_t dies_after) {
  auto incarnation = std::make_shared<Incarnation>();
  incarnation->process = world_.NewProcess(Str(name_, "#", ++count_));
  DrawFate(world_, incarnation->process);
  if (dies_after > 0) incarnation->process->crash_after_seams = dies_after;
  world_.Line(incarnation->process, "starts");
  world_.scheduler.Spawn(incarnation->process, "main", [body = body_, incarnation] {
    incarnation->end = body(incarnation->process);
  });
  incarnations_.push_back(std::move(incarnation));
}

std::vector<ActorEnd> Supervisor::Reap() {
  std::vector<ActorEnd> ends;
  std::erase_if(incarnations_, [&](const auto& incarnation) {
    if (!incarnation->end && !incarnation->process->crashed) return false;
    if (incarnation->end) {
      ends.push_back(*incarnation->end);
    } else {
      ++world_.crashes;
      world_.Line(incarnation->process, "was killed");
    }
    return true;
  });
  return ends;
}

bool Supervisor::AnyRunning() const {
  return std::any_of(incarnations_.begin(), incarnations_.end(), [&](const auto& incarnation) {
    return incarnation->process->paused_until < world_.scheduler.now() + 5 * kSecond;
  });
}

void Supervisor::KillAll() {
  for (const auto& incarnation : incarnations_) {
    if (!incarnation->end) world_.scheduler.Crash(incarnation->process);
  }
}

void Supervisor::Rest(Time longest) {
  world_.scheduler.SleepUntil(world_.scheduler.now() + static_cast<Time>(world_.random.LogUniform(
                                                           1e6, static_cast<double>(longest))));
}

void SpawnSupervisor(World& world, std::string name, std::function<void()> body) {
  ++world.actors_running;
  world.scheduler.Spawn(world.director, std::move(name), [&world, body = std::move(body)] {
    body();
    --world.actors_running;
  });
}

}  // namespace lakestream::sim

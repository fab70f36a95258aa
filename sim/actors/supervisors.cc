// Supervisors start actors, decide what becomes of each incarnation, and start the next one. They
// play the operating system, the cluster's scheduler and the operator; they see the log as it is.
#include "base/text.h"
#include "lakestream/admin.h"
#include "lakestream/producer.h"
#include "manifest/keys.h"
#include "sim/actors/actors.h"

namespace lakestream::sim {
namespace {

constexpr Time kLook = 200 * kMillisecond;  // between two looks of a supervisor

struct Incarnation {
  Process* process = nullptr;
  std::optional<ActorEnd> end;
  bool over() const { return end || process->crashed; }
};

// What becomes of a new incarnation, by chance: a crash after some number of seams or a pause.
void DrawFate(World& world, Process* process) {
  const RunOptions& options = world.options;
  if (world.healed()) return;
  if (world.random.Chance(options.crash_chance)) {
    process->crash_after_seams =
        1 + static_cast<uint64_t>(world.random.LogUniform(1, options.seams_to_crash_max));
  }
  if (world.random.Chance(options.pause_chance)) {
    const Time in = static_cast<Time>(world.random.LogUniform(1e6, 20e9));
    const Time length =
        static_cast<Time>(world.random.LogUniform(0.1e9, static_cast<double>(options.pause_max)));
    world.scheduler.At(world.scheduler.now() + in, [&world, process, length] {
      if (world.healed() || process->crashed) return;
      ++world.pauses;
      ++process->faults;
      world.Line(process, "paused for " + TimeText(length));
      world.scheduler.Pause(process, length);
    });
  }
}

class Supervisor {
 public:
  using Body = std::function<ActorEnd(Process*)>;
  Supervisor(World& world, std::string name, Body body)
      : world_(world), name_(std::move(name)), body_(std::move(body)) {}

  void Start() {
    auto incarnation = std::make_shared<Incarnation>();
    incarnation->process = world_.NewProcess(Str(name_, "#", ++count_));
    DrawFate(world_, incarnation->process);
    world_.Line(incarnation->process, "starts");
    world_.scheduler.Spawn(incarnation->process, "main", [body = body_, incarnation] {
      incarnation->end = body(incarnation->process);
    });
    incarnations_.push_back(std::move(incarnation));
  }

  // Forgets those that are over; true if one of them reached its end.
  bool Reap() {
    bool done = false;
    std::erase_if(incarnations_, [&](const auto& incarnation) {
      if (!incarnation->over()) return false;
      done |= incarnation->end == ActorEnd::kDone;
      if (!incarnation->end) {
        ++world_.crashes;
        world_.Line(incarnation->process, "was killed");
      }
      return true;
    });
    return done;
  }

  // Those that can still do something. A paused process counts for dead to a cluster's scheduler
  // after a while.
  bool AnyRunning() const {
    for (const auto& incarnation : incarnations_) {
      if (incarnation->process->paused_until < world_.scheduler.now() + 5 * kSecond) return true;
    }
    return false;
  }
  bool empty() const { return incarnations_.empty(); }

  void Rest(Time longest) {
    world_.scheduler.SleepUntil(world_.scheduler.now() + static_cast<Time>(world_.random.LogUniform(
                                                             1e6, static_cast<double>(longest))));
  }

 private:
  World& world_;
  const std::string name_;
  const Body body_;
  uint32_t count_ = 0;
  std::vector<std::shared_ptr<Incarnation>> incarnations_;
};

void SpawnSupervisor(World& world, std::string name, std::function<void()> body) {
  ++world.actors_running;
  world.scheduler.Spawn(world.director, std::move(name), [&world, body = std::move(body)] {
    body();
    --world.actors_running;
  });
}

}  // namespace

void SuperviseProducer(World& world, uint32_t index) {
  SpawnSupervisor(world, Str("supervisor of producer ", index), [&world, index] {
    Supervisor supervisor(world, ProducerName(index), [&world, index](Process* process) {
      return RunProducer(world, process, index);
    });
    const double twins_a_look = world.options.twin_chance / 10;
    while (true) {
      supervisor.Reap();
      const bool finished = world.log().sealed() || world.log().Finished(ProducerName(index));
      if (finished && supervisor.empty() && world.log().sealed()) return;
      if (!finished && !supervisor.AnyRunning()) {
        supervisor.Rest(2 * kSecond);
        supervisor.Start();
      } else if (!finished && !world.healed() && world.random.Chance(twins_a_look)) {
        ++world.twins;
        supervisor.Start();
      }
      world.scheduler.SleepUntil(world.scheduler.now() + kLook);
    }
  });
}

void SuperviseConsumer(World& world, uint32_t rank) {
  SpawnSupervisor(world, Str("supervisor of reader ", rank), [&world, rank] {
    auto saved = std::make_shared<Step>(0);
    Supervisor supervisor(world, Str("reader-", rank), [&world, rank, saved](Process* process) {
      const Step start = world.random.Chance(0.9) ? *saved : 0;
      return RunConsumer(world, process, rank, start, *saved);
    });
    while (!supervisor.Reap()) {
      if (!supervisor.AnyRunning()) {
        supervisor.Rest(2 * kSecond);
        supervisor.Start();
      }
      world.scheduler.SleepUntil(world.scheduler.now() + kLook);
    }
  });
}

void SuperviseSeal(World& world) {
  if (world.options.declared) return;
  SpawnSupervisor(world, "operator", [&world] {
    const auto all_finished = [&world] {
      for (uint32_t p = 0; p < world.options.producers; ++p) {
        if (!world.log().Finished(ProducerName(p))) return false;
      }
      return true;
    };
    Process* process = world.NewProcess("operator");
    const std::shared_ptr<SimRuntime> runtime = world.RuntimeOf(process);
    while (!world.log().sealed()) {
      world.scheduler.SleepUntil(world.scheduler.now() + 500 * kMillisecond);
      if (!all_finished()) continue;
      Result<std::shared_ptr<Stream>> stream =
          Stream::Open(world.StoreOf(runtime), runtime, After(*runtime, Duration(60 * kSecond)));
      if (!stream.ok()) continue;
      const Status sealed = Seal(**stream, After(*runtime, Duration(60 * kSecond)));
      world.Line(process, "seal: " + sealed.ToString());
    }
  });
}

void SpoilHints(World& world) {
  if (!world.options.spoil_hints) return;
  world.scheduler.Spawn(world.director, "hint spoiler", [&world] {
    while (!world.healed()) {
      world.scheduler.SleepUntil(world.scheduler.now() +
                                 static_cast<Time>(world.random.LogUniform(0.1e9, 5e9)));
      if (world.random.Chance(0.5)) {
        world.storage->Remove(HeadKey(kMainBranch));
        continue;
      }
      std::vector<uint8_t> garbage(world.random.Below(60));
      for (uint8_t& byte : garbage) byte = static_cast<uint8_t>(world.random.Next());
      world.storage->Place(HeadKey(kMainBranch), garbage);
    }
  });
}

}  // namespace lakestream::sim

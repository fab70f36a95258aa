// The actors: what lives in simulated processes, and the supervisors that start, kill and restart
// them. All are deterministic functions of the world's seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lakestream/consumer.h"
#include "sim/world.h"

namespace lakestream::sim {

enum class ActorEnd {
  kDone,     // a producer has finished, a reader has seen the end of the stream
  kFenced,   // a newer session of the same producer is active
  kRunOver,  // the job has a newer run, or none
  kFailed,   // an error; the next incarnation goes on
};

// One incarnation of producer `index`: recovers, writes the items that are left, finishes.
ActorEnd RunProducer(World& world, Timeline& line, Process* process, uint32_t index);

struct ReaderPlan {
  uint32_t rank = 0;  // by SliceIndex
  Step start = 0;
  std::optional<ConsumerRun> run;
};
// One incarnation of a reader: reads from its start, saving its position in `saved`.
ActorEnd RunConsumer(World& world, Timeline& line, Process* process, const ReaderPlan& plan,
                     Step& saved);

// Spawn a supervisor in the director; it counts in world.actors_running until it is content.
void SuperviseProducer(World& world, Timeline& line, uint32_t index);
void SuperviseConsumer(World& world, Timeline& line, uint32_t rank);
// A job of `readers` ranks, started again as a whole now and then, some of its starts at a
// checkpoint.
void SuperviseJob(World& world, Timeline& line, uint32_t job);
// Seals the branch once all producers have finished, unless it seals itself.
void SuperviseSeal(World& world, Timeline& line);
// All of these for one branch.
void StartLine(World& world, Timeline& line);
// The operator, the reclaimers, and whoever starts the actors of new branches.
void SuperviseLifecycle(World& world);
// Deletes and garbles the head hint until the run heals.
void SpoilHints(World& world);

// After the run: with everything quiet and no faults, newcomers must find all as it is.
void Audit(World& world);

}  // namespace lakestream::sim

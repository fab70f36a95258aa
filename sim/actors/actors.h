// The actors: what lives in simulated processes, and the supervisors that start, kill and restart
// them. All are deterministic functions of the world's seed.
#pragma once

#include <cstdint>

#include "sim/world.h"

namespace lakestream::sim {

enum class ActorEnd {
  kDone,    // a producer has finished, a reader has seen the end of the stream
  kFenced,  // a newer session of the same producer is active
  kFailed,  // an error; the next incarnation goes on
};

// One incarnation of producer `index`: recovers, writes the items that are left, finishes.
ActorEnd RunProducer(World& world, Process* process, uint32_t index);
// One incarnation of the reader of `rank`: reads from `start`, saving its position in `saved`.
ActorEnd RunConsumer(World& world, Process* process, uint32_t rank, Step start, Step& saved);

// Spawn a supervisor in the director; it counts in world.actors_running until it is content.
void SuperviseProducer(World& world, uint32_t index);
void SuperviseConsumer(World& world, uint32_t rank);
// Seals the stream once all producers have finished, unless it seals itself.
void SuperviseSeal(World& world);
// Deletes and garbles the head hint until the run heals.
void SpoilHints(World& world);

// After the run: with everything quiet and no faults, newcomers must find all as it is.
void Audit(World& world);

}  // namespace lakestream::sim

// Supervisor: starts an actor, decides what becomes of each incarnation, and starts the next one.
// It plays the operating system and the cluster's scheduler.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/actors/actors.h"

namespace lakestream::sim {

inline constexpr Time kLook = 200 * kMillisecond;  // between two looks of a supervisor

class Supervisor {
 public:
  using Body = std::function<ActorEnd(Process*)>;
  Supervisor(World& world, std::string name, Body body)
      : world_(world), name_(std::move(name)), body_(std::move(body)) {}

  // `dies_after`: it crashes after so many seams; 0: its fate is drawn.
  void Start(uint64_t dies_after = 0);
  // Forgets those that are over; how those ended that came to an end by themselves.
  std::vector<ActorEnd> Reap();
  // Those that can still do something. A paused process counts for dead to a cluster's scheduler
  // after a while.
  bool AnyRunning() const;
  bool empty() const { return incarnations_.empty(); }
  void KillAll();
  void Rest(Time longest);

 private:
  struct Incarnation {
    Process* process = nullptr;
    std::optional<ActorEnd> end;
  };

  World& world_;
  const std::string name_;
  const Body body_;
  uint32_t count_ = 0;
  std::vector<std::shared_ptr<Incarnation>> incarnations_;
};

// A task of the director that counts in world.actors_running.
void SpawnSupervisor(World& world, std::string name, std::function<void()> body);

}  // namespace lakestream::sim

// World: one run. Processes, storage, history and the options that rule them, shared by the actors;
// and RunSeed(), which plays it and judges it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/stream.h"
#include "sim/checkers/checkers.h"
#include "sim/checkers/log_view.h"
#include "sim/checkers/retention.h"
#include "sim/history.h"
#include "sim/run_options.h"
#include "sim/sim_runtime.h"
#include "sim/sim_store.h"

namespace lakestream::sim {

// One branch of the stream: its items, its log, and what its actors saw.
struct Timeline {
  std::string branch = "main";
  const Timeline* parent = nullptr;
  ItemLaw items;
  uint64_t items_each = 0;
  bool started = false;  // it has producers and readers
  LogReader log;
  History history;

  // The items of a step are its own or, below its fork, its parent's.
  const ItemLaw& ItemsOf(Step step) const {
    return parent != nullptr && step < log.view().fork_step ? parent->ItemsOf(step) : items;
  }
  bool over() const { return log.sealed() || log.closed(); }
};

class World {
 public:
  World(RunOptions options, bool verbose);

  // A process of an actor, with clocks of its own.
  Process* NewProcess(std::string name);
  std::shared_ptr<SimRuntime> RuntimeOf(Process* process);
  std::shared_ptr<SimStore> StoreOf(std::shared_ptr<SimRuntime> runtime);
  StreamSpec Spec() const;

  // An event of the run: part of the event hash, and of the readable history if that is kept.
  void Line(const Process* process, std::string_view text);
  // A line of the history alone: what is only there to be read, and only when it is kept.
  void Show(const Process* process, std::string_view text);
  void Report(std::string checker, std::string detail);
  // The faults' time is over: what happens from now on must succeed.
  bool healed() const { return healed_; }
  void Heal();
  // All branches, parents first; their logs are as new as the store. New ones are found by their
  // branch/<name>.
  std::deque<Timeline>& lines();
  Timeline& main() { return lines().front(); }

  RunOptions options;
  Random random;  // of actors and supervisors
  Scheduler scheduler;
  std::shared_ptr<SimStorage> storage;
  bool keep_lines = false;  // the readable history is wanted
  std::vector<std::string> story;
  std::vector<Violation> violations;
  Process* director = nullptr;  // supervisors live here; never crashes
  uint32_t actors_running = 0;  // supervisors that have not come to their end
  bool over = false;            // duties that never end by themselves end now
  uint64_t crashes = 0;
  uint64_t pauses = 0;
  uint64_t twins = 0;
  uint64_t clock_jumps = 0;
  bool operator_works = false;
  uint32_t branches_begun = 0;

 private:
  void FindBranches();

  std::deque<Timeline> lines_;
  bool healed_ = false;
};

struct RunResult {
  uint64_t seed = 0;
  uint64_t event_hash = 0;
  std::vector<Violation> violations;
  std::string report;  // options, violations, and with `verbose` the whole history
  SimStorage::Coverage coverage = {};
  uint64_t crashes = 0;
  uint64_t pauses = 0;
  uint64_t twins = 0;
  uint64_t clock_jumps = 0;
  uint64_t steps = 0;
  uint64_t versions = 0;
  uint64_t sessions = 0;
  uint64_t reads = 0;
  uint64_t branches = 0;
  uint64_t checkpoints = 0;
  uint64_t trims = 0;
  uint64_t runs = 0;
  uint64_t removed = 0;  // objects, by reclamation
  uint64_t requests = 0;
  uint64_t switches = 0;
  Time virtual_time = 0;
};

// Plays and judges one run. What crashed processes held is leaked: call it in a forked child.
RunResult RunWorld(const RunOptions& options, bool verbose);

}  // namespace lakestream::sim

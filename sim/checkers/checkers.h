// The checkers: one for each invariant of docs/protocol.md that applies so far. Each is a pure
// function of the evidence and says what is broken, if anything; none knows how the product works.
#pragma once

#include <string>
#include <vector>

#include "sim/checkers/log_view.h"
#include "sim/history.h"

namespace lakestream::sim {

struct Evidence {
  const History& history;
  const LogView& log;
  Mesh mesh;
  ItemLaw law;
  uint64_t items_each = 0;  // of each producer, in the end
  uint32_t producers = 0;
  bool complete = true;  // the run came to its end: everything must have been committed
  uint64_t snapshot_interval = 0;
  std::vector<std::string> rewritten;  // immutable objects that were replaced by other bytes
};

// 1: every published step is there, whole and intact, before anyone can know of it.
std::vector<Violation> CheckAtomicVisibility(const Evidence& evidence);
// 2: steps have no gaps, and one meaning for ever and for everyone.
std::vector<Violation> CheckOneOrder(const Evidence& evidence);
// 3: each producer's items came once each, in order; readers got each step once; what was
// acknowledged or recovered is what was committed.
std::vector<Violation> CheckExactlyOnce(const Evidence& evidence);
// 4: only the newest session of a producer publishes.
std::vector<Violation> CheckNoZombie(const Evidence& evidence);
// 8: requests are bounded by what was done, whatever the history.
std::vector<Violation> CheckBoundedCost(const Evidence& evidence);

// All of them, in this order.
std::vector<Violation> CheckAll(const Evidence& evidence);

}  // namespace lakestream::sim

// History: what every actor on one branch did and saw. Checkers judge it together with the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/types.h"
#include "sim/items.h"
#include "sim/scheduler.h"

namespace lakestream::sim {

// A producer's session began.
struct SessionOpened {
  uint32_t producer = 0;
  SessionId session = 0;
  Time started_at = 0;  // Open() was called
  Time at = 0;          // ... and returned
  uint64_t recovered_tgbs = 0;
  std::optional<uint64_t> recovered_next;  // by the recovered state; nullopt: not a valid state
};

// A producer was told that its items below `items` are committed.
struct ItemsAcked {
  uint32_t producer = 0;
  SessionId session = 0;
  Time at = 0;
  uint64_t items = 0;
};

// A session handed item `item` to Write(), with the state behind it.
struct ItemIssued {
  uint32_t producer = 0;
  SessionId session = 0;
  Time at = 0;
  uint64_t item = 0;
};

// One incarnation of a consumer began to read at a step.
struct ReaderOpened {
  uint32_t reader = 0;  // incarnation
  uint32_t dp = 0;
  uint32_t cp = 0;
  Step start = 0;
  Time at = 0;
};

struct SliceRead {
  uint32_t reader = 0;  // index into History::readers
  Time at = 0;
  Step step = 0;
  std::optional<ItemId> item;  // nullopt: not a slice of any item
  bool intact = false;         // the bytes are exactly the item's slice of this rank
};

// A reader was told that the stream ends at this step.
struct StreamEnded {
  uint32_t reader = 0;
  Time at = 0;
  Step end = 0;
};

// A rank of a job's run gave up the steps below `step`.
struct DurableDeclared {
  std::string job;
  std::string run;
  uint32_t rank = 0;
  Time at = 0;
  Step step = 0;
};

// A reader was told that what it asks for is not to be had any more.
struct ReaderRefused {
  uint32_t reader = 0;
  Time at = 0;
  Step step = 0;
  Reason reason = Reason::kNone;
  std::string job;  // "": it reads for none
  std::string run;
};

// What one process cost, in requests.
struct ProcessCost {
  std::string process;
  bool producer = false;
  bool disturbed = false;  // it met a fault, a crash or a pause: no bound is asserted
  uint64_t requests = 0;
  uint64_t versions = 0;         // that passed while it lived
  uint64_t commit_attempts = 0;  // producers
  uint64_t objects = 0;          // producers: data objects it put
  uint64_t steps = 0;            // consumers: slices read
  double seconds = 0;            // virtual time that it lived
};

struct History {
  std::vector<SessionOpened> sessions;
  std::vector<ItemIssued> issued;
  std::vector<ItemsAcked> acks;
  std::vector<ReaderOpened> readers;
  std::vector<SliceRead> reads;
  std::vector<StreamEnded> ends;
  std::vector<DurableDeclared> durables;
  std::vector<ReaderRefused> refusals;
  std::vector<ProcessCost> costs;
};

// A broken invariant: which checker says so, and why.
struct Violation {
  std::string checker;
  std::string detail;
};

}  // namespace lakestream::sim

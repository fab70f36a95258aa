// StepIndex: where a step lies.
//
// A step of the open index page is in the follower's state; an older one is in one index page (one
// GET, cached). A page that is not written yet (its writer died between its commit and the page) is
// made from the log, which costs about log2(versions) small GETs and the records of the page;
// readers need no right to write. Steps below a branch's fork are found through its parent.
//
// Confined to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "ledger/follower.h"

namespace lakestream {

struct StepPlace {
  Step step = 0;
  uint32_t tgb_ordinal = 0;            // in the data object
  std::shared_ptr<const Entry> entry;  // the object that holds it
  std::string branch;                  // that published it
  // Steps from here to this one (not included) lie in the same object, one after the other. On a
  // branch, an object of the parent may go on past the fork.
  Step end_step = 0;
};

class StepIndex {
 public:
  // Sees the follower's pages through Remember(), its state through `follower`.
  explicit StepIndex(const Follower& follower);
  ~StepIndex();

  // kNotFound (kStepNotYet) at or past the end that the follower knows; kFailedPrecondition
  // (kStepTrimmed) below the trim point that it knows.
  Result<StepPlace> Locate(Step step, const Deadline& deadline);
  // A page that was sealed just now: spares its GET.
  void Remember(const IndexPage& page);
  // A sealed page of this branch, until the next call.
  Result<const IndexPage*> Page(uint64_t page, const Deadline& deadline, bool retry = false);

 private:
  struct Parent;
  Result<StepPlace> Find(Step step, const Deadline& deadline);
  Result<StepIndex*> ParentIndex(const Deadline& deadline);
  StepPlace PlaceIn(const PlacedEntry& placed, Step step);

  const Follower& follower_;
  std::deque<IndexPage> pages_;  // most recently used last
  PlacedEntry last_;             // shared by the steps of one object
  std::shared_ptr<const Entry> last_entry_;
  std::unique_ptr<Parent> parent_;  // once it was needed
};

// What a reader of a trimmed step is told.
Status TrimmedError(const LedgerContext& context, Step step, Step trim_step);

// Makes an index page from the log: bisects for the version that published the page's first step,
// then reads on; what is reclaimed of that is taken from the boundary's snapshot. `state` must be
// past the page's end.
// kDataLoss if the records that it needs are missing, or were reclaimed before `boundary`;
// kUnavailable if they were just now.
Result<IndexPage> BuildIndexPage(const LedgerContext& context, const State& state,
                                 const Boundary& boundary, uint64_t page, const Deadline& deadline);

}  // namespace lakestream

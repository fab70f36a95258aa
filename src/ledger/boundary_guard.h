// BoundaryGuard: tells whether a slot of the log can still be believed.
//
// Put-if-absent cannot know that a name existed and was reclaimed: a writer that was paused for
// hours could create an old slot again, and a reader that was paused could believe it. So a record
// or a successful put counts only if the boundary was seen at or below its slot, not long before
// the store's answer: reclamation removes a record at least L (StreamSpec::reclaim_grace) after the
// boundary passed it, so a look at the boundary at most L/2 old (by the store's clock) proves that
// the slot had not been reclaimed when the store answered.
//
// Confined to one thread at a time.
#pragma once

#include "ledger/context.h"
#include "manifest/state.h"

namespace lakestream {

// What readers and writers of a deleted branch are told.
Status BranchClosedError(const LedgerContext& context);

class BoundaryGuard {
 public:
  explicit BoundaryGuard(const LedgerContext& context) : context_(context) {}

  // Reads the boundary. kFailedPrecondition (kBranchClosed) if the branch was deleted.
  Status Look(const Deadline& deadline);
  // Whether what the store said of slot `version` at its time `date_ms` (0: unknown) counts. Looks
  // again if the last look is too old for that.
  Result<bool> Keeps(Version version, int64_t date_ms, const Deadline& deadline);
  // Looks again if the last look is old by this host's clock: for answers without a date ("there is
  // no such slot"), where being late costs time only.
  Status LookIfOld(const Deadline& deadline);

  const Boundary& boundary() const { return boundary_; }

 private:
  Duration HalfGrace() const { return context_.info.spec.reclaim_grace / 2; }

  LedgerContext context_;
  Boundary boundary_;
  int64_t seen_ms_ = 0;  // the store's clock at or before the last look; 0: never
  TimePoint looked_at_{};
};

}  // namespace lakestream

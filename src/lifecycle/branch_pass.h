// BranchPass: reclamation of one branch. The order of its steps, and why each is safe, is in
// docs/protocol.md, "Reclamation".
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lakestream/lifecycle.h"
#include "ledger/ledger_writer.h"
#include "lifecycle/boundary_store.h"
#include "lifecycle/step_ranges.h"
#include "lifecycle/sweeper.h"

namespace lakestream {

class BranchPass {
 public:
  // Borrows all but the stream.
  BranchPass(std::shared_ptr<Stream> stream, const ReclaimOptions& options, ReclaimReport& report);

  // Reads boundary and state. A branch that was deleted and is empty by now has no state.
  Status Start(const Deadline& deadline);

  const std::string& name() const { return stream_->info().branch.name; }
  const std::shared_ptr<Stream>& stream() const { return stream_; }
  const State& state() const { return ledger_.state(); }
  bool closed() const { return stored_.boundary.closed; }
  // Nothing of it is needed any more, by anyone.
  bool is_gone() const { return closed() && stored_.HasStood(stream_->info()); }
  // The first step that somebody may still read on this branch.
  Step first_needed() const;

  // Removes what the boundary has released. `needed`: the steps that this branch or one that
  // descends from it needs.
  Status Remove(const StepRanges& needed, const Deadline& deadline);
  // Commits what ends sessions, checkpoints and runs that never came back.
  Status EndWhatIsAbandoned(const Deadline& deadline);
  // Moves the boundary, if it has done its work and there is more to give up.
  Status Advance(const StepRanges& needed, const Deadline& deadline);
  // Counts the steps that are given up and still there. `needed` as for Remove().
  Status CountWaiting(const StepRanges& needed, const Deadline& deadline);
  // Takes a branch whose objects are gone off the list.
  Status Forget(const std::string& branch, const Deadline& deadline);
  // Writes the description of a branch whose maker died before it did.
  Status DescribeBranches(const Deadline& deadline);

 private:
  struct ObjectRef {
    SessionId session = 0;
    uint32_t object = 0;
    auto operator<=>(const ObjectRef&) const = default;
  };
  bool may_remove() const { return stored_.HasStood(stream_->info()); }
  Status OvertakenOr(const Status& status, Step end, const Deadline& deadline);
  Status RemoveAll(const Deadline& deadline);
  Result<std::vector<ObjectRef>> Referred(const StepRanges& needed, const Deadline& deadline);
  Status RemoveData(const StepRanges& needed, const Deadline& deadline);
  Status RemoveManifest(const StepRanges& needed, const Deadline& deadline);
  Status RemoveSmall(const Deadline& deadline);
  Result<bool> Commit(const Committer::Planner& plan, const Deadline& deadline);
  Result<Version> NewestUsableSnapshot(const StepRanges& needed, const Deadline& deadline);
  Result<bool> PagesAreThere(const State& at, const StepRanges& needed, const Deadline& deadline);

  const std::shared_ptr<Stream> stream_;
  const ReclaimOptions& options_;
  ReclaimReport& report_;
  LedgerWriter ledger_;
  Sweeper sweeper_;
  StoredBoundary stored_;
  // Current sessions with uploads that are not published, and the time of the newest of those.
  std::map<SessionId, int64_t> pending_;
};

}  // namespace lakestream

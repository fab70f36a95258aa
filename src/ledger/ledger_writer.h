// LedgerWriter: a follower, a committer and the housekeeping behind it, for operations that make a
// commit now and then. Confined to one thread.
#pragma once

#include "ledger/committer.h"
#include "ledger/housekeeping.h"

namespace lakestream {

class LedgerWriter {
 public:
  explicit LedgerWriter(const LedgerContext& context);

  // Cold start, to the newest version.
  Status Start(const Deadline& deadline) { return follower_.Start(deadline); }
  // Commits what `planner` asks for (Committer::Commit), then does the housekeeping.
  Result<CommitOutcome> Commit(const Committer::Planner& planner, const Deadline& deadline);

  Follower& follower() { return follower_; }
  const State& state() const { return follower_.state(); }
  const LedgerContext& context() const { return follower_.context(); }

 private:
  Follower follower_;
  Committer committer_;
  Housekeeping housekeeping_;
};

}  // namespace lakestream

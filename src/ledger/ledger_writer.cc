#include "ledger/ledger_writer.h"

namespace lakestream {

LedgerWriter::LedgerWriter(const LedgerContext& context)
    : follower_(context), committer_(follower_), housekeeping_(follower_) {
  follower_.set_observer(
      [this](const ReadRecord&, const State& state, const std::vector<IndexPage>& pages) {
        housekeeping_.OnFolded(state, pages);
      });
}

Result<CommitOutcome> LedgerWriter::Commit(const Committer::Planner& planner,
                                           const Deadline& deadline) {
  auto outcome = committer_.Commit(planner, deadline);
  housekeeping_.AfterCommits(committer_.TakeOwnVersions(), deadline);
  return outcome;
}

}  // namespace lakestream

#include "lakestream/admin.h"
#include "ledger/committer.h"
#include "ledger/housekeeping.h"

namespace lakestream {

Status Seal(Stream& stream, const Deadline& deadline) {
  Follower follower({stream.store(), stream.runtime(), stream.info()});
  Housekeeping housekeeping(follower.context());
  follower.set_observer(
      [&](const ReadRecord&, const State& state, const std::vector<IndexPage>& pages) {
        housekeeping.OnFolded(state, pages);
      });
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  Committer committer(follower);
  const auto plan = [](const State& state) -> Result<std::vector<Change>> {
    if (state.sealed) return std::vector<Change>();
    return std::vector<Change>{SealChange{}};
  };
  const Status sealed = committer.Commit(plan, deadline).status();
  housekeeping.AfterCommits(committer.TakeOwnVersions(), follower.state(), deadline);
  return sealed;
}

}  // namespace lakestream

// Reading and moving boundary/<branch>, and describing branches: what deletion and reclamation
// share.
#pragma once

#include <string>

#include "ledger/context.h"
#include "manifest/state.h"

namespace lakestream {

struct StoredBoundary {
  Boundary boundary;
  std::string etag;         // empty: there is none yet
  int64_t modified_ms = 0;  // when it was moved last, by the store's clock
  int64_t date_ms = 0;      // the store's clock now
  // Whether it has stood for L: what it releases may be removed.
  bool HasStood(const StreamInfo& info) const {
    return !etag.empty() && date_ms - modified_ms >= info.spec.reclaim_grace.count();
  }
};
// No boundary: nothing is released.
Result<StoredBoundary> ReadBoundary(ObjectStore& store, const StreamInfo& info,
                                    const std::string& branch, const Deadline& deadline);
// Compare-and-swap. False: somebody else has moved it.
Result<bool> MoveBoundary(ObjectStore& store, const StreamInfo& info, const std::string& branch,
                          const StoredBoundary& from, const Boundary& to, const Deadline& deadline);
// Marks a branch as closed whose log is.
Status CloseBoundary(const LedgerContext& context, const State& state, const Deadline& deadline);

// Writes branch/<name> and its first boundary as the fork's commit says. kAlreadyExists if another
// branch has the name.
Status PutBranch(const LedgerContext& parent, const std::string& name, const BranchRow& row,
                 const Deadline& deadline);

}  // namespace lakestream

// From a state to what the public header tells of it.
#pragma once

#include <vector>

#include "lakestream/lifecycle.h"
#include "ledger/follower.h"
#include "manifest/state.h"

namespace lakestream {

// By step, then name.
std::vector<CheckpointInfo> DescribeCheckpoints(const State& state);
// Reads the watermarks: a LIST for each run and thousand ranks.
Result<std::vector<RunInfo>> DescribeRuns(const LedgerContext& context, const State& state,
                                          const Deadline& deadline);
// The branches of `state`, which is that of `stream`, and all that descend from them, parents
// first. A cold start for each.
Result<std::vector<BranchSummary>> DescribeBranches(const Stream& stream, const State& state,
                                                    const Deadline& deadline);
// An object goes as a whole: if `step` is the first to stay, the steps from this one on stay too.
Result<Step> FirstStepOfObject(const Follower& follower, Step step, const Deadline& deadline);

}  // namespace lakestream

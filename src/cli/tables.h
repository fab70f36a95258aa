// What info shows as well as the command of its own: checkpoints, runs, branches.
#pragma once

#include <vector>

#include "cli/output.h"
#include "lakestream/lifecycle.h"

namespace lakestream::cli {

Json ToJson(const std::vector<CheckpointInfo>& checkpoints);
void PrintCheckpoints(const std::vector<CheckpointInfo>& checkpoints);

// `next_step`: the stream's end, for the lag.
Json ToJson(const std::vector<RunInfo>& runs, Step next_step);
void PrintRuns(const std::vector<RunInfo>& runs, Step next_step);

Json ToJson(const std::vector<BranchSummary>& branches);
void PrintBranches(const std::vector<BranchSummary>& branches);

}  // namespace lakestream::cli

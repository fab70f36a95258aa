// What retention must keep, and must not: judged over all branches at once, from the archive of the
// store and the folded logs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/checkers/log_view.h"
#include "sim/history.h"

namespace lakestream::sim {

// One branch, as the run left it.
struct LineEvidence {
  std::string parent;  // "": main
  Time described_at = 0;
  Step first_trim = 0;  // its trim point when it was forked
  const LogView& log;
  const History& history;
};

struct RetentionEvidence {
  const std::vector<LineEvidence>& lines;  // parents first
  const Archive& archive;
  const StreamInfo& info;
  std::vector<std::pair<std::string, Time>> unfinished_uploads;
  Time now = 0;  // of the end of the run
  // Everybody came to an end, and reclamation had its time since: what is of no use must be gone.
  bool settled = false;
};

// 5: nothing that a checkpoint, a run, a branch, a reader within the grace or a recovery needs was
// ever removed; no trim passed a need; readers are refused only what was given up.
std::vector<Violation> CheckNothingLost(const RetentionEvidence& evidence);
// 6: what is left in the end is of use.
std::vector<Violation> CheckNothingUseless(const RetentionEvidence& evidence);

}  // namespace lakestream::sim

// What a stream keeps, and for whom: checkpoints, runs of jobs, trim, branches, and the reclamation
// of what nobody can reach any more. docs/protocol.md has the reasons.
//
// Every call works on the branch that the stream handle is on, makes its changes by commits of its
// own, and may be made from any process at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lakestream/stream.h"

namespace lakestream {

// ---- Checkpoints: named records that a job can return to `step`. No trim passes one.

struct CheckpointInfo {
  std::string name;
  Step step = 0;
  std::string note;     // the job's own, for example where its model lies
  bool pinned = false;  // no retention rule deletes it
  bool live = false;    // false: some ranks' parts are missing; it does not count
  uint32_t parts = 0;
  std::string attempt;
  Version begun = 0;
  int64_t time_ms = 0;  // the store's clock when it began
};

struct SaveCheckpointOptions {
  std::string name;
  Step step = 0;  // the step to be read next when a job returns to it
  std::string note;
  bool pinned = false;
  // For jobs whose ranks save separately: each rank calls with its own `part` of `parts`, once its
  // own state is durable; the checkpoint is live once all parts are there. 0: live at once.
  uint32_t parts = 0;
  uint32_t part = 0;
  // Tells one try from another after a crash (the run's id): parts of another try never count.
  std::string attempt;
};
// Whether the checkpoint is live now (the last part makes it so). Saving the same again is OK.
// kAlreadyExists if a live one of this name is at another step; kFailedPrecondition (kStepTrimmed,
// kStepNotYet) if its step is not there.
Result<bool> SaveCheckpoint(Stream& stream, const SaveCheckpointOptions& options,
                            const Deadline& deadline);
// By step, then name; pending ones too.
Result<std::vector<CheckpointInfo>> ListCheckpoints(Stream& stream, const Deadline& deadline);
// A live one, or kNotFound (kNoCheckpoint).
Result<CheckpointInfo> FindCheckpoint(Stream& stream, const std::string& name,
                                      const Deadline& deadline);
Status PinCheckpoint(Stream& stream, const std::string& name, bool pinned,
                     const Deadline& deadline);
// Live or pending. kFailedPrecondition (kHeldBack) if it is pinned.
Status DeleteCheckpoint(Stream& stream, const std::string& name, const Deadline& deadline);

// ---- Runs: a job that reads says so, and how far it has come.

struct AttachOptions {
  std::string job;
  std::string run;     // one start of the job; all its ranks name the same
  uint32_t ranks = 1;  // that will report
  Step start = 0;
};
// Replaces the job's run before, whose readers are told (kRunOver). Every rank may call: the first
// one attaches. kFailedPrecondition (kStepTrimmed) if `start` is trimmed.
Status AttachRun(Stream& stream, const AttachOptions& options, const Deadline& deadline);
// OK also if the run is over already.
Status DetachRun(Stream& stream, const std::string& job, const std::string& run,
                 const Deadline& deadline);

struct RankProgress {
  uint32_t rank = 0;
  Step read = 0;         // the step that it reads next
  Step durable = 0;      // the step that it would restart at
  int64_t quiet_ms = 0;  // since its last report
};
struct RunInfo {
  std::string job;
  std::string run;
  uint32_t ranks = 0;
  uint32_t ranks_reporting = 0;
  Step start = 0;
  Step read = 0;            // of the slowest rank; `start` until all have reported
  Step durable = 0;         // the step that the slowest rank would restart at
  int64_t quiet_ms = 0;     // since the last sign of life of any rank, by the store's clock
  int64_t attached_ms = 0;  // by the store's clock
  std::vector<RankProgress> ranks_seen;  // those that have reported
};
Result<std::vector<RunInfo>> ListRuns(Stream& stream, const Deadline& deadline);

// ---- Trim: gives up old steps, by a commit. Reclamation removes them later.

// Which checkpoints stay. With no rule set, all do.
struct RetentionRules {
  std::optional<uint32_t> keep_last;       // live ones, by step
  uint64_t keep_every = 0;                 // those at steps divisible by it
  Duration keep_newer = Duration::zero();  // by the store's clock
  // Above so many stored bytes of steps, the oldest checkpoints that are not pinned go whatever the
  // other rules say, with a warning in the log. An estimate by the mean size of a step.
  uint64_t bytes_max = 0;
  bool any() const {
    return keep_last.has_value() || keep_every > 0 || keep_newer > Duration::zero() ||
           bytes_max > 0;
  }
};
struct TrimOptions {
  RetentionRules rules;
  // The first step to keep. Absent: the first one that a checkpoint that stays, or a run's durable
  // position, needs; nothing is trimmed if there is neither.
  std::optional<Step> to;
  bool dry_run = false;
};
// What stays, and why.
struct KeptStep {
  Step step = 0;     // the first one that it needs
  std::string what;  // "checkpoint x", "job y"
  std::string why;   // "pinned", "one of the last 3"
};
struct TrimReport {
  Step from = 0;                     // the trim point before
  Step to = 0;                       // ... and after
  uint64_t bytes = 0;                // given up, by the mean size of a step
  std::vector<std::string> dropped;  // checkpoints
  std::vector<std::string> held_by;  // what keeps step `to`: "checkpoint x", "job y"
  std::vector<KeptStep> kept;        // all checkpoints and runs that stay, by step
  bool over_bytes_max = false;       // still above it: what is left is pinned or being read
};
// kFailedPrecondition (kHeldBack) naming what needs the steps, if `to` is given and passes it.
Result<TrimReport> Trim(Stream& stream, const TrimOptions& options, const Deadline& deadline);

// ---- Branches: other lines of steps that share what lies below their fork.

// From `step` (trim point to end) of the stream's branch. Names are never used twice. Making the
// same again is OK. kAlreadyExists if the name is taken.
Status CreateBranch(Stream& stream, const std::string& name, Step step, const Deadline& deadline);
struct BranchSummary {
  BranchInfo info;
  bool deleted = false;  // its objects are being reclaimed
  // Of the branch itself; 0 if it is deleted.
  Step trim_step = 0;
  Step next_step = 0;
};
// All branches that descend from the stream's branch, parents first.
Result<std::vector<BranchSummary>> ListBranches(Stream& stream, const Deadline& deadline);
// Closes it: writers and readers are told (kBranchClosed), reclamation removes what only it held.
// kFailedPrecondition (kHeldBack) while it has branches itself.
Status DeleteBranch(Stream& stream, const std::string& name, const Deadline& deadline);

// ---- Reclamation: removes what nothing can reach. Safe anywhere, at any time, several at once.

struct ReclaimOptions {
  bool dry_run = false;  // says what a pass would remove now; changes nothing
  // Ends (fences) sessions whose uploaded but unpublished objects are older than this.
  Duration fence_after = std::chrono::hours(24 * 7);
  // Drops pending checkpoints, and aborts uploads, that are older than this.
  Duration abandon_after = std::chrono::hours(24);
  // Detaches runs without a sign of life for so long; zero: never.
  Duration detach_after = Duration::zero();
  // Called now and then with the number of objects removed so far.
  std::function<void(uint64_t removed)> progress;
};
struct ReclaimReport {
  uint64_t data_objects = 0;
  uint64_t data_bytes = 0;
  uint64_t log_records = 0;
  uint64_t snapshots = 0;
  uint64_t index_pages = 0;
  uint64_t small_objects = 0;      // parts, watermarks, left-overs of probes
  uint64_t uploads = 0;            // abandoned ones
  std::vector<std::string> ended;  // "session 3 of video-0", "checkpoint x", "job y", "branch z"
  // What is given up but must stay until the store's clock shows this; 0: nothing waits.
  int64_t next_release_ms = 0;
  // Steps that are given up and whose data is still there; bytes by the mean size of a step.
  uint64_t waiting_steps = 0;
  uint64_t waiting_bytes = 0;
  uint64_t removed() const {
    return data_objects + log_records + snapshots + index_pages + small_objects;
  }
};
// One pass over the stream's branch and all that descend from it; give it a handle on main. Memory
// grows with the retained data objects (16 bytes each), not with what is removed.
// kFailedPrecondition (kUnsafeStore) on a store without compare-and-swap.
Result<ReclaimReport> Reclaim(Stream& stream, const ReclaimOptions& options,
                              const Deadline& deadline);

// What holds the steps of the stream's branch, and what is given up but still takes space.
struct Retention {
  Step trim_step = 0;  // steps below it are given up
  Step next_step = 0;
  std::vector<CheckpointInfo> checkpoints;
  std::vector<RunInfo> runs;
  std::vector<BranchSummary> branches;
  // Reclamation may remove steps below `released_step` and log records up to `released_version`
  // once the store's clock shows `release_ms` (0: it has released nothing).
  Step released_step = 0;
  Version released_version = 0;
  int64_t release_ms = 0;
  int64_t now_ms = 0;  // the store's clock
  // Given up, kept for no branch, and not removed yet; bytes by the mean size of a step.
  uint64_t reclaimable_steps = 0;
  uint64_t reclaimable_bytes = 0;
};
// One cold start, one more for each branch, a LIST for each run and a few requests.
Result<Retention> GetRetention(Stream& stream, const Deadline& deadline);

}  // namespace lakestream

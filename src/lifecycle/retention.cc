// What a stream keeps and for whom, from one look at its state.
#include <algorithm>

#include "ledger/step_index.h"
#include "lifecycle/boundary_store.h"
#include "lifecycle/describe.h"
#include "lifecycle/step_ranges.h"
#include "manifest/keys.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

// What branches still read of their parents' steps.
StepRanges NeededByBranches(const std::vector<BranchSummary>& branches) {
  StepRanges needed;
  for (const BranchSummary& branch : branches) {
    if (!branch.deleted) needed.push_back({branch.trim_step, branch.info.fork_step});
  }
  return needed;
}

// The highest step of [from, to) that no branch needs.
std::optional<Step> LastUnneeded(const StepRanges& needed, Step from, Step to) {
  for (Step step = to; step > from;) {
    const auto range = std::find_if(needed.begin(), needed.end(),
                                    [&](const StepRange& r) { return r.Meets(step - 1, step); });
    if (range == needed.end()) return step - 1;
    step = range->first;
  }
  return std::nullopt;
}

// Where one of the branch's own steps lies, unless its index page is gone.
Result<std::optional<PlacedEntry>> Place(const Follower& follower, Step step,
                                         const Deadline& deadline) {
  const LedgerContext& context = follower.context();
  if (const PlacedEntry* placed = FindStep(follower.state().tail, step))
    return std::optional(*placed);
  const uint64_t page = step / context.info.spec.index_page_steps;
  auto bytes = GetBytes(context.store, IndexKey(context.branch(), page), deadline);
  if (bytes.status().code() == Code::kNotFound) return std::optional<PlacedEntry>();
  LS_RETURN_IF_ERROR(bytes.status());
  LS_ASSIGN_OR_RETURN(const IndexPage decoded, DecodeIndexPage(context.info, page, bytes->bytes()));
  const PlacedEntry* const placed = FindStep(decoded.entries, step);
  return placed == nullptr ? std::optional<PlacedEntry>() : std::optional(*placed);
}

// Whether the data of a step below the boundary is still there. Asks for as little as possible:
// reclamation removes data first, then index pages.
Result<bool> IsThere(const Follower& follower, Step step, const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(const auto placed, Place(follower, step, deadline));
  if (!placed) return false;
  const LedgerContext& context = follower.context();
  const std::string key = DataKey(context.branch(), placed->entry.session, placed->entry.object);
  auto head = context.store.Head(key, deadline);
  if (head.status().code() == Code::kNotFound) return false;
  LS_RETURN_IF_ERROR(head.status());
  return true;
}

}  // namespace

Result<Step> FirstStepOfObject(const Follower& follower, Step step, const Deadline& deadline) {
  const Step fork = follower.context().info.branch.fork_step;
  if (step <= fork || step >= follower.state().next_step) return step;
  LS_ASSIGN_OR_RETURN(const auto placed, Place(follower, step, deadline));
  return placed ? placed->first_step : step;
}

Result<Retention> GetRetention(Stream& stream, const Deadline& deadline) {
  Follower follower(ContextOf(stream));
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  const State& state = follower.state();
  Retention retention{.trim_step = state.trim_step, .next_step = state.next_step};
  retention.checkpoints = DescribeCheckpoints(state);
  LS_ASSIGN_OR_RETURN(retention.runs, DescribeRuns(follower.context(), state, deadline));
  LS_ASSIGN_OR_RETURN(retention.branches, DescribeBranches(stream, state, deadline));
  const std::string& name = stream.info().branch.name;
  LS_ASSIGN_OR_RETURN(const StoredBoundary stored,
                      ReadBoundary(stream.store(), stream.info(), name, deadline));
  const Boundary& boundary = stored.boundary;
  retention.now_ms = stored.date_ms;
  retention.released_step = boundary.first_step;
  retention.released_version = boundary.snapshot;
  if (boundary.decided_at > 0)
    retention.release_ms = stored.modified_ms + stream.info().spec.reclaim_grace.count();
  const StepRanges needed = NeededByBranches(retention.branches);
  const Step own = stream.info().branch.fork_step;
  Step there = std::max(boundary.settled_step, own);
  if (stored.HasStood(stream.info())) {
    // A pass may have removed what the boundary releases: the last of it tells.
    LS_ASSIGN_OR_RETURN(const Step end, FirstStepOfObject(follower, boundary.first_step, deadline));
    const auto last = LastUnneeded(needed, there, end);
    const Result<bool> waits = last ? IsThere(follower, *last, deadline) : Result<bool>(false);
    LS_RETURN_IF_ERROR(waits.status());
    if (!*waits) there = std::max(boundary.first_step, own);
  }
  LS_ASSIGN_OR_RETURN(const Step end, FirstStepOfObject(follower, state.trim_step, deadline));
  retention.reclaimable_steps = CountOutside(needed, there, end);
  retention.reclaimable_bytes = retention.reclaimable_steps * MeanStepBytes(stream.info(), state);
  return retention;
}

}  // namespace lakestream

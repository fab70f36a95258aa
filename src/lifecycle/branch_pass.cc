#include "lifecycle/branch_pass.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "ledger/step_index.h"
#include "lifecycle/describe.h"
#include "lifecycle/store_clock.h"
#include "lifecycle/watermarks.h"
#include "manifest/keys.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

using Changes = std::vector<Change>;

// Versions that stay in the log at least, in snapshot intervals: for `tail`, and so that nobody has
// to jump who is only a little behind.
constexpr uint64_t kIntervalsKept = 2;

}  // namespace

BranchPass::BranchPass(std::shared_ptr<Stream> stream, const ReclaimOptions& options,
                       ReclaimReport& report)
    : stream_(std::move(stream)),
      options_(options),
      report_(report),
      ledger_(ContextOf(*stream_)),
      sweeper_(ledger_.context(), options_, report_) {}

Status BranchPass::Start(const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(stored_, ReadBoundary(stream_->store(), stream_->info(), name(), deadline));
  if (closed()) return OkStatus();
  const Status started = ledger_.Start(deadline);
  if (started.reason() != Reason::kBranchClosed) return started;
  LS_ASSIGN_OR_RETURN(stored_, ReadBoundary(stream_->store(), stream_->info(), name(), deadline));
  return OkStatus();
}

// A boundary that was moved just now still has readers below it, down to where the one before
// stood.
Step BranchPass::first_needed() const {
  const BranchInfo& branch = stream_->info().branch;
  const Boundary& boundary = stored_.boundary;
  return std::max(may_remove() ? boundary.first_step : boundary.settled_step, branch.trim_step);
}

Status BranchPass::Remove(const StepRanges& needed, const Deadline& deadline) {
  if (!may_remove()) {
    const int64_t release_ms = stored_.modified_ms + stream_->info().spec.reclaim_grace.count();
    if (!stored_.etag.empty() && stored_.boundary != Boundary{})
      report_.next_release_ms = std::max(report_.next_release_ms, release_ms);
    return OkStatus();
  }
  if (closed()) return RemoveAll(deadline);
  LS_RETURN_IF_ERROR(RemoveData(needed, deadline));
  LS_RETURN_IF_ERROR(RemoveManifest(needed, deadline));
  return RemoveSmall(deadline);
}

// A deleted branch leaves branch/<name> and its boundary: the name is not to be used again.
Status BranchPass::RemoveAll(const Deadline& deadline) {
  const auto all = [](const ObjectInfo&) { return true; };
  const auto data = [this](const ObjectInfo& object) {
    report_.data_bytes += object.size;
    return true;
  };
  LS_RETURN_IF_ERROR(sweeper_.Sweep(DataPrefix(name()), "", report_.data_objects, data, deadline));
  LS_RETURN_IF_ERROR(sweeper_.Sweep(IndexPrefix(name()), "", report_.index_pages, all, deadline));
  LS_RETURN_IF_ERROR(sweeper_.Sweep(SnapshotPrefix(name()), "", report_.snapshots, all, deadline));
  LS_RETURN_IF_ERROR(sweeper_.Sweep(LogPrefix(name()), "", report_.log_records, all, deadline));
  for (const std::string& prefix : {PartsPrefix(name()), WatermarksPrefix(name())}) {
    LS_RETURN_IF_ERROR(sweeper_.Sweep(prefix, "", report_.small_objects, all, deadline));
  }
  const auto hint = [this](const ObjectInfo& object) { return object.key == HeadKey(name()); };
  return sweeper_.Sweep(HeadKey(name()), "", report_.small_objects, hint, deadline);
}

// An index page that is missing (its steps end at `end`) may have been removed by a pass that saw
// the boundary stand, or move, after this one looked; or, below what this branch itself needs, one
// that saw its last branch give it up.
Status BranchPass::OvertakenOr(const Status& status, Step end, const Deadline& deadline) {
  if (status.code() != Code::kDataLoss) return status;
  LS_ASSIGN_OR_RETURN(const StoredBoundary now,
                      ReadBoundary(stream_->store(), stream_->info(), name(), deadline));
  const bool by_branches_only = end <= first_needed();
  if (!by_branches_only && now.boundary == stored_.boundary &&
      now.HasStood(stream_->info()) == may_remove()) {
    return status;
  }
  return UnavailableError(Str("another reclamation of branch ", name(), " of ",
                              stream_->store().Describe(),
                              " went on meanwhile and this one ends; run it again, and if it stays "
                              "so, 'lakestream verify'"));
}

// The branch's own data objects that hold a needed step, or a producer's state; sorted.
Result<std::vector<BranchPass::ObjectRef>> BranchPass::Referred(const StepRanges& needed,
                                                                const Deadline& deadline) {
  std::vector<ObjectRef> referred;
  const auto add = [&](const std::vector<PlacedEntry>& entries) {
    for (const PlacedEntry& placed : entries) {
      if (Meets(needed, placed.first_step, placed.end_step()))
        referred.push_back({placed.entry.session, placed.entry.object});
    }
  };
  const uint64_t steps = stream_->info().spec.index_page_steps;
  StepIndex index(ledger_.follower());
  const uint64_t first_page = stream_->info().branch.fork_step / steps;
  for (uint64_t page = first_page; page < state().next_step / steps; ++page) {
    if (!Meets(needed, page * steps, (page + 1) * steps)) continue;
    const auto found = index.Page(page, deadline);
    if (!found.ok()) return OvertakenOr(found.status(), (page + 1) * steps, deadline);
    add((*found)->entries);
  }
  add(state().tail);
  for (const auto& [producer, row] : state().rows) {
    if (row.state_session > 0) referred.push_back({row.state_session, row.state_object});
  }
  std::sort(referred.begin(), referred.end());
  referred.erase(std::unique(referred.begin(), referred.end()), referred.end());
  return referred;
}

Status BranchPass::RemoveData(const StepRanges& needed, const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(const auto referred, Referred(needed, deadline));
  const auto is_dead = [&](const ObjectInfo& object) {
    const auto id = ParseDataKey(object.key, name());
    if (!id || id->session > state().sessions_opened) return false;  // not ours, or newer than us
    if (std::binary_search(referred.begin(), referred.end(), ObjectRef{id->session, id->object}))
      return false;
    const auto owner = state().producer_of_session.find(id->session);
    const bool current = owner != state().producer_of_session.end() && !state().sealed;
    if (current && id->object >= state().rows.at(owner->second).next_object) {
      int64_t& newest_ms = pending_[id->session];
      newest_ms = std::max(newest_ms, object.modified_ms);
      return false;
    }
    report_.data_bytes += object.size;
    return true;
  };
  return sweeper_.Sweep(DataPrefix(name()), "", report_.data_objects, is_dead, deadline);
}

Status BranchPass::RemoveManifest(const StepRanges& needed, const Deadline& deadline) {
  const auto all = [](const ObjectInfo&) { return true; };
  const uint64_t steps = stream_->info().spec.index_page_steps;
  const Boundary& boundary = stored_.boundary;
  // Pages at or above the boundary are needed by the branch itself.
  const auto is_dead_page = [&](const ObjectInfo& object) {
    const auto page = ParseNumberedKey(object.key, IndexPrefix(name()));
    return page && !Meets(needed, *page * steps, (*page + 1) * steps);
  };
  LS_RETURN_IF_ERROR(sweeper_.Sweep(IndexPrefix(name()),
                                    IndexKey(name(), boundary.first_step / steps),
                                    report_.index_pages, is_dead_page, deadline));
  LS_RETURN_IF_ERROR(sweeper_.Sweep(SnapshotPrefix(name()), SnapshotKey(name(), boundary.snapshot),
                                    report_.snapshots, all, deadline));
  return sweeper_.Sweep(LogPrefix(name()), LogKey(name(), boundary.first_kept()),
                        report_.log_records, all, deadline);
}

Status BranchPass::RemoveSmall(const Deadline& deadline) {
  const auto is_dead_part = [&](const ObjectInfo& object) {
    const auto begun = ParsePartKey(object.key, name());
    if (!begun || *begun > state().version) return false;
    return std::none_of(state().checkpoints.begin(), state().checkpoints.end(),
                        [&](const auto& c) { return c.second.begun == *begun && !c.second.live; });
  };
  LS_RETURN_IF_ERROR(
      sweeper_.Sweep(PartsPrefix(name()), "", report_.small_objects, is_dead_part, deadline));
  // Ranks renew theirs all the time: an old one is of a run that is over, or superseded.
  const int64_t grace_ms = stream_->info().spec.reclaim_grace.count();
  const auto is_old = [&](const ObjectInfo& object) {
    return object.date_ms - object.modified_ms >= grace_ms;
  };
  const auto is_dead_watermark = [&](const ObjectInfo& object) {
    const bool current =
        std::any_of(state().runs.begin(), state().runs.end(), [&](const auto& run) {
          return object.key.starts_with(WatermarksPrefix(name(), run.first, run.second.run));
        });
    return !current && is_old(object);
  };
  LS_RETURN_IF_ERROR(sweeper_.Sweep(WatermarksPrefix(name()), "", report_.small_objects,
                                    is_dead_watermark, deadline));
  if (name() != kMainBranch) return OkStatus();
  return sweeper_.Sweep("probe/", "", report_.small_objects, is_old, deadline);
}

Status BranchPass::EndWhatIsAbandoned(const Deadline& deadline) {
  if (closed() || state().closed) return OkStatus();
  const int64_t now_ms = stored_.date_ms;
  std::set<std::pair<std::string, std::string>> quiet_runs;
  if (options_.detach_after > Duration::zero()) {
    for (const auto& [job, row] : state().runs) {
      LS_ASSIGN_OR_RETURN(const RunProgress progress,
                          ReadProgress(ledger_.context(), job, row, deadline));
      if (progress.quiet_ms >= ToMs(options_.detach_after)) quiet_runs.insert({job, row.run});
    }
  }
  std::vector<std::string> ended;
  const auto plan = [&](const State& now) -> Result<Changes> {
    Changes changes;
    ended.clear();
    for (const auto& [producer, row] : now.rows) {
      const auto pending = pending_.find(row.session);
      if (now.sealed || pending == pending_.end()) continue;
      if (now_ms - pending->second < ToMs(options_.fence_after)) continue;
      changes.push_back(FenceChange{producer, row.session});
      ended.push_back(Str("session ", row.session, " of ", producer));
    }
    for (const auto& [checkpoint, row] : now.checkpoints) {
      if (row.live || now_ms - row.time_ms < ToMs(options_.abandon_after)) continue;
      changes.push_back(DropCheckpointChange{checkpoint, row.begun});
      ended.push_back(Str("pending checkpoint ", checkpoint));
    }
    for (const auto& [job, row] : now.runs) {
      if (!quiet_runs.contains({job, row.run})) continue;
      changes.push_back(DetachChange{job, row.run});
      ended.push_back(Str("run ", row.run, " of job ", job));
    }
    return changes;
  };
  bool ends = options_.dry_run;
  if (options_.dry_run) {
    LS_RETURN_IF_ERROR(plan(state()).status());
  } else {
    LS_ASSIGN_OR_RETURN(ends, Commit(plan, deadline));
  }
  if (ends) report_.ended.insert(report_.ended.end(), ended.begin(), ended.end());
  return OkStatus();
}

// Whether there was something to commit. A branch that was closed, just now or by somebody who died
// before the boundary said so too, needs no more commits: Advance() closes the boundary.
Result<bool> BranchPass::Commit(const Committer::Planner& plan, const Deadline& deadline) {
  const auto outcome = ledger_.Commit(plan, deadline);
  if (outcome.status().reason() == Reason::kBranchClosed) return false;
  LS_RETURN_IF_ERROR(outcome.status());
  return *outcome == CommitOutcome::kCommitted;
}

// Whether every index page with a needed step, up to the one that is open at `at`, is in the store;
// makes those that are missing.
Result<bool> BranchPass::PagesAreThere(const State& at, const StepRanges& needed,
                                       const Deadline& deadline) {
  const uint64_t steps = stream_->info().spec.index_page_steps;
  const uint64_t first = stream_->info().branch.fork_step / steps;
  const uint64_t end = at.next_step / steps;
  std::vector<bool> there(end > first ? end - first : 0);
  ListOptions options{.prefix = IndexPrefix(name())};
  if (first > 0) options.start_after = IndexKey(name(), first - 1);
  for (bool more = !there.empty(); more;) {
    LS_ASSIGN_OR_RETURN(const ListPage page, stream_->store().List(options, deadline));
    for (const ObjectInfo& object : page.objects) {
      const auto number = ParseNumberedKey(object.key, options.prefix);
      if (number && *number >= first && *number < end) there[*number - first] = true;
    }
    more = page.more && !page.objects.empty();
    if (more) options.start_after = page.objects.back().key;
  }
  for (uint64_t page = first; page < end; ++page) {
    if (there[page - first] || !Meets(needed, page * steps, (page + 1) * steps)) continue;
    // Some stores' listings lag, and the log that the page was made from may be gone.
    const auto head = stream_->store().Head(IndexKey(name(), page), deadline);
    if (head.ok()) continue;
    if (head.status().code() != Code::kNotFound) return head.status();
    if (options_.dry_run) return false;
    const auto built =
        BuildIndexPage(ledger_.context(), state(), ledger_.follower().boundary(), page, deadline);
    if (!built.ok()) return OvertakenOr(built.status(), (page + 1) * steps, deadline);
    LS_RETURN_IF_ERROR(PutBytes(stream_->store(), IndexKey(name(), page),
                                EncodeIndexPage(stream_->info(), *built), {.if_absent = true},
                                deadline)
                           .status());
  }
  return true;
}

// The newest snapshot that the log can be cut at: old enough, intact, its steps covered by pages.
Result<Version> BranchPass::NewestUsableSnapshot(const StepRanges& needed,
                                                 const Deadline& deadline) {
  const uint64_t interval = stream_->info().spec.snapshot_interval;
  const Version oldest = stored_.boundary.snapshot;
  if (state().version < (kIntervalsKept + 1) * interval) return oldest;
  Version candidate = (state().version / interval - kIntervalsKept) * interval;
  for (int look = 0; look < 4 && candidate > oldest; ++look, candidate -= interval) {
    auto bytes = GetBytes(stream_->store(), SnapshotKey(name(), candidate), deadline);
    if (bytes.status().code() == Code::kNotFound) continue;
    LS_RETURN_IF_ERROR(bytes.status());
    const auto at = DecodeSnapshot(stream_->info(), bytes->bytes());
    if (!at.ok() || at->version != candidate) continue;
    LS_ASSIGN_OR_RETURN(const bool covered, PagesAreThere(*at, needed, deadline));
    if (covered) return candidate;
  }
  return oldest;
}

Status BranchPass::Advance(const StepRanges& needed, const Deadline& deadline) {
  if (closed()) return OkStatus();
  if (state().closed) {
    return options_.dry_run ? OkStatus() : CloseBoundary(ledger_.context(), state(), deadline);
  }
  // What was released before must be gone first, else its grace would begin anew for ever.
  const bool first = stored_.etag.empty() || stored_.boundary.decided_at == 0;
  if (!first && !may_remove()) return OkStatus();
  Boundary next{.decided_at = state().version,
                .first_step = state().trim_step,
                .settled_step = stored_.boundary.first_step};
  LS_ASSIGN_OR_RETURN(next.snapshot, NewestUsableSnapshot(needed, deadline));
  const bool more =
      next.first_step > stored_.boundary.first_step || next.snapshot > stored_.boundary.snapshot;
  if (!more && !stored_.etag.empty()) return OkStatus();
  report_.next_release_ms =
      std::max(report_.next_release_ms,
               stored_.date_ms + static_cast<int64_t>(stream_->info().spec.reclaim_grace.count()));
  if (options_.dry_run) return OkStatus();
  return MoveBoundary(stream_->store(), stream_->info(), name(), stored_, next, deadline).status();
}

Status BranchPass::CountWaiting(const StepRanges& needed, const Deadline& deadline) {
  if (closed() || state().closed) return OkStatus();
  const Step there = std::max(first_needed(), stream_->info().branch.fork_step);
  LS_ASSIGN_OR_RETURN(const Step end,
                      FirstStepOfObject(ledger_.follower(), state().trim_step, deadline));
  // All but the first are what branches need.
  const StepRanges by_branches(needed.begin() + 1, needed.end());
  const uint64_t steps = CountOutside(by_branches, there, end);
  report_.waiting_steps += steps;
  report_.waiting_bytes += steps * MeanStepBytes(stream_->info(), state());
  return OkStatus();
}

Status BranchPass::Forget(const std::string& branch, const Deadline& deadline) {
  if (closed() || state().closed) return OkStatus();
  if (options_.dry_run) {
    report_.ended.push_back(Str("branch ", branch));
    return OkStatus();
  }
  const auto plan = [&](const State& now) -> Result<Changes> {
    if (!now.branches.contains(branch)) return Changes();
    return Changes{ForgetBranchChange{branch}};
  };
  LS_ASSIGN_OR_RETURN(const bool committed, Commit(plan, deadline));
  if (committed) report_.ended.push_back(Str("branch ", branch));
  return OkStatus();
}

Status BranchPass::DescribeBranches(const Deadline& deadline) {
  if (options_.dry_run || closed()) return OkStatus();
  for (const auto& [branch, row] : state().branches) {
    auto head = stream_->store().Head(BranchKey(branch), deadline);
    if (head.ok()) continue;
    if (head.status().code() != Code::kNotFound) return head.status();
    const Status put = PutBranch(ledger_.context(), branch, row, deadline);
    if (!put.ok() && put.code() != Code::kAlreadyExists) return put;
  }
  return OkStatus();
}

}  // namespace lakestream

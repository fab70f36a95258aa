#include <algorithm>

#include "base/text.h"
#include "lakestream/lifecycle.h"
#include "ledger/ledger_writer.h"
#include "ledger/step_index.h"
#include "lifecycle/boundary_store.h"
#include "lifecycle/describe.h"
#include "manifest/keys.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

using Changes = std::vector<Change>;

Status NameTaken(const std::string& name) {
  return AlreadyExistsError(Str("the name ", name,
                                " is taken: a branch has or had it, and names are never used "
                                "again; choose another"));
}

Result<Changes> PlanFork(const LedgerContext& context, const State& state, const std::string& name,
                         Step step) {
  const auto row = state.branches.find(name);
  if (row != state.branches.end()) {
    if (row->second.step == step) return Changes();
    return NameTaken(name);
  }
  if (step < state.trim_step) return TrimmedError(context, step, state.trim_step);
  if (step > state.next_step) {
    return FailedPreconditionError(
        Str("cannot branch at step ", step, ": the stream ends at step ", state.next_step),
        Reason::kStepNotYet);
  }
  return Changes{ForkChange{name, step}};
}

// Whether branch/<name> can still be made, or is this very branch.
Status CheckNameFree(Stream& stream, const std::string& name, Step step, const Deadline& deadline) {
  auto bytes = GetBytes(stream.store(), BranchKey(name), deadline);
  if (bytes.status().code() == Code::kNotFound) return OkStatus();
  LS_RETURN_IF_ERROR(bytes.status());
  LS_ASSIGN_OR_RETURN(const BranchInfo found, DecodeBranch(stream.info(), name, bytes->bytes()));
  if (found.parent != stream.info().branch.name || found.fork_step != step) return NameTaken(name);
  LS_ASSIGN_OR_RETURN(const StoredBoundary boundary,
                      ReadBoundary(stream.store(), stream.info(), name, deadline));
  return boundary.boundary.closed ? NameTaken(name) : OkStatus();
}

}  // namespace

Status PutBranch(const LedgerContext& parent, const std::string& name, const BranchRow& row,
                 const Deadline& deadline) {
  const BranchInfo branch = MakeBranchInfo(parent.branch(), name, row);
  const auto bytes = EncodeBranch(parent.info, branch);
  auto put = PutBytes(parent.store, BranchKey(name), bytes, {.if_absent = true}, deadline);
  // Whatever came of it, what is there now decides.
  auto existing = GetBytes(parent.store, BranchKey(name), deadline);
  if (!existing.ok()) return put.ok() ? existing.status() : put.status();
  if (!std::ranges::equal(existing->bytes(), bytes)) return NameTaken(name);
  const Boundary first{.first_step = row.trim_step};
  return PutBytes(parent.store, BoundaryKey(name), EncodeBoundary(parent.info, first),
                  {.if_absent = true}, deadline)
      .status();
}

Status CreateBranch(Stream& stream, const std::string& name, Step step, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(ValidateName("branch", name));
  if (name == kMainBranch || name == stream.info().branch.name) return NameTaken(name);
  LS_RETURN_IF_ERROR(CheckNameFree(stream, name, step, deadline));
  LedgerWriter ledger(ContextOf(stream));
  LS_RETURN_IF_ERROR(ledger.Start(deadline));
  const auto fork = [&](const State& state) {
    return PlanFork(ledger.context(), state, name, step);
  };
  LS_RETURN_IF_ERROR(ledger.Commit(fork, deadline).status());
  const auto row = ledger.state().branches.find(name);
  if (row == ledger.state().branches.end()) return NameTaken(name);
  const Status put = PutBranch(ledger.context(), name, row->second, deadline);
  if (put.code() != Code::kAlreadyExists) return put;
  // Another branch took the name meanwhile: what was committed here must not stay.
  const auto undo = [&](const State& state) -> Result<Changes> {
    if (!state.branches.contains(name)) return Changes();
    return Changes{ForgetBranchChange{name}};
  };
  LS_RETURN_IF_ERROR(ledger.Commit(undo, deadline).status());
  return put;
}

Result<std::vector<BranchSummary>> DescribeBranches(const Stream& stream, const State& state,
                                                    const Deadline& deadline) {
  std::vector<BranchSummary> branches;
  const auto add_children = [&](const std::string& parent, const State& of_parent) {
    for (const auto& [name, row] : of_parent.branches)
      branches.push_back({.info = MakeBranchInfo(parent, name, row)});
  };
  add_children(stream.info().branch.name, state);
  for (size_t i = 0; i < branches.size(); ++i) {
    const std::string name = branches[i].info.name;
    LS_ASSIGN_OR_RETURN(const StoredBoundary boundary,
                        ReadBoundary(stream.store(), stream.info(), name, deadline));
    branches[i].deleted = boundary.boundary.closed;
    if (branches[i].deleted) continue;
    branches[i].trim_step = branches[i].info.trim_step;
    branches[i].next_step = branches[i].info.fork_step;
    auto child = Stream::Open(stream.shared_store(), stream.shared_runtime(), deadline, name);
    if (child.status().reason() == Reason::kBranchMissing) continue;  // forked, not yet described
    LS_RETURN_IF_ERROR(child.status());
    Follower follower(ContextOf(**child));
    const Status started = follower.Start(deadline);
    branches[i].deleted = started.reason() == Reason::kBranchClosed;  // just now
    if (branches[i].deleted) continue;
    LS_RETURN_IF_ERROR(started);
    branches[i].trim_step = follower.state().trim_step;
    branches[i].next_step = follower.state().next_step;
    add_children(name, follower.state());
  }
  return branches;
}

Result<std::vector<BranchSummary>> ListBranches(Stream& stream, const Deadline& deadline) {
  Follower follower(ContextOf(stream));
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  return DescribeBranches(stream, follower.state(), deadline);
}

Status DeleteBranch(Stream& stream, const std::string& name, const Deadline& deadline) {
  if (name == kMainBranch) {
    return InvalidArgumentError(
        "the main branch cannot be deleted; remove the stream's folder or "
        "prefix instead");
  }
  LS_ASSIGN_OR_RETURN(const StoredBoundary before,
                      ReadBoundary(stream.store(), stream.info(), name, deadline));
  if (before.boundary.closed) return OkStatus();
  LS_ASSIGN_OR_RETURN(const auto branch,
                      Stream::Open(stream.shared_store(), stream.shared_runtime(), deadline, name));
  LedgerWriter ledger(ContextOf(*branch));
  LS_RETURN_IF_ERROR(ledger.Start(deadline));
  for (const auto& [child, row] : ledger.state().branches) {
    LS_ASSIGN_OR_RETURN(const StoredBoundary of_child,
                        ReadBoundary(stream.store(), stream.info(), child, deadline));
    if (!of_child.boundary.closed) continue;
    return FailedPreconditionError(
        Str("branch ", name, " has a branch, ", child, ", that was deleted and is still being ",
            "reclaimed; run 'lakestream gc' until it ends ", child, ", then delete ", name),
        Reason::kHeldBack);
  }
  const auto plan = [&](const State& state) -> Result<Changes> {
    if (!state.branches.empty()) {
      return FailedPreconditionError(Str("branch ", name, " has a branch, ",
                                         state.branches.begin()->first, "; delete that first"),
                                     Reason::kHeldBack);
    }
    return Changes{CloseChange{}};
  };
  const Status closed = ledger.Commit(plan, deadline).status();
  if (!closed.ok() && closed.reason() != Reason::kBranchClosed) return closed;
  return CloseBoundary(ledger.context(), ledger.state(), deadline);
}

}  // namespace lakestream

// Checkpoints. Parts are empty objects under the version of their begin, so a listing of one prefix
// tells which are there.
#include <algorithm>

#include "base/text.h"
#include "lakestream/lifecycle.h"
#include "ledger/ledger_writer.h"
#include "ledger/step_index.h"
#include "lifecycle/describe.h"
#include "lifecycle/store_clock.h"
#include "manifest/keys.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

using Changes = std::vector<Change>;

CheckpointInfo Describe(const std::string& name, const CheckpointRow& row) {
  return {name,      row.step,    row.note,  row.pinned, row.live,
          row.parts, row.attempt, row.begun, row.time_ms};
}

Status NoCheckpoint(const std::string& name) {
  return NotFoundError(Str("there is no checkpoint ", name, "; see 'lakestream checkpoint list'"),
                       Reason::kNoCheckpoint);
}

Status CheckOptions(const SaveCheckpointOptions& options) {
  LS_RETURN_IF_ERROR(ValidateName("checkpoint", options.name));
  if (!options.attempt.empty()) LS_RETURN_IF_ERROR(ValidateName("attempt", options.attempt));
  if (options.note.size() > kNoteBytesMax) {
    return InvalidArgumentError(
        Str("the note of checkpoint ", options.name, " is ", options.note.size(),
            " bytes, at most ", kNoteBytesMax, " are allowed; keep a path, not the data"),
        Reason::kTooLarge);
  }
  if (options.parts > kPartsMax || (options.parts > 0 && options.part >= options.parts)) {
    return InvalidArgumentError(Str("checkpoint ", options.name, ": part ", options.part, " of ",
                                    options.parts, "; parts count from 0, at most ", kPartsMax));
  }
  return OkStatus();
}

Status CheckStep(const LedgerContext& context, const State& state,
                 const SaveCheckpointOptions& options) {
  if (options.step < state.trim_step) {
    return TrimmedError(context, options.step, state.trim_step);
  }
  if (options.step <= state.next_step) return OkStatus();
  return FailedPreconditionError(Str("checkpoint ", options.name, " at step ", options.step,
                                     ": the stream ends at step ", state.next_step),
                                 Reason::kStepNotYet);
}

// The begin, unless this very attempt has begun.
Result<Changes> PlanBegin(const LedgerContext& context, const State& state,
                          const SaveCheckpointOptions& options, int64_t now_ms) {
  const auto row = state.checkpoints.find(options.name);
  if (row != state.checkpoints.end()) {
    const CheckpointRow& found = row->second;
    const bool same = found.step == options.step && found.parts == options.parts &&
                      found.attempt == options.attempt;
    if (same) return Changes();
    if (found.live) {
      return AlreadyExistsError(Str("there is a checkpoint ", options.name, " at step ", found.step,
                                    "; delete it first, or take another name"));
    }
  }
  LS_RETURN_IF_ERROR(CheckStep(context, state, options));
  return Changes{BeginCheckpointChange{options.name, options.attempt, options.step, options.parts,
                                       options.pinned, options.note, now_ms}};
}

Result<uint64_t> CountParts(const LedgerContext& context, Version begun, const Deadline& deadline) {
  ListOptions options{.prefix = PartsPrefix(context.branch(), begun)};
  for (uint64_t count = 0;;) {
    LS_ASSIGN_OR_RETURN(const ListPage page, context.store.List(options, deadline));
    count += page.objects.size();
    if (!page.more || page.objects.empty()) return count;
    options.start_after = page.objects.back().key;
  }
}

// Puts the own part; commits the completion if it was the last.
Result<bool> AddPart(LedgerWriter& ledger, const SaveCheckpointOptions& options, Version begun,
                     const Deadline& deadline) {
  const LedgerContext& context = ledger.context();
  const auto put =
      PutBytes(context.store, PartKey(context.branch(), begun, options.part), {}, {}, deadline);
  LS_RETURN_IF_ERROR(put.status());
  LS_ASSIGN_OR_RETURN(const uint64_t parts, CountParts(context, begun, deadline));
  if (parts < options.parts) return false;
  const auto plan = [&](const State& state) -> Result<Changes> {
    const auto row = state.checkpoints.find(options.name);
    if (row == state.checkpoints.end() || row->second.begun != begun) {
      return NoCheckpoint(options.name);  // replaced by another attempt, or dropped
    }
    if (row->second.live) return Changes();
    return Changes{CompleteCheckpointChange{options.name, begun}};
  };
  LS_RETURN_IF_ERROR(ledger.Commit(plan, deadline).status());
  return true;
}

// One change to a checkpoint that exists; `plan` makes it from the row.
template <typename Plan>
Status Alter(Stream& stream, const std::string& name, const Deadline& deadline, const Plan& plan) {
  LedgerWriter ledger(ContextOf(stream));
  LS_RETURN_IF_ERROR(ledger.Start(deadline));
  const auto planner = [&](const State& state) -> Result<Changes> {
    const auto row = state.checkpoints.find(name);
    if (row == state.checkpoints.end()) return NoCheckpoint(name);
    return plan(row->second);
  };
  return ledger.Commit(planner, deadline).status();
}

}  // namespace

std::vector<CheckpointInfo> DescribeCheckpoints(const State& state) {
  std::vector<CheckpointInfo> checkpoints;
  for (const auto& [name, row] : state.checkpoints) checkpoints.push_back(Describe(name, row));
  std::stable_sort(checkpoints.begin(), checkpoints.end(),
                   [](const auto& a, const auto& b) { return a.step < b.step; });
  return checkpoints;
}

Result<bool> SaveCheckpoint(Stream& stream, const SaveCheckpointOptions& options,
                            const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckOptions(options));
  LedgerWriter ledger(ContextOf(stream));
  LS_RETURN_IF_ERROR(ledger.Start(deadline));
  LS_ASSIGN_OR_RETURN(const int64_t now_ms, StoreNowMs(stream.store(), deadline));
  const auto begin = [&](const State& state) {
    return PlanBegin(ledger.context(), state, options, now_ms);
  };
  LS_RETURN_IF_ERROR(ledger.Commit(begin, deadline).status());
  const auto row = ledger.state().checkpoints.find(options.name);
  if (row == ledger.state().checkpoints.end()) return NoCheckpoint(options.name);
  if (row->second.live) return true;
  return AddPart(ledger, options, row->second.begun, deadline);
}

Result<std::vector<CheckpointInfo>> ListCheckpoints(Stream& stream, const Deadline& deadline) {
  Follower follower(ContextOf(stream));
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  return DescribeCheckpoints(follower.state());
}

Result<CheckpointInfo> FindCheckpoint(Stream& stream, const std::string& name,
                                      const Deadline& deadline) {
  Follower follower(ContextOf(stream));
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  const auto row = follower.state().checkpoints.find(name);
  if (row == follower.state().checkpoints.end()) return NoCheckpoint(name);
  if (row->second.live) return Describe(name, row->second);
  return NotFoundError(Str("checkpoint ", name, " is not complete: some of its ", row->second.parts,
                           " parts are missing, so it does not count"),
                       Reason::kNoCheckpoint);
}

Status PinCheckpoint(Stream& stream, const std::string& name, bool pinned,
                     const Deadline& deadline) {
  return Alter(stream, name, deadline, [&](const CheckpointRow& row) -> Result<Changes> {
    if (row.pinned == pinned) return Changes();
    return Changes{PinCheckpointChange{name, row.begun, pinned}};
  });
}

Status DeleteCheckpoint(Stream& stream, const std::string& name, const Deadline& deadline) {
  return Alter(stream, name, deadline, [&](const CheckpointRow& row) -> Result<Changes> {
    if (row.pinned) {
      return FailedPreconditionError(
          Str("checkpoint ", name, " is pinned; unpin it first ('lakestream checkpoint unpin')"),
          Reason::kHeldBack);
    }
    return Changes{DropCheckpointChange{name, row.begun}};
  });
}

}  // namespace lakestream

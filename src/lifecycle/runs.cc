#include "base/text.h"
#include "lakestream/lifecycle.h"
#include "ledger/ledger_writer.h"
#include "ledger/step_index.h"
#include "lifecycle/describe.h"
#include "lifecycle/store_clock.h"
#include "lifecycle/watermarks.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

using Changes = std::vector<Change>;

}  // namespace

Result<std::vector<RunInfo>> DescribeRuns(const LedgerContext& context, const State& state,
                                          const Deadline& deadline) {
  std::vector<RunInfo> runs;
  for (const auto& [job, row] : state.runs) {
    LS_ASSIGN_OR_RETURN(RunProgress progress, ReadProgress(context, job, row, deadline));
    const auto reporting = static_cast<uint32_t>(progress.ranks.size());
    runs.push_back({job, row.run, row.ranks, reporting, row.start, progress.read, progress.durable,
                    progress.quiet_ms, row.attached_ms, std::move(progress.ranks)});
  }
  return runs;
}

Status AttachRun(Stream& stream, const AttachOptions& options, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(ValidateName("job", options.job));
  LS_RETURN_IF_ERROR(ValidateName("run", options.run));
  if (options.ranks == 0 || options.ranks > kPartsMax) {
    return InvalidArgumentError(
        Str("job ", options.job, ": ", options.ranks, " ranks; 1 to ", kPartsMax, " can attach"));
  }
  LedgerWriter ledger(ContextOf(stream));
  LS_RETURN_IF_ERROR(ledger.Start(deadline));
  LS_ASSIGN_OR_RETURN(const int64_t now_ms, StoreNowMs(stream.store(), deadline));
  const auto plan = [&](const State& state) -> Result<Changes> {
    const auto row = state.runs.find(options.job);
    if (row != state.runs.end() && row->second.run == options.run) {
      if (row->second.ranks == options.ranks && row->second.start <= options.start)
        return Changes();
      return FailedPreconditionError(
          Str("run ", options.run, " of job ", options.job, " is attached with ", row->second.ranks,
              " ranks from step ", row->second.start, ", not ", options.ranks, " from ",
              options.start, "; give each start of a job a run of its own"));
    }
    if (options.start < state.trim_step)
      return TrimmedError(ledger.context(), options.start, state.trim_step);
    if (options.start > state.next_step) {
      return FailedPreconditionError(
          Str("job ", options.job, " cannot start at step ", options.start,
              ": the stream ends at step ", state.next_step),
          Reason::kStepNotYet);
    }
    return Changes{AttachChange{options.job, options.run, options.ranks, options.start, now_ms}};
  };
  return ledger.Commit(plan, deadline).status();
}

Status DetachRun(Stream& stream, const std::string& job, const std::string& run,
                 const Deadline& deadline) {
  LedgerWriter ledger(ContextOf(stream));
  LS_RETURN_IF_ERROR(ledger.Start(deadline));
  const auto plan = [&](const State& state) -> Result<Changes> {
    const auto row = state.runs.find(job);
    if (row == state.runs.end() || row->second.run != run) return Changes();
    return Changes{DetachChange{job, run}};
  };
  return ledger.Commit(plan, deadline).status();
}

Result<std::vector<RunInfo>> ListRuns(Stream& stream, const Deadline& deadline) {
  Follower follower(ContextOf(stream));
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  return DescribeRuns(follower.context(), follower.state(), deadline);
}

}  // namespace lakestream

// Trim: planned anew on each state that a lost slot brings. The runs' watermarks are read once
// before: they only grow, and a run that attached since then counts with its start.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "lakestream/lifecycle.h"
#include "ledger/ledger_writer.h"
#include "lifecycle/step_ranges.h"
#include "lifecycle/store_clock.h"
#include "lifecycle/watermarks.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

using Changes = std::vector<Change>;
// Durable positions by (job, run).
using DurableSteps = std::map<std::pair<std::string, std::string>, Step>;

struct Need {
  Step step = 0;
  std::string who;
  std::string why;
  std::string droppable;  // the checkpoint's name, if a limit in bytes may drop it
};

class TrimPlan {
 public:
  TrimPlan(const TrimOptions& options, const StreamInfo& info, const State& state,
           const DurableSteps& durable, int64_t now_ms)
      : options_(options), state_(state), durable_(durable), now_ms_(now_ms) {
    bytes_a_step_ = MeanStepBytes(info, state);
  }

  Result<Changes> Make(TrimReport& report) {
    ApplyRules();
    LS_RETURN_IF_ERROR(FindTarget());
    if (options_.rules.bytes_max > 0 && !options_.to) DropUntilWithinBytes();
    report = Report();
    Changes changes;
    for (const std::string& name : dropped_) {
      changes.push_back(DropCheckpointChange{name, state_.checkpoints.at(name).begun});
    }
    if (target_ > state_.trim_step) changes.push_back(TrimChange{target_});
    return changes;
  }

 private:
  // Drops the live checkpoints that no rule keeps; says why the others stay.
  void ApplyRules() {
    const RetentionRules& rules = options_.rules;
    const bool decides =
        rules.keep_last || rules.keep_every > 0 || rules.keep_newer > Duration::zero();
    std::vector<std::pair<Step, std::string>> live;
    for (const auto& [name, row] : state_.checkpoints) {
      if (row.live) live.emplace_back(row.step, name);
    }
    std::sort(live.begin(), live.end());
    const size_t last = rules.keep_last.value_or(0);
    for (size_t i = 0; i < live.size(); ++i) {
      const CheckpointRow& row = state_.checkpoints.at(live[i].second);
      std::string& why = why_[live[i].second];
      if (row.pinned) {
        why = "pinned";
      } else if (!decides) {
        why = "not deleted, and no rule drops it";
      } else if (i + last >= live.size()) {
        why = Str("one of the last ", last);
      } else if (rules.keep_every > 0 && row.step % rules.keep_every == 0) {
        why = Str("at a multiple of ", rules.keep_every);
      } else if (rules.keep_newer > Duration::zero() &&
                 now_ms_ - row.time_ms < ToMs(rules.keep_newer)) {
        why = "newer than the rule's time";
      } else {
        dropped_.insert(live[i].second);
      }
    }
  }

  // What keeps steps, lowest first.
  std::vector<Need> Needs() const {
    std::vector<Need> needs;
    for (const auto& [name, row] : state_.checkpoints) {
      if (!dropped_.contains(name)) {
        needs.push_back({row.step, Str(row.live ? "checkpoint " : "pending checkpoint ", name),
                         row.live ? why_.at(name) : "some of its parts may still come",
                         row.live && !row.pinned ? name : ""});
      }
    }
    for (const auto& [job, row] : state_.runs) {
      const auto found = durable_.find({job, row.run});
      const Step step = found == durable_.end() ? row.start : std::max(found->second, row.start);
      needs.push_back({step, Str("job ", job), Str("run ", row.run, " would restart there"), ""});
    }
    std::stable_sort(needs.begin(), needs.end(),
                     [](const Need& a, const Need& b) { return a.step < b.step; });
    return needs;
  }

  Status FindTarget() {
    const std::vector<Need> needs = Needs();
    if (!options_.to) {
      target_ = needs.empty() ? state_.trim_step : needs.front().step;
      target_ = std::clamp(target_, state_.trim_step, state_.next_step);
      return OkStatus();
    }
    if (*options_.to > state_.next_step) {
      return FailedPreconditionError(
          Str("cannot trim to step ", *options_.to, ": the stream ends at step ", state_.next_step),
          Reason::kStepNotYet);
    }
    if (!needs.empty() && needs.front().step < *options_.to) {
      return FailedPreconditionError(
          Str("cannot trim to step ", *options_.to, ": ", needs.front().who, " needs step ",
              needs.front().step, "; delete or detach it first, or trim to ", needs.front().step),
          Reason::kHeldBack);
    }
    target_ = std::max(*options_.to, state_.trim_step);
    return OkStatus();
  }

  uint64_t BytesFrom(Step step) const { return (state_.next_step - step) * bytes_a_step_; }

  // The oldest checkpoints go, as long as that helps: a pinned one or a run at the same step keeps
  // it.
  void DropUntilWithinBytes() {
    while (BytesFrom(target_) > options_.rules.bytes_max) {
      std::set<std::string> oldest;
      for (const Need& need : Needs()) {
        if (need.step > target_) break;
        if (need.droppable.empty()) return;
        oldest.insert(need.droppable);
      }
      if (oldest.empty()) return;
      dropped_.merge(oldest);
      (void)FindTarget();
    }
  }

  TrimReport Report() const {
    TrimReport report{.from = state_.trim_step, .to = target_};
    report.bytes = (target_ - state_.trim_step) * bytes_a_step_;
    report.dropped.assign(dropped_.begin(), dropped_.end());
    for (const Need& need : Needs()) {
      if (need.step <= target_) report.held_by.push_back(need.who);
      report.kept.push_back({need.step, need.who, need.why});
    }
    report.over_bytes_max =
        options_.rules.bytes_max > 0 && BytesFrom(target_) > options_.rules.bytes_max;
    return report;
  }

  const TrimOptions& options_;
  const State& state_;
  const DurableSteps& durable_;
  const int64_t now_ms_;
  uint64_t bytes_a_step_ = 0;
  std::set<std::string> dropped_;
  std::map<std::string, std::string> why_;  // live checkpoints stay
  Step target_ = 0;
};

Result<DurableSteps> ReadDurableSteps(const LedgerContext& context, const State& state,
                                      const Deadline& deadline) {
  DurableSteps durable;
  for (const auto& [job, row] : state.runs) {
    LS_ASSIGN_OR_RETURN(const RunProgress progress, ReadProgress(context, job, row, deadline));
    durable[{job, row.run}] = progress.durable;
  }
  return durable;
}

}  // namespace

Result<TrimReport> Trim(Stream& stream, const TrimOptions& options, const Deadline& deadline) {
  LedgerWriter ledger(ContextOf(stream));
  LS_RETURN_IF_ERROR(ledger.Start(deadline));
  LS_ASSIGN_OR_RETURN(const int64_t now_ms, StoreNowMs(stream.store(), deadline));
  LS_ASSIGN_OR_RETURN(const DurableSteps durable,
                      ReadDurableSteps(ledger.context(), ledger.state(), deadline));
  TrimReport report;
  if (options.dry_run) {
    LS_RETURN_IF_ERROR(
        TrimPlan(options, stream.info(), ledger.state(), durable, now_ms).Make(report).status());
    return report;
  }
  TrimReport done;
  const auto plan = [&](const State& state) -> Result<Changes> {
    auto changes = TrimPlan(options, stream.info(), state, durable, now_ms).Make(report);
    if (changes.ok() && !changes->empty()) done = report;
    return changes;
  };
  LS_ASSIGN_OR_RETURN(const CommitOutcome outcome, ledger.Commit(plan, deadline));
  if (outcome == CommitOutcome::kNothingToDo) done = report;
  if (options.rules.bytes_max > 0 && (!done.dropped.empty() || done.over_bytes_max)) {
    stream.runtime().Log(
        LogLevel::kWarning,
        Str(stream.store().Describe(), ": the limit of ", options.rules.bytes_max, " bytes ",
            done.over_bytes_max ? "cannot be kept: pinned checkpoints or runs need more"
                                : "made old checkpoints go"));
  }
  return done;
}

}  // namespace lakestream

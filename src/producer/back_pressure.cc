#include "producer/back_pressure.h"

#include <algorithm>

#include "base/text.h"
#include "lifecycle/store_clock.h"
#include "lifecycle/watermarks.h"

namespace lakestream {
namespace {

constexpr Duration kLookInterval = std::chrono::seconds(1);

}  // namespace

Step BackPressure::Limit(const State& state, Step read) const {
  Step limit = UINT64_MAX;
  if (options_.ahead_steps_max > 0) limit = read + options_.ahead_steps_max;
  const uint64_t own_steps = state.next_step - context_.info.branch.fork_step;
  const uint64_t bytes_a_step = own_steps == 0 ? 0 : state.slice_bytes / own_steps;
  if (options_.ahead_bytes_max > 0 && bytes_a_step > 0) {
    limit = std::min(limit, read + std::max<uint64_t>(options_.ahead_bytes_max / bytes_a_step, 1));
  }
  return limit;
}

Status BackPressure::Look(const State& state, const Deadline& deadline) {
  slowest_.clear();
  slowest_read_ = UINT64_MAX;
  for (const auto& [job, row] : state.runs) {
    LS_ASSIGN_OR_RETURN(const RunProgress progress, ReadProgress(context_, job, row, deadline));
    if (progress.quiet_ms >= ToMs(options_.run_timeout)) {
      if (ignored_.insert(Str(job, "/", row.run)).second) {
        context_.runtime.Log(LogLevel::kWarning,
                             Str("producer ", options_.name, ": run ", row.run, " of job ", job,
                                 " has given no sign ", "of life for ", progress.quiet_ms / 1000,
                                 " s; it holds nobody back any more. If it is gone, detach it"));
      }
      continue;
    }
    ignored_.erase(Str(job, "/", row.run));
    if (progress.read < slowest_read_) {
      slowest_read_ = progress.read;
      slowest_ = job;
    }
  }
  runs_ = state.runs;
  looked_at_ = context_.runtime.Now();
  return OkStatus();
}

Result<std::string> BackPressure::WhatHolds(const State& state, const Deadline& deadline) {
  const bool limited = options_.ahead_steps_max > 0 || options_.ahead_bytes_max > 0;
  if (!limited || state.runs.empty()) return std::string();
  const auto is_held = [&] {
    return !slowest_.empty() && state.next_step >= Limit(state, slowest_read_);
  };
  // Runs only come forward, so what is known suffices as long as it holds nobody.
  const bool is_stale = context_.runtime.Now() >= looked_at_ + kLookInterval;
  if (runs_ != state.runs || (is_stale && (is_held() || slowest_.empty()))) {
    LS_RETURN_IF_ERROR(Look(state, deadline));
  }
  if (!is_held()) return std::string();
  return Str("held back: the stream has ", state.next_step, " steps, job ", slowest_,
             " has read up to ", slowest_read_);
}

}  // namespace lakestream

// BackPressure: whether a producer may publish more, or the jobs that read are too far behind.
//
// Asks for the runs' watermarks (one LIST for each run and thousand ranks) only when what is known
// of them does not allow what is wanted, and at most once a second. A run that gives no sign of
// life for `run_timeout` by the store's clock holds nobody back any more, and a warning says so.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "lakestream/producer.h"
#include "ledger/context.h"
#include "manifest/state.h"

namespace lakestream {

// Confined to the publisher thread.
class BackPressure {
 public:
  BackPressure(const LedgerContext& context, const ProducerOptions& options)
      : context_(context), options_(options) {}

  // Reads the watermarks if need be. Empty: publishing is fine. Else who is too far behind, for
  // messages. A failure to read them is returned; nothing has changed then.
  Result<std::string> WhatHolds(const State& state, const Deadline& deadline);

 private:
  // The first step at which publishing stops, of a job that has read up to `read`.
  Step Limit(const State& state, Step read) const;
  Status Look(const State& state, const Deadline& deadline);

  const LedgerContext context_;
  const ProducerOptions& options_;
  TimePoint looked_at_ = TimePoint::min();
  // What is known of the slowest job.
  std::string slowest_;
  Step slowest_read_ = 0;
  std::map<std::string, RunRow> runs_;  // that it is known of
  std::set<std::string> ignored_;       // "job/run" that gave no sign of life
};

}  // namespace lakestream

// IntervalPace: commits at a jittered interval.
//
// - The first attempt of an idle producer is due at once.
// - After a commit the next attempt is due `interval` x [0.75, 1.25) after the last one began:
// producers that start
//   together drift apart.
// - After the c-th lost attempt in a row: a pause uniform in [0, min(interval, 10 ms x 2^c)) (full
// jitter), so that a
//   loser is not held back for a whole interval, and a crowd spreads out.
//
// Pure: time and chance come in as arguments. Confined to one thread.
#pragma once

#include <cstdint>

#include "lakestream/runtime.h"

namespace lakestream {

class IntervalPace {
 public:
  explicit IntervalPace(Duration interval) : interval_(interval) {}

  // When the next attempt is due, if there is work.
  TimePoint due() const { return due_; }
  // An attempt that began at `began` has committed. `unit` is uniform in [0, 1).
  void OnCommitted(TimePoint began, double unit);
  // An attempt was lost to another writer, or failed for now, at `now`.
  void OnLost(TimePoint now, double unit);

 private:
  Duration interval_;
  TimePoint due_ = TimePoint::min();
  uint32_t lost_in_a_row_ = 0;
};

}  // namespace lakestream

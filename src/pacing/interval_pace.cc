#include "pacing/interval_pace.h"

#include <algorithm>

namespace lakestream {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(20);

Duration Scaled(Duration duration, double factor) {
  return Duration(static_cast<int64_t>(static_cast<double>(duration.count()) * factor));
}

}  // namespace

void IntervalPace::OnCommitted(TimePoint began, double unit) {
  lost_in_a_row_ = 0;
  due_ = began + Scaled(interval_, 0.75 + 0.5 * unit);
}

void IntervalPace::OnLost(TimePoint now, double unit) {
  const Duration ceiling = std::min(interval_, kFirstPause * (1 << std::min(lost_in_a_row_, 20u)));
  ++lost_in_a_row_;
  due_ = now + Scaled(ceiling, unit);
}

}  // namespace lakestream

#include "runtime/backoff.h"

#include <algorithm>

namespace lakestream {

Duration Backoff::NextDelay(Runtime& runtime) {
  const uint32_t doublings = std::min(attempts_, 30u);
  ++attempts_;
  const double ceiling =
      std::min(static_cast<double>(cap_.count()),
               static_cast<double>(base_.count()) * static_cast<double>(1u << doublings));
  return Duration(static_cast<int64_t>(ceiling * RandomUnit(runtime)));
}

}  // namespace lakestream

#include <algorithm>

#include "lakestream/runtime.h"

namespace lakestream {

Status CheckDeadline(Runtime& runtime, const Deadline& deadline, std::string_view what) {
  if (deadline.cancelled())
    return CancelledError(std::string(what).append(": cancelled by the caller"));
  if (deadline.at != TimePoint::max() && runtime.Now() >= deadline.at) {
    return DeadlineExceededError(std::string(what).append(": not done within the time allowed"));
  }
  return OkStatus();
}

Status SleepFor(Runtime& runtime, Duration duration, const Deadline& deadline) {
  constexpr Duration kCancelCheck = std::chrono::milliseconds(50);
  const TimePoint end = std::min(runtime.Now() + duration, deadline.at);
  while (true) {
    LS_RETURN_IF_ERROR(CheckDeadline(runtime, deadline, "waiting"));
    const TimePoint now = runtime.Now();
    if (now >= end) return OkStatus();
    runtime.SleepUntil(deadline.cancel ? std::min(end, now + kCancelCheck) : end);
  }
}

Deadline After(Runtime& runtime, Duration duration, const CancelToken* cancel) {
  return {runtime.Now() + duration, cancel};
}

double RandomUnit(Runtime& runtime) {
  return static_cast<double>(runtime.Random64() >> 11) * 0x1.0p-53;
}

}  // namespace lakestream

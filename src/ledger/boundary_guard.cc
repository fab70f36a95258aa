#include "ledger/boundary_guard.h"

#include <algorithm>

#include "base/text.h"
#include "manifest/keys.h"

namespace lakestream {

Status BranchClosedError(const LedgerContext& context) {
  return FailedPreconditionError(Str("branch ", context.branch(), " of ", context.store.Describe(),
                                     " was deleted; see 'lakestream branch list'"),
                                 Reason::kBranchClosed);
}

Status BoundaryGuard::Look(const Deadline& deadline) {
  const std::string key = BoundaryKey(context_.branch());
  const TimePoint asked_at = context_.runtime.Now();
  auto read = context_.store.Get(key, {}, deadline);
  int64_t seen_ms = read.ok() ? read->info.date_ms : 0;
  if (read.status().code() == Code::kNotFound) {
    // Nothing was reclaimed so far. When that was so must be known: ask for the time, then again.
    LS_ASSIGN_OR_RETURN(const ObjectInfo clock, context_.store.Head(kStreamKey, deadline));
    seen_ms = clock.date_ms;
    read = context_.store.Get(key, {}, deadline);
  }
  if (read.ok()) {
    auto boundary = DecodeBoundary(context_.info, read->data.bytes());
    if (!boundary.ok())
      return boundary.status().WithContext(Str(context_.store.Describe(), "/", key));
    boundary_ = *boundary;
  } else if (read.status().code() != Code::kNotFound) {
    return read.status();
  }
  if (boundary_.closed) return BranchClosedError(context_);
  seen_ms_ = seen_ms;
  looked_at_ = asked_at;
  return OkStatus();
}

Result<bool> BoundaryGuard::Keeps(Version version, int64_t date_ms, const Deadline& deadline) {
  const int64_t half_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(HalfGrace()).count();
  const bool fresh = seen_ms_ > 0 && date_ms > 0 && date_ms <= seen_ms_ + half_ms;
  if (!fresh) LS_RETURN_IF_ERROR(Look(deadline));
  return version >= boundary_.first_kept();
}

Status BoundaryGuard::LookIfOld(const Deadline& deadline) {
  const bool old = seen_ms_ == 0 || context_.runtime.Now() - looked_at_ > HalfGrace();
  return old ? Look(deadline) : OkStatus();
}

}  // namespace lakestream

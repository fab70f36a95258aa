#include "lifecycle/boundary_store.h"

#include "base/text.h"
#include "lifecycle/store_clock.h"

namespace lakestream {

Result<StoredBoundary> ReadBoundary(ObjectStore& store, const StreamInfo& info,
                                    const std::string& branch, const Deadline& deadline) {
  StoredBoundary stored;
  const std::string key = BoundaryKey(branch);
  auto read = store.Get(key, {}, deadline);
  if (read.status().code() == Code::kNotFound) {
    LS_ASSIGN_OR_RETURN(stored.date_ms, StoreNowMs(store, deadline));
    return stored;
  }
  LS_RETURN_IF_ERROR(read.status());
  auto boundary = DecodeBoundary(info, read->data.bytes());
  if (!boundary.ok()) return boundary.status().WithContext(Str(store.Describe(), "/", key));
  return StoredBoundary{*boundary, read->info.etag, read->info.modified_ms, read->info.date_ms};
}

Result<bool> MoveBoundary(ObjectStore& store, const StreamInfo& info, const std::string& branch,
                          const StoredBoundary& from, const Boundary& to,
                          const Deadline& deadline) {
  PutOptions condition{.if_absent = from.etag.empty(), .if_match = from.etag};
  const auto bytes = EncodeBoundary(info, to);
  auto put = PutBytes(store, BoundaryKey(branch), bytes, condition, deadline);
  if (put.ok()) return put->stored;
  const Code code = put.status().code();
  if (code != Code::kUnknownOutcome && code != Code::kUnavailable) return put.status();
  // Undecided. A late put meets another etag once anyone has moved the boundary, and moves it to
  // where it may go if nobody has: either way the next pass reads what is there.
  LS_ASSIGN_OR_RETURN(const StoredBoundary now, ReadBoundary(store, info, branch, deadline));
  return now.boundary == to;
}

Status CloseBoundary(const LedgerContext& context, const State& state, const Deadline& deadline) {
  while (true) {
    LS_ASSIGN_OR_RETURN(const StoredBoundary now,
                        ReadBoundary(context.store, context.info, context.branch(), deadline));
    if (now.boundary.closed) return OkStatus();
    Boundary closed = now.boundary;
    closed.closed = true;
    if (now.HasStood(context.info)) closed.settled_step = closed.first_step;
    closed.decided_at = state.version;
    LS_ASSIGN_OR_RETURN(
        [[maybe_unused]] const bool moved,
        MoveBoundary(context.store, context.info, context.branch(), now, closed, deadline));
    LS_RETURN_IF_ERROR(CheckDeadline(context.runtime, deadline, "closing the branch"));
  }
}

}  // namespace lakestream

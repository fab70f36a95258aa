#include "ledger/follower.h"

#include <algorithm>

#include "base/text.h"
#include "runtime/parallel.h"

namespace lakestream {
namespace {

// Log records read at once: enough to hide a store's latency, few enough not to be throttled.
constexpr size_t kReadWidth = 16;

Result<bool> SlotExists(const LedgerContext& context, Version version, const Deadline& deadline) {
  auto head = context.store.Head(LogKey(context.branch(), version), deadline);
  if (head.ok()) return true;
  if (head.status().code() == Code::kNotFound) return false;
  return head.status();
}

// The hint's version; 0 if there is none that can be used.
Version ReadHint(const LedgerContext& context, const Deadline& deadline) {
  auto bytes = GetBytes(context.store, HeadKey(context.branch()), deadline);
  if (!bytes.ok()) return 0;
  auto hint = DecodeHeadHint(bytes->bytes());
  return hint.ok() ? *hint : 0;
}

}  // namespace

Result<std::optional<ReadRecord>> ReadSlot(const LedgerContext& context, Version version,
                                           const Deadline& deadline) {
  const std::string key = LogKey(context.branch(), version);
  auto read = context.store.Get(key, {}, deadline);
  if (!read.ok()) {
    if (read.status().code() == Code::kNotFound) return std::optional<ReadRecord>();
    return read.status();
  }
  const ConstBytes bytes = read->data.bytes();
  auto record = DecodeRecord(bytes, context.info.spec.mesh);
  if (!record.ok()) return record.status().WithContext(Str(context.store.Describe(), "/", key));
  return std::optional(
      ReadRecord{*std::move(record), RecordHash(bytes), bytes.size(), read->info.date_ms});
}

Status Follower::Start(const Deadline& deadline) {
  LS_RETURN_IF_ERROR(guard_.Look(deadline));
  LS_ASSIGN_OR_RETURN(const Version lower_bound, FindLowerBound(deadline));
  LS_RETURN_IF_ERROR(LoadSnapshotBelow(lower_bound, deadline));
  LS_RETURN_IF_ERROR(CatchUpWithBoundary(deadline));
  bool reached_end = false;
  LS_RETURN_IF_ERROR(ReadThrough(lower_bound, kReadWidth, &reached_end, deadline));
  return CatchUp(deadline);
}

Status Follower::CatchUp(const Deadline& deadline) {
  bool reached_end = false;
  for (size_t width = 1; !reached_end; width = std::min(2 * width, kReadWidth)) {
    LS_RETURN_IF_ERROR(ReadThrough(state_.version + width, width, &reached_end, deadline));
  }
  return OkStatus();
}

Status Follower::Fold(const ReadRecord& record) {
  LS_RETURN_IF_ERROR(broken_);
  auto pages = Apply(context_.info, record.record, record.hash, state_);
  if (!pages.ok()) {
    broken_ = pages.status().WithContext(
        Str(context_.store.Describe(), "/", LogKey(context_.branch(), record.record.version)));
    return broken_;
  }
  if (observer_) observer_(record, state_, *pages);
  return OkStatus();
}

Result<bool> Follower::Keeps(Version version, int64_t date_ms, const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(const bool kept, guard_.Keeps(version, date_ms, deadline));
  if (!kept) LS_RETURN_IF_ERROR(CatchUpWithBoundary(deadline));
  return kept;
}

Status Follower::CatchUpWithBoundary(const Deadline& deadline) {
  LS_RETURN_IF_ERROR(broken_);
  const Version snapshot = guard_.boundary().snapshot;
  if (state_.version >= snapshot) return OkStatus();
  LS_ASSIGN_OR_RETURN(const bool loaded, TryLoadSnapshot(snapshot, deadline));
  if (loaded) return OkStatus();
  // A look that is not the newest may name a snapshot that is gone by now.
  LS_RETURN_IF_ERROR(guard_.Look(deadline));
  if (guard_.boundary().snapshot > snapshot) return CatchUpWithBoundary(deadline);
  return DataLossError(Str(context_.store.Describe(), "/", SnapshotKey(context_.branch(), snapshot),
                           " is missing or damaged, and the log before it is reclaimed; restore it "
                           "from a copy of the store"));
}

Status Follower::ReadThrough(Version last, size_t width, bool* reached_end,
                             const Deadline& deadline) {
  while (state_.version < last) {
    LS_RETURN_IF_ERROR(broken_);
    const Version first = state_.version + 1;
    std::vector<std::optional<ReadRecord>> records(
        std::min<uint64_t>(width, last - state_.version));
    LS_RETURN_IF_ERROR(
        ParallelFor(context_.runtime, records.size(), width, [&](size_t i) -> Status {
          LS_ASSIGN_OR_RETURN(records[i], ReadSlot(context_, first + i, deadline));
          return OkStatus();
        }));
    for (const auto& record : records) {
      if (!record) {
        LS_RETURN_IF_ERROR(guard_.LookIfOld(deadline));
        if (state_.version + 1 >= guard_.boundary().first_kept()) {
          *reached_end = true;
          return OkStatus();
        }
        LS_RETURN_IF_ERROR(CatchUpWithBoundary(deadline));
        break;
      }
      LS_ASSIGN_OR_RETURN(const bool kept,
                          Keeps(record->record.version, record->date_ms, deadline));
      if (!kept) break;
      LS_RETURN_IF_ERROR(Fold(*record));
    }
  }
  return OkStatus();
}

// A version that is or was there (0: the empty state), within one snapshot interval of the head.
// Versions have no gaps, so existence is monotonic and galloping, then bisection, finds the end.
Result<Version> Follower::FindLowerBound(const Deadline& deadline) {
  const Version snapshot = guard_.boundary().snapshot;
  Version low = ReadHint(context_, deadline);
  if (low > snapshot) {
    LS_ASSIGN_OR_RETURN(const bool exists, SlotExists(context_, low, deadline));
    if (!exists) low = 0;  // ahead of the log, or garbage
  }
  low = std::max(low, snapshot);
  const uint64_t close_enough = context_.info.spec.snapshot_interval;
  uint64_t stride = close_enough;
  Version high = 0;
  while (high == 0) {
    LS_ASSIGN_OR_RETURN(const bool exists, SlotExists(context_, low + stride, deadline));
    if (exists) {
      low += stride;
      stride *= 2;
    } else {
      high = low + stride;
    }
  }
  while (high - low > close_enough) {
    const Version middle = low + (high - low) / 2;
    LS_ASSIGN_OR_RETURN(const bool exists, SlotExists(context_, middle, deadline));
    (exists ? low : high) = middle;
  }
  return low;
}

Status Follower::LoadSnapshotBelow(Version version, const Deadline& deadline) {
  const uint64_t interval = context_.info.spec.snapshot_interval;
  const Version oldest = guard_.boundary().snapshot;
  Version candidate = version / interval * interval;
  // Writers keep the snapshot before the newest in place (see Housekeeping): two looks nearly
  // always do.
  for (int attempt = 0; attempt < 2 && candidate > oldest; ++attempt, candidate -= interval) {
    LS_ASSIGN_OR_RETURN(const bool loaded, TryLoadSnapshot(candidate, deadline));
    if (loaded) return OkStatus();
  }
  while (candidate > oldest) {
    LS_ASSIGN_OR_RETURN(candidate, ListNewestSnapshot(candidate, deadline));
    if (candidate <= oldest) break;
    LS_ASSIGN_OR_RETURN(const bool loaded, TryLoadSnapshot(candidate, deadline));
    if (loaded) break;
    candidate -= interval;
  }
  return OkStatus();  // with none, from the boundary's snapshot or the empty state: slow, but right
}

// The newest snapshot at or below `version`, 0 if there is none. A last resort: one LIST.
Result<Version> Follower::ListNewestSnapshot(Version version, const Deadline& deadline) {
  constexpr uint64_t kPage = 1000;
  const uint64_t reach = kPage * context_.info.spec.snapshot_interval;
  const std::string prefix = SnapshotPrefix(context_.branch());
  ListOptions options{
      prefix, version > reach ? SnapshotKey(context_.branch(), version - reach) : "", kPage};
  LS_ASSIGN_OR_RETURN(const ListPage page, context_.store.List(options, deadline));
  Version newest = 0;
  for (const ObjectInfo& object : page.objects) {
    const auto found = ParseNumberedKey(object.key, prefix);
    if (found && *found <= version) newest = std::max(newest, *found);
  }
  return newest;
}

Result<bool> Follower::TryLoadSnapshot(Version version, const Deadline& deadline) {
  const std::string key = SnapshotKey(context_.branch(), version);
  auto bytes = GetBytes(context_.store, key, deadline);
  if (!bytes.ok()) {
    if (bytes.status().code() == Code::kNotFound) return false;
    return bytes.status();
  }
  auto state = DecodeSnapshot(context_.info, bytes->bytes());
  if (state.ok() && state->version == version) {
    state_ = *std::move(state);
    return true;
  }
  if (!state.ok() && state.status().code() != Code::kDataLoss)
    return state.status().WithContext(key);
  // The log is the truth and a snapshot only a short cut: go without it, loudly.
  context_.runtime.Log(LogLevel::kError,
                       Str("snapshot ", key, " of ", context_.store.Describe(), " is damaged (",
                           state.ok() ? "it is of another version" : state.status().message(),
                           "); reading an older one. Run 'lakestream verify'"));
  return false;
}

}  // namespace lakestream

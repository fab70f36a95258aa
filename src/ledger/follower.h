// Follower: keeps a State at the newest version that it has seen of a branch's log.
//
// A follower that is behind what reclamation has left goes on from the snapshot that the boundary
// names: its state jumps, and the observer does not see the records between.
//
// Costs: a cold start reads the boundary and the hint, probes (about 2 log2 n of them if the hint
// is missing or stale), one snapshot and at most 2K log records, K = snapshot_interval, many at
// once. CatchUp() at the head costs one GET.
//
// Confined to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ledger/boundary_guard.h"
#include "ledger/context.h"
#include "manifest/apply.h"
#include "manifest/keys.h"
#include "manifest/state.h"

namespace lakestream {

// A log record and the hash of its bytes.
struct ReadRecord {
  Record record;
  Hash128 hash{};
  uint64_t bytes = 0;
  int64_t date_ms = 0;  // the store's clock when it answered
};

// Reads one slot of the log: nullopt if it is empty (which need not stay so).
Result<std::optional<ReadRecord>> ReadSlot(const LedgerContext& context, Version version,
                                           const Deadline& deadline);

class Follower {
 public:
  // Sees each folded record (after it was applied) and the index pages that it sealed.
  using Observer =
      std::function<void(const ReadRecord&, const State&, const std::vector<IndexPage>&)>;

  explicit Follower(LedgerContext context)
      : context_(context), guard_(context_), state_(EmptyState(context_.info)) {}

  // Cold start: to the newest version there is.
  Status Start(const Deadline& deadline);
  // Folds every version after the current one. Reads ahead, more at once the farther behind it is.
  Status CatchUp(const Deadline& deadline);
  // Folds a record that the caller has written or read itself; it must follow the current version.
  // After a failure the state is not usable, and every later call returns that failure.
  Status Fold(const ReadRecord& record);

  // Whether what the store said of slot `version` at its time `date_ms` counts (BoundaryGuard).
  // False: the slot was reclaimed, and the state has moved on past it.
  Result<bool> Keeps(Version version, int64_t date_ms, const Deadline& deadline);

  const State& state() const { return state_; }
  const Boundary& boundary() const { return guard_.boundary(); }
  const LedgerContext& context() const { return context_; }
  void set_observer(Observer observer) { observer_ = std::move(observer); }

 private:
  Result<Version> FindLowerBound(const Deadline& deadline);
  Status LoadSnapshotBelow(Version version, const Deadline& deadline);
  Result<Version> ListNewestSnapshot(Version version, const Deadline& deadline);
  Result<bool> TryLoadSnapshot(Version version, const Deadline& deadline);
  // Reads versions (state().version, last] or until the log ends, `width` at once.
  Status ReadThrough(Version last, size_t width, bool* reached_end, const Deadline& deadline);
  // To the boundary's snapshot, if the state is before it.
  Status CatchUpWithBoundary(const Deadline& deadline);

  LedgerContext context_;
  BoundaryGuard guard_;
  State state_;
  Status broken_;
  Observer observer_;
};

}  // namespace lakestream

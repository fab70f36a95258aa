// Follower: keeps a State at the newest version that it has seen of a branch's log.
//
// Costs: a cold start reads the hint, probes (about 2 log2 n of them if the hint is missing or
// stale), one snapshot and at most 2K log records, K = snapshot_interval, many at once. CatchUp()
// at the head costs one GET.
//
// Confined to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lakestream/object_store.h"
#include "lakestream/stream.h"
#include "manifest/apply.h"
#include "manifest/keys.h"
#include "manifest/state.h"

namespace lakestream {

// What every part of the ledger needs: where the stream is, and which branch of it. Borrowed; must
// outlive the parts.
struct LedgerContext {
  ObjectStore& store;
  Runtime& runtime;
  const StreamInfo& info;
  std::string branch = kMainBranch;
};

// A log record and the hash of its bytes.
struct ReadRecord {
  Record record;
  Hash128 hash{};
  uint64_t bytes = 0;
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
      : context_(std::move(context)), state_(EmptyState(context_.info)) {}

  // Cold start: to the newest version there is.
  Status Start(const Deadline& deadline);
  // Folds every version after the current one. Reads ahead, more at once the farther behind it is.
  Status CatchUp(const Deadline& deadline);
  // Folds a record that the caller has written or read itself; it must follow the current version.
  // After a failure the state is not usable, and every later call returns that failure.
  Status Fold(const ReadRecord& record);

  const State& state() const { return state_; }
  const LedgerContext& context() const { return context_; }
  void set_observer(Observer observer) { observer_ = std::move(observer); }

 private:
  Result<Version> FindLowerBound(const Deadline& deadline);
  Status LoadSnapshotBelow(Version version, const Deadline& deadline);
  Result<Version> ListNewestSnapshot(Version version, const Deadline& deadline);
  Result<bool> TryLoadSnapshot(Version version, const Deadline& deadline);
  // Reads versions (state().version, last] or until the log ends, `width` at once.
  Status ReadThrough(Version last, size_t width, bool* reached_end, const Deadline& deadline);

  LedgerContext context_;
  State state_;
  Status broken_;
  Observer observer_;
};

}  // namespace lakestream

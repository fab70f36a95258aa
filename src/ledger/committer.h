// Committer: makes the next version of the manifest by one conditional put, and knows what became
// of it.
//
// Invariants:
// - A commit id binds exact bytes: what is sent to a slot is never changed, only sent again, until
// the slot is decided.
// - A slot is decided by reading it. Status codes are hints: after anything but a clean success the
// slot is read; own
//   commit id there = committed, another's = lost, empty = not decided yet (a delayed put may still
//   land), so the same bytes go to the same slot again.
// - A slot that was reclaimed is void, whatever a put to it says (BoundaryGuard): what was
// published
//   is in the own row of the newest state.
// - An undecided slot is never skipped. If time runs out, the committer keeps it and the next call
// decides it first.
// - What a caller wants to commit is planned anew against each state that a lost slot brings: the
// planner sees its own
//   row and decides what is still to be done.
//
// This is the one place where a conditional put is repeated. Confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ledger/follower.h"

namespace lakestream {

struct CommitStats {
  uint64_t commits = 0;
  uint64_t attempts = 0;   // conditional puts sent
  uint64_t conflicts = 0;  // slots that another writer took
  uint64_t undecided = 0;  // puts whose outcome had to be read back
};

enum class CommitOutcome {
  kNothingToDo,  // the planner asked for no change
  kCommitted,    // a record planned by this call is in the log
  kLost,         // another writer took the slot; the follower has folded its record
};

class Committer {
 public:
  // What to commit on top of a state: changes that are valid for it; none if there is nothing left
  // to do; or a failure that ends the call. Called again after each lost slot.
  using Planner = std::function<Result<std::vector<Change>>(const State&)>;
  // `follower` must have started, and be used by this committer's caller alone.
  explicit Committer(Follower& follower) : follower_(follower) {}

  // One attempt to commit what `planner` asks for. Whatever it returns, the follower is at the
  // newest version that the attempt has shown. kUnknownOutcome: the deadline passed with the slot
  // undecided; call again. Planner failures are passed on. kDataLoss if the log is damaged.
  Result<CommitOutcome> TryCommit(const Planner& planner, const Deadline& deadline);
  // TryCommit until something else than kLost comes of it, with jittered pauses.
  Result<CommitOutcome> Commit(const Planner& planner, const Deadline& deadline);

  // Versions committed by this committer since the last call, oldest first (for Housekeeping).
  std::vector<Version> TakeOwnVersions() { return std::exchange(own_versions_, {}); }
  const CommitStats& stats() const { return stats_; }
  Follower& follower() { return follower_; }

 private:
  struct Attempt {
    Version version = 0;
    CommitId commit_id{};
    std::vector<uint8_t> bytes;
  };

  Attempt MakeAttempt(std::vector<Change> changes);
  Result<CommitOutcome> Decide(const Attempt& attempt, bool put_first, const Deadline& deadline);
  Status PutAttempt(const Attempt& attempt, const std::string& key,
                    std::optional<CommitOutcome>* outcome, const Deadline& deadline);
  Result<std::optional<CommitOutcome>> ReadBack(const Attempt& attempt, const Deadline& deadline);
  void Count(CommitOutcome outcome, const Attempt& attempt);
  CommitId NewCommitId();

  Follower& follower_;
  std::optional<Attempt> undecided_;
  std::vector<Version> own_versions_;
  CommitStats stats_;
};

}  // namespace lakestream

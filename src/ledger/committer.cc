#include "ledger/committer.h"

#include <cstring>

#include "base/text.h"
#include "runtime/backoff.h"

namespace lakestream {
namespace {

constexpr Duration kRetryBase = std::chrono::milliseconds(20);
constexpr Duration kRetryCap = std::chrono::seconds(2);

// Failures that another attempt may get past: nothing is known to be wrong with the call itself.
bool IsTransient(const Status& status) {
  switch (status.code()) {
    case Code::kUnavailable:
    case Code::kUnknownOutcome:
    case Code::kDeadlineExceeded:
    case Code::kAborted:
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<CommitOutcome> Committer::TryCommit(const Planner& planner, const Deadline& deadline) {
  if (undecided_) {
    LS_ASSIGN_OR_RETURN(const CommitOutcome outcome, Decide(*undecided_, false, deadline));
    Count(outcome, *undecided_);
    undecided_.reset();
  }
  if (follower_.state().closed) return BranchClosedError(follower_.context());
  LS_ASSIGN_OR_RETURN(std::vector<Change> changes, planner(follower_.state()));
  if (changes.empty()) return CommitOutcome::kNothingToDo;
  const Attempt attempt = MakeAttempt(std::move(changes));
  if (attempt.bytes.size() > kRecordBytesMax) {
    return InternalError(Str("a commit record of ", attempt.bytes.size(), " bytes was planned"));
  }
  LS_ASSIGN_OR_RETURN(const CommitOutcome outcome, Decide(attempt, true, deadline));
  Count(outcome, attempt);
  if (outcome == CommitOutcome::kLost) LS_RETURN_IF_ERROR(follower_.CatchUp(deadline));
  return outcome;
}

void Committer::Count(CommitOutcome outcome, const Attempt& attempt) {
  if (outcome == CommitOutcome::kCommitted) {
    ++stats_.commits;
    own_versions_.push_back(attempt.version);
  } else {
    ++stats_.conflicts;
  }
}

Result<CommitOutcome> Committer::Commit(const Planner& planner, const Deadline& deadline) {
  Backoff backoff(kRetryBase, kRetryCap);
  while (true) {
    LS_ASSIGN_OR_RETURN(const CommitOutcome outcome, TryCommit(planner, deadline));
    if (outcome != CommitOutcome::kLost) return outcome;
    Runtime& runtime = follower_.context().runtime;
    LS_RETURN_IF_ERROR(SleepFor(runtime, backoff.NextDelay(runtime), deadline));
  }
}

Committer::Attempt Committer::MakeAttempt(std::vector<Change> changes) {
  const LedgerContext& context = follower_.context();
  Attempt attempt;
  attempt.commit_id = NewCommitId();
  const Record record = MakeRecord(context.info, follower_.state(), std::move(changes),
                                   attempt.commit_id, context.runtime.WallTimeMs());
  attempt.version = record.version;
  attempt.bytes = EncodeRecord(record);
  return attempt;
}

CommitId Committer::NewCommitId() {
  CommitId id;
  for (size_t i = 0; i < id.size(); i += 8) {
    const uint64_t random = follower_.context().runtime.Random64();
    std::memcpy(id.data() + i, &random, 8);
  }
  return id;
}

// Puts and reads until the slot is decided, then folds what it holds. `put_first` is false for an
// attempt that may have been applied long ago. On a failure the attempt, if it may have been
// applied, is kept as undecided.
Result<CommitOutcome> Committer::Decide(const Attempt& attempt, bool put_first,
                                        const Deadline& deadline) {
  Runtime& runtime = follower_.context().runtime;
  const std::string key = LogKey(follower_.context().branch(), attempt.version);
  bool may_be_applied = !put_first;
  Backoff backoff(kRetryBase, kRetryCap);
  Status put_failure;
  for (bool put_next = put_first;;) {
    if (put_next) {
      std::optional<CommitOutcome> outcome;
      put_failure = PutAttempt(attempt, key, &outcome, deadline);
      if (outcome && !put_failure.ok()) return put_failure;
      if (outcome) return *outcome;
      may_be_applied = may_be_applied || put_failure.code() == Code::kUnknownOutcome;
      // Surely not applied, and not worth a repetition: denied, disk full, ...
      if (!put_failure.ok() && !IsTransient(put_failure) && !may_be_applied) return put_failure;
    }
    auto read = ReadBack(attempt, deadline);
    if (read.ok() && *read) return **read;
    put_next = read.ok();  // empty: the same bytes again; unreadable: look again first
    Status go_on = read.status();
    if (go_on.ok() || IsTransient(go_on))
      go_on = SleepFor(runtime, backoff.NextDelay(runtime), deadline);
    if (go_on.ok()) continue;
    if (may_be_applied && !undecided_) undecided_ = attempt;
    if (!read.ok() && !IsTransient(read.status())) return read.status();
    const Status& cause = !read.ok() ? read.status() : put_failure.ok() ? go_on : put_failure;
    if (!may_be_applied)
      return Status(go_on.code(), Str(key, ": not committed in time: ", cause.message()));
    return UnknownOutcomeError(Str(key, ": the commit may or may not have been applied (",
                                   cause.message(), "); the next attempt decides it"));
  }
}

// One conditional put. A clean success is folded, and decides the slot.
Status Committer::PutAttempt(const Attempt& attempt, const std::string& key,
                             std::optional<CommitOutcome>* outcome, const Deadline& deadline) {
  const LedgerContext& context = follower_.context();
  const ConstBytes pieces[] = {attempt.bytes};
  ++stats_.attempts;
  auto put = context.store.Put(key, pieces, PutOptions{.if_absent = true}, deadline);
  if (!put.ok()) {
    ++stats_.undecided;
    return put.status().WithContext(key);
  }
  if (!put->stored) return OkStatus();
  auto kept = follower_.Keeps(attempt.version, put->date_ms, deadline);
  if (!kept.ok()) {
    ++stats_.undecided;
    return UnknownOutcomeError(
        Str(key, ": stored, but whether the slot is still counted is not known yet: ",
            kept.status().message()));
  }
  if (!*kept) {
    *outcome = CommitOutcome::kLost;  // a slot that was reclaimed long ago: nobody believes it
    return OkStatus();
  }
  *outcome = CommitOutcome::kCommitted;
  LS_ASSIGN_OR_RETURN(Record record, DecodeRecord(attempt.bytes, context.info.spec.mesh));
  return follower_.Fold({std::move(record), RecordHash(attempt.bytes), attempt.bytes.size()});
}

// Reads the slot: nullopt if it is empty. Folds what it holds.
Result<std::optional<CommitOutcome>> Committer::ReadBack(const Attempt& attempt,
                                                         const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(auto slot, ReadSlot(follower_.context(), attempt.version, deadline));
  if (!slot) return std::optional<CommitOutcome>();
  LS_ASSIGN_OR_RETURN(const bool kept, follower_.Keeps(attempt.version, slot->date_ms, deadline));
  if (!kept) return std::optional(CommitOutcome::kLost);
  LS_RETURN_IF_ERROR(follower_.Fold(*slot));
  const bool own = slot->record.commit_id == attempt.commit_id;
  return std::optional(own ? CommitOutcome::kCommitted : CommitOutcome::kLost);
}

}  // namespace lakestream

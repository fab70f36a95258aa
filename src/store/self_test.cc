#include <array>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/text.h"
#include "lakestream/object_store.h"
#include "runtime/backoff.h"

namespace lakestream {
namespace {

constexpr size_t kWriters = 4;
constexpr size_t kRounds = 6;
constexpr uint32_t kConflictsMax = 3;  // in a row
constexpr uint32_t kThrottlesMax = 15;

Status Unsafe(const ObjectStore& store, std::string_view what) {
  return FailedPreconditionError(
      Str("the conditional write of ", store.Describe(), " is not safe: ", what,
          "; writers would overwrite each other's commits, use a store with atomic put-if-absent"),
      Reason::kUnsafeStore);
}

// A store that lacks the operation is as unusable as one where it does not hold.
Status Explained(const ObjectStore& store, const Status& status) {
  if (status.code() != Code::kUnimplemented) return status;
  return Unsafe(store, Str("it has none (", status.message(), ")"));
}

// Holds threads back until all of them have arrived, so that they really race.
class StartingLine {
 public:
  StartingLine(Runtime& runtime, size_t count)
      : condition_(runtime.NewCondition()), missing_(count) {}

  void Arrive() {
    MutexLock lock(mutex_);
    if (--missing_ == 0) condition_->NotifyAll();
    while (missing_ > 0) condition_->Wait(mutex_);
  }

 private:
  const std::unique_ptr<Condition> condition_;
  Mutex mutex_;
  size_t missing_ LS_GUARDED_BY(mutex_);
};

class Probe {
 public:
  Probe(ObjectStore& store, Runtime& runtime, const Deadline& deadline)
      : store_(store),
        runtime_(runtime),
        deadline_(deadline),
        name_(Str("probe/", Padded(runtime.Random64()), "-")) {}

  // Several writers race for a free key: one wins. Then the key is taken for everybody.
  Status Round(size_t round) {
    const std::string key = name_ + std::to_string(round);
    std::array<Result<PutResult>, kWriters> results = Race(key);
    LS_ASSIGN_OR_RETURN(const size_t winner, WinnerOf(key, results));
    const Result<PutResult> late = Put(key, kWriters);
    if (!late.ok() && late.status().code() != Code::kUnknownOutcome) return late.status();
    if (late.ok() && late->stored) {
      return Unsafe(store_, "it accepted a write to a key that was taken");
    }
    LS_ASSIGN_OR_RETURN(const Buffer content, GetBytes(store_, key, deadline_));
    if (content.text() == ContentOf(winner)) return OkStatus();
    return Unsafe(store_, "the object is not the one of the writer that was told it had won");
  }

  // Best effort: a client without the right to delete may still be a writer.
  void CleanUp() {
    std::vector<std::string> keys;
    for (size_t round = 0; round < kRounds; ++round) keys.push_back(name_ + std::to_string(round));
    const Status status = store_.Delete(keys, deadline_);
    if (status.ok()) return;
    runtime_.Log(LogLevel::kWarning, Str("objects ", name_, "* of the self-test stay in ",
                                         store_.Describe(), ": ", status.ToString()));
  }

 private:
  static std::string ContentOf(size_t writer) { return Str("writer ", writer); }

  // A 409 means "undecided, try again" on some stores and "lost" on others: tried again, and lost
  // if it stays. A 429 means that this name was written a moment ago (some stores allow one write a
  // second): it passes.
  Result<PutResult> Put(const std::string& key, size_t writer) {
    Backoff backoff(std::chrono::milliseconds(10), std::chrono::seconds(1));
    while (true) {
      Result<PutResult> put = PutBytes(store_, key, AsBytes(ContentOf(writer)),
                                       {.if_absent = true, .if_match = ""}, deadline_);
      const Reason reason = put.status().reason();
      if (reason != Reason::kConflict && reason != Reason::kThrottled) return put;
      if (reason == Reason::kConflict && backoff.attempts() >= kConflictsMax)
        return PutResult{.stored = false, .etag = ""};
      if (backoff.attempts() >= kThrottlesMax) return put;
      LS_RETURN_IF_ERROR(SleepFor(runtime_, backoff.NextDelay(runtime_), deadline_));
    }
  }

  std::array<Result<PutResult>, kWriters> Race(const std::string& key) {
    std::array<Result<PutResult>, kWriters> results{PutResult(), PutResult(), PutResult(),
                                                    PutResult()};
    StartingLine line(runtime_, kWriters);
    std::vector<std::unique_ptr<Thread>> threads;
    for (size_t writer = 0; writer < kWriters; ++writer) {
      threads.push_back(runtime_.Spawn("self-test", [&, writer] {
        line.Arrive();
        results[writer] = Put(key, writer);
      }));
    }
    for (auto& thread : threads) thread->Join();
    return results;
  }

  // Who was told so; if nobody was, the content tells: the winner's answer may have been lost, or
  // been that to a request which a proxy sent twice.
  Result<size_t> WinnerOf(const std::string& key,
                          const std::array<Result<PutResult>, kWriters>& results) {
    std::vector<size_t> winners;
    Status failure;
    for (size_t writer = 0; writer < kWriters; ++writer) {
      const Result<PutResult>& result = results[writer];
      if (result.ok() && result->stored) winners.push_back(writer);
      if (!result.ok() && failure.ok()) failure = result.status();
    }
    if (winners.size() == 1) return winners[0];
    if (winners.size() > 1) {
      return Unsafe(store_, Str(winners.size(), " writers won the race for one key"));
    }
    const Result<Buffer> content = GetBytes(store_, key, deadline_);
    for (size_t writer = 0; content.ok() && writer < kWriters; ++writer) {
      if (content->text() == ContentOf(writer)) return writer;
    }
    if (!failure.ok()) return failure;
    if (!content.ok() && content.status().code() != Code::kNotFound) return content.status();
    return Unsafe(store_, "nobody won the race for a free key");
  }

  ObjectStore& store_;
  Runtime& runtime_;
  const Deadline deadline_;
  const std::string name_;
};

}  // namespace

Status CheckConditionalPut(ObjectStore& store, Runtime& runtime, const Deadline& deadline) {
  Probe probe(store, runtime, deadline);
  Status status;
  for (size_t round = 0; status.ok() && round < kRounds; ++round) status = probe.Round(round);
  probe.CleanUp();
  return Explained(store, status);
}

}  // namespace lakestream

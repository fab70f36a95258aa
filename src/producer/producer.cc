// Producer: a queue, a few uploader threads, and one publisher thread that alone talks to the
// ledger.
//
// Invariants:
// - Data first: an entry reaches the committer only after its object is durable.
// - The row is the truth: what is published is read from the own row of the state, never from the
// outcome of a put. So
//   a commit that was decided late is noticed like any other.
// - Only the publisher thread uses the follower and the committer.
#include "lakestream/producer.h"

#include <algorithm>
#include <vector>

#include "base/mutex.h"
#include "base/text.h"
#include "ledger/committer.h"
#include "ledger/housekeeping.h"
#include "manifest/stream_json.h"
#include "pacing/interval_pace.h"
#include "producer/back_pressure.h"
#include "producer/object_queue.h"
#include "producer/session.h"
#include "producer/uploader.h"
#include "stream/ledger_context.h"
#include "tgb/samples.h"

namespace lakestream {
namespace {

// One attempt of the publisher; what is undecided then goes on with the next one.
constexpr Duration kAttemptTime = std::chrono::seconds(30);

bool IsTransient(const Status& status) {
  return status.code() == Code::kUnavailable || status.code() == Code::kUnknownOutcome ||
         status.code() == Code::kDeadlineExceeded || status.code() == Code::kAborted;
}

class ProducerImpl final : public Producer {
 public:
  ProducerImpl(std::shared_ptr<Stream> stream, const ProducerOptions& options)
      : stream_(std::move(stream)),
        options_(options),
        follower_(ContextOf(*stream_)),
        committer_(follower_),
        housekeeping_(follower_),
        back_pressure_(follower_.context(), options_),
        pace_(options.commit_interval),
        changed_(stream_->runtime().NewCondition()),
        stopped_(stream_->runtime().NewCondition()),
        queue_(stream_->info().spec.mesh, options.object_bytes_target) {
    follower_.set_observer(
        [this](const ReadRecord&, const State& state, const std::vector<IndexPage>& pages) {
          housekeeping_.OnFolded(state, pages);
        });
  }

  ~ProducerImpl() override {
    cancel_.Cancel();
    Stop();
  }

  Status Start(const Deadline& deadline) {
    LS_ASSIGN_OR_RETURN(session_, OpenSession(*stream_, options_.name, committer_, deadline));
    housekeeping_.AfterCommits(committer_.TakeOwnVersions(), deadline);
    {
      MutexLock lock(mutex_);
      UpdateStats();
    }
    Runtime& runtime = stream_->runtime();
    threads_.push_back(runtime.Spawn("publisher", [this] { Publish(); }));
    for (uint32_t i = 0; i < std::max(options_.uploads_max, 1u); ++i) {
      threads_.push_back(runtime.Spawn("uploader", [this] { Upload(); }));
    }
    if (options_.reclaim_interval > Duration::zero()) {
      threads_.push_back(runtime.Spawn("reclaimer", [this] { ReclaimNowAndThen(); }));
    }
    return OkStatus();
  }

  const std::string& recovered_state() const override { return session_.state; }
  uint64_t recovered_tgbs() const override { return session_.tgbs; }
  SessionId session() const override { return session_.id; }

  Status Write(Tgb tgb, std::string state, const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(CheckTgb(tgb, state));
    const uint64_t bytes = tgb.payload_bytes();
    MutexLock lock(mutex_);
    const auto has_room = [&] {
      return queue_.empty() || queue_.pending_bytes() + bytes <= options_.pending_bytes_max;
    };
    while (true) {
      LS_RETURN_IF_ERROR(failure_);
      if (stopping_ || finish_ != Finishing::kNo) {
        return FailedPreconditionError(
            Str("producer ", options_.name, " is finished or closed; open it again"));
      }
      if (has_room()) break;
      LS_RETURN_IF_ERROR(
          CheckDeadline(stream_->runtime(), deadline,
                        Str("producer ", options_.name,
                            ": waiting until pending TGBs are committed", Trouble())));
      WaitForChange(deadline);
    }
    queue_.Add(std::move(tgb), std::move(state));
    ++stats_.tgbs_written;
    changed_->NotifyAll();
    return OkStatus();
  }

  Status Flush(const Deadline& deadline) override {
    MutexLock lock(mutex_);
    const uint64_t target = queue_.next_sequence();
    flush_to_ = std::max(flush_to_, target);
    changed_->NotifyAll();
    while (queue_.published() < target) {
      LS_RETURN_IF_ERROR(failure_);
      LS_RETURN_IF_ERROR(
          CheckDeadline(stream_->runtime(), deadline,
                        Str("producer ", options_.name, ": flush: ", target - queue_.published(),
                            " TGBs are not committed yet", Trouble())));
      WaitForChange(deadline);
    }
    return OkStatus();
  }

  Status Finish(const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(Flush(deadline));
    {
      MutexLock lock(mutex_);
      if (finish_ == Finishing::kNo) finish_ = Finishing::kAsked;
      changed_->NotifyAll();
      while (finish_ != Finishing::kDone) {
        LS_RETURN_IF_ERROR(failure_);
        if (stopping_)
          return FailedPreconditionError(
              Str("producer ", options_.name, " is closed; open it again"));
        LS_RETURN_IF_ERROR(CheckDeadline(
            stream_->runtime(), deadline,
            Str("producer ", options_.name, ": waiting for the commit of its finish")));
        WaitForChange(deadline);
      }
    }
    return Close(deadline);
  }

  Status Close(const Deadline& deadline) override {
    const Status flushed = Flush(deadline);
    if (flushed.code() == Code::kDeadlineExceeded || flushed.code() == Code::kCancelled)
      return flushed;
    if (!flushed.ok())
      cancel_.Cancel();  // it has failed for good: don't wait for what is under way
    Stop();
    return flushed;
  }

  ProducerStats stats() const override {
    MutexLock lock(mutex_);
    return stats_;
  }

 private:
  enum class Finishing { kNo, kAsked, kDone };

  Status CheckTgb(const Tgb& tgb, const std::string& state) const {
    if (tgb.mesh() != stream_->info().spec.mesh) {
      const Mesh& mesh = stream_->info().spec.mesh;
      return InvalidArgumentError(
          Str("the TGB has a mesh of dp ", tgb.mesh().dp, " x cp ", tgb.mesh().cp,
              ", the stream one of ", mesh.dp, " x ", mesh.cp),
          Reason::kMeshMismatch);
    }
    if (state.size() > kStateBytesMax) {
      return InvalidArgumentError(Str("the producer state is ", state.size(), " bytes, at most ",
                                      kStateBytesMax, " are allowed; keep a cursor, not the data"),
                                  Reason::kTooLarge);
    }
    LS_RETURN_IF_ERROR(tgb.CheckComplete());
    return CheckSliceSamples(tgb);
  }

  // What a later job could not share out must not become a step.
  Status CheckSliceSamples(const Tgb& tgb) const {
    const uint32_t multiple = stream_->info().spec.samples_multiple;
    if (multiple == 0) return OkStatus();
    for (uint32_t i = 0; i < tgb.slices().size(); ++i) {
      LS_ASSIGN_OR_RETURN(const SliceView slice, DecodeSlice(*tgb.slices()[i]));
      if (Status valid = CheckSamples(slice, multiple); !valid.ok()) {
        return valid.WithContext(
            Str("slice (dp ", i / tgb.mesh().cp, ", cp ", i % tgb.mesh().cp, ")"));
      }
    }
    return OkStatus();
  }

  std::string Trouble() const LS_REQUIRES(mutex_) {
    return last_trouble_.empty() ? "" : Str(" (", last_trouble_, ")");
  }

  // Waits for any change, or the deadline; wakes now and then so that a cancellation is noticed.
  void WaitForChange(const Deadline& deadline) LS_REQUIRES(mutex_) {
    const TimePoint look = stream_->runtime().Now() + std::chrono::milliseconds(100);
    changed_->WaitUntil(mutex_, deadline.cancel ? std::min(deadline.at, look) : deadline.at);
  }

  void Stop() {
    reclaim_cancel_.Cancel();  // a pass may be broken off at any point
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      changed_->NotifyAll();
      stopped_->NotifyAll();
    }
    for (auto& thread : threads_) thread->Join();
    threads_.clear();
  }

  void Fail(const Status& status) LS_REQUIRES(mutex_) {
    if (failure_.ok()) failure_ = status.WithContext(Str("producer ", options_.name));
    changed_->NotifyAll();
  }

  // ---- uploader threads

  void Upload() {
    while (std::shared_ptr<ObjectJob> job = NextUpload()) {
      const Status uploaded =
          UploadObject(*stream_, options_.name, session_.id, *job, {TimePoint::max(), &cancel_});
      MutexLock lock(mutex_);
      if (!uploaded.ok()) {
        Fail(uploaded);
        return;
      }
      job->tgbs = std::vector<Tgb>();  // the payload is durable now; free it
      job->stage = ObjectJob::Stage::kUploaded;
      changed_->NotifyAll();
    }
  }

  std::shared_ptr<ObjectJob> NextUpload() {
    MutexLock lock(mutex_);
    while (!stopping_ && failure_.ok()) {
      if (auto job = queue_.TakeForUpload()) return job;
      changed_->Wait(mutex_);
    }
    return nullptr;
  }

  // ---- publisher thread

  void Publish() {
    while (WaitUntilDue()) {
      const TimePoint began = stream_->runtime().Now();
      const Deadline deadline{began + kAttemptTime, &cancel_};
      if (IsHeldBack(deadline)) continue;
      auto outcome =
          committer_.TryCommit([this](const State& state) { return Plan(state); }, deadline);
      {
        MutexLock lock(mutex_);
        Digest(outcome, began);
      }
      housekeeping_.AfterCommits(committer_.TakeOwnVersions(), deadline);
    }
    if (session_.id > 0)
      housekeeping_.WriteHint(follower_.state().version, true,
                              After(stream_->runtime(), std::chrono::seconds(1), &cancel_));
  }

  // Asked before anything is published; a finish is not held back.
  bool IsHeldBack(const Deadline& deadline) {
    {
      MutexLock lock(mutex_);
      if (queue_.empty()) return false;
    }
    auto held = back_pressure_.WhatHolds(follower_.state(), deadline);
    if (held.ok() && held->empty()) return false;
    // While nothing is published nothing is folded either: see who has come and gone.
    const Status caught_up = follower_.CatchUp(deadline);
    MutexLock lock(mutex_);
    ++stats_.held_back;
    last_trouble_ = held.ok() ? *held : held.status().message();
    for (const Status& status : {held.status(), caught_up}) {
      if (!status.ok() && !IsTransient(status) && status.code() != Code::kCancelled) Fail(status);
    }
    retry_at_ = stream_->runtime().Now() +
                std::chrono::milliseconds(static_cast<int64_t>(
                    750 + 500 * RandomUnit(stream_->runtime())));  // producers do not go in step
    return true;
  }

  // Blocks until an attempt should be made: something is uploaded and the pace (or a flush) asks
  // for it. Cuts what waits once its commit is due. False when it is time to stop.
  bool WaitUntilDue() {
    MutexLock lock(mutex_);
    while (!stopping_ && failure_.ok()) {
      const bool flushing = flush_to_ > queue_.published();
      const bool due = flushing || stream_->runtime().Now() >= pace_.due();
      // While an object is on its way, small TGBs gather for the next one.
      if (due && queue_.has_waiting() && (flushing || !queue_.has_jobs())) {
        queue_.CutAll();
        changed_->NotifyAll();
      }
      if (queue_.front_uploaded() && due && !backing_off()) return true;
      if (queue_.empty() && finish_ == Finishing::kAsked && !backing_off()) return true;
      if (queue_.empty() && finish_ != Finishing::kAsked) {
        changed_->Wait(mutex_);
      } else {
        const TimePoint now = stream_->runtime().Now();
        const TimePoint next = std::max(flushing ? now : pace_.due(), retry_at_);
        if (next > now) {
          changed_->WaitUntil(mutex_, next);
        } else {
          changed_->Wait(mutex_);  // for an upload
        }
      }
    }
    return false;
  }

  bool backing_off() const LS_REQUIRES(mutex_) { return stream_->runtime().Now() < retry_at_; }

  // What to commit on top of `state`: the uploaded entries that the own row does not have yet, or
  // the finish.
  Result<std::vector<Change>> Plan(const State& state) {
    MutexLock lock(mutex_);
    LS_ASSIGN_OR_RETURN(const ProducerRow row, OwnRow(state, options_.name, session_.id));
    if (row.next_sequence > queue_.next_sequence()) {
      return InternalError(Str("the log has ", row.next_sequence, " TGBs of session ", session_.id,
                               ", only ", queue_.next_sequence(), " were written"));
    }
    TakePublished(row);
    if (finish_ == Finishing::kDone) return std::vector<Change>();
    if (state.sealed) {
      return FailedPreconditionError(
          Str("the stream was sealed at step ", state.next_step, "; ",
              queue_.next_sequence() - queue_.published(), " TGBs are refused for good"),
          Reason::kSealed);
    }
    if (queue_.empty() && finish_ == Finishing::kAsked)
      return std::vector<Change>{FinishChange{session_.id}};
    return queue_.UploadedInFront(kChangesBytesMax);
  }

  void TakePublished(const ProducerRow& row) LS_REQUIRES(mutex_) {
    stats_.payload_bytes += queue_.DropPublished(row.next_sequence);
    stats_.tgbs_committed = queue_.published();
    // A finish counts for what is published: with more on its way, the row's is an older one.
    if (finish_ == Finishing::kAsked && queue_.empty() && row.finished) finish_ = Finishing::kDone;
    changed_->NotifyAll();
  }

  void Digest(const Result<CommitOutcome>& outcome, TimePoint began) LS_REQUIRES(mutex_) {
    Runtime& runtime = stream_->runtime();
    if (!outcome.ok() && !IsTransient(outcome.status())) {
      if (outcome.status().code() != Code::kCancelled || !stopping_) Fail(outcome.status());
    } else if (!outcome.ok() || *outcome == CommitOutcome::kLost) {
      if (!outcome.ok()) last_trouble_ = outcome.status().message();
      pace_.OnLost(runtime.Now(), RandomUnit(runtime));
      retry_at_ = pace_.due();
    } else {
      last_trouble_.clear();
      pace_.OnCommitted(began, RandomUnit(runtime));
      retry_at_ = TimePoint::min();
    }
    if (auto row = OwnRow(follower_.state(), options_.name, session_.id); row.ok()) {
      TakePublished(*row);
    }
    UpdateStats();
    changed_->NotifyAll();
  }

  // ---- reclaimer thread

  void ReclaimNowAndThen() {
    Runtime& runtime = stream_->runtime();
    const Deadline deadline{TimePoint::max(), &reclaim_cancel_};
    while (Rest(Duration(static_cast<int64_t>(
        static_cast<double>(options_.reclaim_interval.count()) * (0.5 + RandomUnit(runtime)))))) {
      auto main = Stream::Open(stream_->shared_store(), stream_->shared_runtime(), deadline);
      auto report = main.ok() ? Reclaim(**main, options_.reclaim, deadline)
                              : Result<ReclaimReport>(main.status());
      if (!report.ok()) {
        if (report.status().code() == Code::kCancelled) return;
        runtime.Log(LogLevel::kWarning, Str("producer ", options_.name, ": reclamation: ",
                                            report.status().message(), "; it is tried again"));
      } else if (report->removed() > 0 || !report->ended.empty()) {
        runtime.Log(LogLevel::kInfo,
                    Str("producer ", options_.name, ": reclaimed ", report->removed(), " objects, ",
                        report->data_bytes, " bytes of data"));
      }
    }
  }

  // False when it is time to stop.
  bool Rest(Duration duration) {
    MutexLock lock(mutex_);
    const TimePoint at = stream_->runtime().Now() + duration;
    while (!stopping_ && stream_->runtime().Now() < at) stopped_->WaitUntil(mutex_, at);
    return !stopping_;
  }

  void UpdateStats() LS_REQUIRES(mutex_) {
    const CommitStats& commits = committer_.stats();
    stats_.commits = commits.commits;
    stats_.commit_attempts = commits.attempts;
    stats_.conflicts = commits.conflicts;
    stats_.undecided = commits.undecided;
    stats_.version = follower_.state().version;
    stats_.next_step = follower_.state().next_step;
  }

  const std::shared_ptr<Stream> stream_;
  const ProducerOptions options_;
  OpenedSession session_;  // constant after Start()
  CancelToken cancel_;
  CancelToken reclaim_cancel_;

  // Used by Start(), then by the publisher thread alone.
  Follower follower_;
  Committer committer_;
  Housekeeping housekeeping_;
  BackPressure back_pressure_;

  mutable Mutex mutex_;
  IntervalPace pace_ LS_GUARDED_BY(mutex_);
  std::unique_ptr<Condition> changed_;
  std::unique_ptr<Condition> stopped_;  // for whoever rests
  ObjectQueue queue_ LS_GUARDED_BY(mutex_);
  ProducerStats stats_ LS_GUARDED_BY(mutex_);
  Status failure_ LS_GUARDED_BY(mutex_);
  std::string last_trouble_ LS_GUARDED_BY(mutex_);
  uint64_t flush_to_ LS_GUARDED_BY(mutex_) = 0;
  TimePoint retry_at_ LS_GUARDED_BY(mutex_) = TimePoint::min();
  Finishing finish_ LS_GUARDED_BY(mutex_) = Finishing::kNo;
  bool stopping_ LS_GUARDED_BY(mutex_) = false;

  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace

Result<std::unique_ptr<Producer>> Producer::Open(std::shared_ptr<Stream> stream,
                                                 const ProducerOptions& options,
                                                 const Deadline& deadline) {
  LS_RETURN_IF_ERROR(ValidateName("producer", options.name));
  auto producer = std::make_unique<ProducerImpl>(std::move(stream), options);
  LS_RETURN_IF_ERROR(producer->Start(deadline));
  return std::unique_ptr<Producer>(std::move(producer));
}

}  // namespace lakestream

// Consumer: one scout thread that finds out where the next steps lie, fetcher threads that read
// them, and Next().
//
// Invariants:
// - Steps leave in order, each once: the queue's front is the only way out, and a failure leaves
// the position as it is.
// - Only the scout uses the follower. It polls only when it knows no further step and the queue has
// room.
#include "lakestream/consumer.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/mutex.h"
#include "base/text.h"
#include "consumer/buffer_pool.h"
#include "consumer/job_share.h"
#include "consumer/lanes.h"
#include "consumer/run_reporter.h"
#include "consumer/slice_reader.h"
#include "lakestream/lifecycle.h"
#include "ledger/step_index.h"
#include "runtime/backoff.h"
#include "store/metered_store.h"
#include "stream/ledger_context.h"
#include "tgb/samples.h"

namespace lakestream {
namespace {

// Small slices of one object that lie side by side are read together up to this.
constexpr uint64_t kRunBytesMax = 1ull << 20;
constexpr Duration kRequestTime = std::chrono::seconds(60);
// A reader for a run looks this often whether the run is over, even if it knows steps enough.
constexpr Duration kLookInterval = std::chrono::seconds(10);
// A reader that waits so long for bytes wants deeper read-ahead. Shorter waits are the scheduler's.
constexpr Duration kLongWait = std::chrono::milliseconds(10);
// Memory that the pool may keep beside the prefetch bound: the slice in the user's hands, and
// rounding.
constexpr uint64_t kPoolSlackBytes = 16ull << 20;

bool IsTransient(const Status& status) {
  return status.code() == Code::kUnavailable || status.code() == Code::kUnknownOutcome ||
         status.code() == Code::kDeadlineExceeded || status.code() == Code::kAborted;
}

class ConsumerImpl final : public Consumer {
 public:
  ConsumerImpl(std::shared_ptr<Stream> stream, const ConsumerOptions& options,
               const JobShare& share)
      : stream_(std::move(stream)),
        options_(options),
        share_(share),
        store_(stream_->shared_store()),
        follower_(ContextOf(*stream_, store_)),
        index_(follower_),
        pool_(options.prefetch_bytes + kPoolSlackBytes),
        front_changed_(stream_->runtime().NewCondition()),
        slots_planned_(stream_->runtime().NewCondition()),
        scout_wanted_(stream_->runtime().NewCondition()),
        stopped_(stream_->runtime().NewCondition()),
        lanes_(share.slices, options.start_step, options.fetches_max + 1,
               std::max(options.prefetch_steps, 1u), options.prefetch_bytes) {
    for (uint32_t i = 0; i < share.slices; ++i) {
      readers_.push_back(
          std::make_unique<SliceReader>(follower_.context(), share.first_dp + i, share.cp, &pool_));
    }
    follower_.set_observer(
        [this](const ReadRecord&, const State&, const std::vector<IndexPage>& pages) {
          for (const IndexPage& page : pages) index_.Remember(page);
        });
  }

  ~ConsumerImpl() override {
    cancel_.Cancel();
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      front_changed_->NotifyAll();
      slots_planned_->NotifyAll();
      scout_wanted_->NotifyAll();
      stopped_->NotifyAll();
    }
    for (auto& thread : threads_) thread->Join();
  }

  Status Start(const Deadline& deadline) {
    if (options_.run) {
      const ConsumerRun& run = *options_.run;
      LS_RETURN_IF_ERROR(
          AttachRun(*stream_, {run.job, run.run, run.ranks, options_.start_step}, deadline));
    }
    LS_RETURN_IF_ERROR(follower_.Start(deadline));
    LS_RETURN_IF_ERROR(CheckStillServed(follower_.state()));
    {
      MutexLock lock(mutex_);
      TakeHead();
    }
    Runtime& runtime = stream_->runtime();
    look_at_ = runtime.Now() + kLookInterval;
    if (options_.run) {
      reporter_ =
          std::make_unique<RunReporter>(follower_.context(), *options_.run, options_.start_step);
    }
    threads_.push_back(runtime.Spawn("scout", [this] { Scout(); }));
    for (uint32_t i = 0; i < std::max(options_.fetches_max, 1u); ++i) {
      threads_.push_back(runtime.Spawn("fetcher", [this] { Fetch(); }));
    }
    return OkStatus();
  }

  Result<std::optional<ConsumedStep>> Next(const Deadline& deadline) override {
    MutexLock lock(mutex_);
    LS_ASSIGN_OR_RETURN(const bool ready, WaitForFront(deadline));
    if (!ready) return std::optional<ConsumedStep>();
    const Step step = lanes_.front_step();
    ConsumedStep consumed{step, lanes_.PopFront()};
    ++stats_.steps;
    for (const SliceView& slice : consumed.slices) stats_.slice_bytes += slice.payload.size();
    if (reporter_) reporter_->SetRead(step + 1);
    if (lanes_.CanTake()) slots_planned_->NotifyOne();
    if (lanes_.is_short_of_planned()) scout_wanted_->NotifyAll();
    return std::optional(std::move(consumed));
  }

  Step position() const override {
    MutexLock lock(mutex_);
    return lanes_.front_step();
  }

  Status SetDurable(Step step) override {
    if (!reporter_) {
      return FailedPreconditionError(
          "a durable position is a run's: open the consumer with ConsumerOptions::run");
    }
    if (step > position()) {
      return InvalidArgumentError(
          Str("step ", step, " cannot be durable: this rank reads step ", position(), " next"));
    }
    reporter_->SetDurable(step);
    return OkStatus();
  }

  Status Close(const Deadline& deadline) override {
    return reporter_ ? reporter_->Flush(deadline) : OkStatus();
  }

  ConsumerStats stats() const override {
    const StoreCounts counts = store_.counts();
    MutexLock lock(mutex_);
    ConsumerStats stats = stats_;
    stats.bytes_read = counts.bytes_read;
    stats.requests = counts.requests();
    for (const auto& reader : readers_) stats.rereads += reader->rereads();
    return stats;
  }

 private:
  // True once the front slot is ready, false at the end of the stream; or why neither came.
  Result<bool> WaitForFront(const Deadline& deadline) LS_REQUIRES(mutex_) {
    Runtime& runtime = stream_->runtime();
    const TimePoint began = runtime.Now();
    while (true) {
      if (lanes_.front_ready()) break;
      if (lanes_.front_failed()) {
        const Status failure = lanes_.TakeFrontFailure();
        slots_planned_->NotifyOne();
        return failure;
      }
      if (sealed_ && lanes_.front_step() >= stats_.next_committed_step) return false;
      if (!scout_failure_.ok()) {
        const Status failure = std::exchange(scout_failure_, OkStatus());
        scout_wanted_->NotifyAll();
        return failure;
      }
      if (!CheckDeadline(runtime, deadline, "").ok()) {
        return CheckDeadline(runtime, deadline, WhatIsAwaited());
      }
      const TimePoint look = runtime.Now() + std::chrono::milliseconds(100);
      next_waits_for_bytes_ = lanes_.front_step() < stats_.next_committed_step;
      next_waits_since_ = began;
      front_changed_->WaitUntil(mutex_,
                                deadline.cancel ? std::min(deadline.at, look) : deadline.at);
      next_waits_for_bytes_ = false;
    }
    stats_.wait += runtime.Now() - began;
    return true;
  }

  std::string WhatIsAwaited() const LS_REQUIRES(mutex_) {
    const Step step = lanes_.front_step();
    std::string text =
        step < stats_.next_committed_step
            ? Str("waiting for the bytes of step ", step)
            : Str("waiting for step ", step, ": the stream has ", stats_.next_committed_step,
                  " steps and is not sealed; are its producers running?");
    if (!trouble_.empty()) text += Str(" (last trouble: ", trouble_, ")");
    return text;
  }

  void TakeHead() LS_REQUIRES(mutex_) {
    stats_.version = follower_.state().version;
    stats_.next_committed_step = follower_.state().next_step;
    sealed_ = follower_.state().sealed;
    front_changed_->NotifyAll();
  }

  // Whether the stream still has this reader.
  Status CheckStillServed(const State& state) const {
    if (state.closed) return BranchClosedError(follower_.context());
    if (!options_.run) return OkStatus();
    const ConsumerRun& own = *options_.run;
    const auto row = state.runs.find(own.job);
    if (row != state.runs.end() && row->second.run == own.run) return OkStatus();
    return FailedPreconditionError(
        Str("run ", own.run, " of job ", own.job, " is over: ",
            row == state.runs.end() ? "it was detached, perhaps for want of a sign of life"
                                    : Str("run ", row->second.run, " has replaced it"),
            "; its steps may be trimmed now. Start a new run"),
        Reason::kRunOver);
  }

  bool TakeHeadIfNew() {
    MutexLock lock(mutex_);
    if (stats_.version == follower_.state().version) return false;
    trouble_.clear();
    TakeHead();
    return true;
  }

  // Waits until `at`, or until the consumer stops (then false).
  bool Rest(TimePoint at) {
    MutexLock lock(mutex_);
    while (!stopping_ && stream_->runtime().Now() < at) stopped_->WaitUntil(mutex_, at);
    return !stopping_;
  }

  // ---- scout thread

  void Scout() {
    Backoff backoff(std::chrono::milliseconds(50), std::chrono::seconds(5));
    while (WaitUntilScoutIsNeeded()) {
      const Status scouted = PlanNextSteps();
      if (scouted.ok()) {
        backoff.Reset();
        continue;
      }
      if (IsTransient(scouted)) {
        SetTrouble(scouted);
        if (!Rest(stream_->runtime().Now() + backoff.NextDelay(stream_->runtime()))) return;
      } else {
        MutexLock lock(mutex_);
        if (stopping_) return;
        scout_failure_ = scouted;
        front_changed_->NotifyAll();
        while (!stopping_ && !scout_failure_.ok()) {
          scout_wanted_->Wait(mutex_);  // until Next() has returned it
        }
      }
    }
  }

  // Until more slots should be planned, or a look is due; false when it is time to stop. A sealed
  // stream that is planned to its end needs no scout any more, but a run's reader looks on.
  bool WaitUntilScoutIsNeeded() {
    MutexLock lock(mutex_);
    while (!stopping_) {
      const bool at_end = sealed_ && lanes_.next_step() >= stats_.next_committed_step;
      filling_ = lanes_.is_short_of_planned() || (filling_ && !lanes_.has_enough_planned());
      if ((!at_end && filling_) || LookIsDue()) return true;
      if (options_.run) {
        scout_wanted_->WaitUntil(mutex_, look_at_);
      } else {
        scout_wanted_->Wait(mutex_);
      }
    }
    return false;
  }

  bool LookIsDue() const { return options_.run && stream_->runtime().Now() >= look_at_; }

  // Plans the next steps, as far as they lie in one data object, or polls for them once.
  Status PlanNextSteps() {
    const Deadline deadline = After(stream_->runtime(), kRequestTime, &cancel_);
    if (LookIsDue()) LS_RETURN_IF_ERROR(Look(deadline).status());
    const Step step = NextToPlan();
    if (step >= follower_.state().next_step) return Poll(deadline);
    LS_ASSIGN_OR_RETURN(StepPlace place, index_.Locate(step, deadline));
    std::vector<std::vector<SlicePlace>> steps;
    for (; place.step < place.end_step; ++place.step, ++place.tgb_ordinal) {
      std::vector<SlicePlace>& slices = steps.emplace_back();
      for (const auto& reader : readers_) slices.push_back(reader->Find(place));
    }
    MutexLock lock(mutex_);
    for (std::vector<SlicePlace>& slices : steps) lanes_.Plan(std::move(slices));
    slots_planned_->NotifyOne();
    return OkStatus();
  }

  Step NextToPlan() {
    MutexLock lock(mutex_);
    return lanes_.next_step();
  }

  // Reads what is new in the log: whether anything is.
  Result<bool> Look(const Deadline& deadline) {
    const Status caught_up = follower_.CatchUp(deadline);
    // What was folded before a failure counts.
    const bool is_new = TakeHeadIfNew();
    LS_RETURN_IF_ERROR(caught_up);
    look_at_ = stream_->runtime().Now() + kLookInterval;
    LS_RETURN_IF_ERROR(CheckStillServed(follower_.state()));
    return is_new;
  }

  // Looks for new versions; without any, rests longer each time, so that an idle stream costs
  // little.
  Status Poll(const Deadline& deadline) {
    LS_ASSIGN_OR_RETURN(const bool is_new, Look(deadline));
    if (is_new) {
      poll_interval_ = options_.poll_min;
      return OkStatus();
    }
    // A quarter of jitter, so that many ranks do not poll in step.
    const double jitter = 0.75 + 0.5 * RandomUnit(stream_->runtime());
    Rest(stream_->runtime().Now() +
         Duration(static_cast<int64_t>(static_cast<double>(poll_interval_.count()) * jitter)));
    poll_interval_ = std::min(poll_interval_ * 3 / 2, options_.poll_max);
    return OkStatus();
  }

  void SetTrouble(const Status& status) {
    MutexLock lock(mutex_);
    trouble_ = status.message();
  }

  // ---- fetcher threads

  void Fetch() {
    Backoff backoff(std::chrono::milliseconds(50), std::chrono::seconds(5));
    while (true) {
      const Lanes::Run run = NextRun();
      if (run.slices.empty()) return;
      auto slices = Read(run, After(stream_->runtime(), kRequestTime, &cancel_));
      const bool again = !slices.ok() && IsTransient(slices.status());
      {
        MutexLock lock(mutex_);
        if (slices.ok()) {
          lanes_.SetReady(run, *std::move(slices));
          backoff.Reset();
        } else if (again) {
          trouble_ = slices.status().message();
          lanes_.SetPlanned(run);
        } else {
          lanes_.SetFailed(run, slices.status());
        }
        if (lanes_.front_ready() || lanes_.front_failed()) front_changed_->NotifyAll();
        if (!slices.ok()) slots_planned_->NotifyAll();
      }
      if (again && !Rest(stream_->runtime().Now() + backoff.NextDelay(stream_->runtime()))) return;
    }
  }

  Result<std::vector<SliceView>> Read(const Lanes::Run& run, const Deadline& deadline) {
    auto slices = readers_[run.lane]->Read(run.slices, deadline);
    if (slices.status().code() == Code::kNotFound)
      return WhyGone(run.first_step, slices.status(), deadline);
    if (!slices.ok() || share_.parts == 1) return slices;
    for (SliceView& slice : *slices) {
      LS_ASSIGN_OR_RETURN(slice, SelectSamples(std::move(slice), share_.part, share_.parts));
    }
    return slices;
  }

  // An object that is not there was trimmed and reclaimed, or it is lost: the newest state says.
  Status WhyGone(Step step, const Status& missing, const Deadline& deadline) {
    Follower newest(follower_.context());
    LS_RETURN_IF_ERROR(newest.Start(deadline));
    LS_RETURN_IF_ERROR(CheckStillServed(newest.state()));
    const Step trim_step = newest.state().trim_step;
    if (step < trim_step) return TrimmedError(newest.context(), step, trim_step);
    return DataLossError(missing.message());
  }

  bool NextHasWaitedLong() const LS_REQUIRES(mutex_) {
    return next_waits_for_bytes_ && stream_->runtime().Now() - next_waits_since_ > kLongWait;
  }

  // The next slots to be read; none when it is time to stop.
  Lanes::Run NextRun() {
    MutexLock lock(mutex_);
    while (!stopping_) {
      Lanes::Run run = lanes_.TakeRun(kRunBytesMax);
      if (!run.slices.empty()) {
        if (lanes_.CanTake()) slots_planned_->NotifyOne();  // there is work for one more
        return run;
      }
      // Idle while Next() waits for bytes: had they been asked for earlier, it would not.
      if (NextHasWaitedLong() && lanes_.Deepen()) continue;
      slots_planned_->Wait(mutex_);
    }
    return {};
  }

  const std::shared_ptr<Stream> stream_;
  const ConsumerOptions options_;
  const JobShare share_;
  MeteredStore store_;  // counts what this consumer asks for
  CancelToken cancel_;

  // Used by Start(), then by the scout thread alone.
  Follower follower_;
  StepIndex index_;
  Duration poll_interval_ = options_.poll_min;
  TimePoint look_at_;

  BufferPool pool_;
  std::vector<std::unique_ptr<SliceReader>> readers_;  // one a lane
  std::unique_ptr<RunReporter> reporter_;              // null without a run

  mutable Mutex mutex_;
  std::unique_ptr<Condition> front_changed_;  // for Next(): the front slot, the head, a failure
  std::unique_ptr<Condition> slots_planned_;  // for fetchers
  std::unique_ptr<Condition> scout_wanted_;   // for the scout: room in the queue
  std::unique_ptr<Condition> stopped_;        // for whoever rests
  Lanes lanes_ LS_GUARDED_BY(mutex_);
  ConsumerStats stats_ LS_GUARDED_BY(mutex_);
  bool filling_ LS_GUARDED_BY(mutex_) = true;
  bool next_waits_for_bytes_ LS_GUARDED_BY(mutex_) = false;  // of a step that is committed
  TimePoint next_waits_since_ LS_GUARDED_BY(mutex_);
  bool sealed_ LS_GUARDED_BY(mutex_) = false;
  bool stopping_ LS_GUARDED_BY(mutex_) = false;
  Status scout_failure_ LS_GUARDED_BY(mutex_);
  std::string trouble_ LS_GUARDED_BY(mutex_);

  std::vector<std::unique_ptr<Thread>> threads_;
};

Status CheckRun(const ConsumerRun& run) {
  if (run.rank < run.ranks) return OkStatus();
  return InvalidArgumentError(
      Str("rank ", run.rank, " is outside the ", run.ranks, " ranks of job ", run.job));
}

}  // namespace

Result<std::unique_ptr<Consumer>> Consumer::Open(std::shared_ptr<Stream> stream,
                                                 const ConsumerOptions& options,
                                                 const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(const JobShare share, ShareOf(stream->info().spec, options));
  if (options.run) LS_RETURN_IF_ERROR(CheckRun(*options.run));
  auto consumer = std::make_unique<ConsumerImpl>(std::move(stream), options, share);
  LS_RETURN_IF_ERROR(consumer->Start(deadline));
  return std::unique_ptr<Consumer>(std::move(consumer));
}

}  // namespace lakestream

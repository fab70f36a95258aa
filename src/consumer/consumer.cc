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
#include "consumer/prefetch_queue.h"
#include "consumer/slice_reader.h"
#include "ledger/step_index.h"
#include "runtime/backoff.h"
#include "store/metered_store.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

// Small slices of one object that lie side by side are read together up to this.
constexpr uint64_t kRunBytesMax = 1ull << 20;
constexpr Duration kRequestTime = std::chrono::seconds(60);
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
  ConsumerImpl(std::shared_ptr<Stream> stream, const ConsumerOptions& options)
      : stream_(std::move(stream)),
        options_(options),
        store_(stream_->shared_store()),
        follower_(ContextOf(*stream_, store_)),
        index_(follower_),
        pool_(options.prefetch_bytes + kPoolSlackBytes),
        reader_(follower_.context(), options.dp_index, options.cp_index, &pool_),
        front_changed_(stream_->runtime().NewCondition()),
        slots_planned_(stream_->runtime().NewCondition()),
        scout_wanted_(stream_->runtime().NewCondition()),
        stopped_(stream_->runtime().NewCondition()),
        queue_(options.start_step, options.fetches_max + 1, std::max(options.prefetch_steps, 1u),
               options.prefetch_bytes) {
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
    LS_RETURN_IF_ERROR(follower_.Start(deadline));
    {
      MutexLock lock(mutex_);
      TakeHead();
    }
    Runtime& runtime = stream_->runtime();
    threads_.push_back(runtime.Spawn("scout", [this] { Scout(); }));
    for (uint32_t i = 0; i < std::max(options_.fetches_max, 1u); ++i) {
      threads_.push_back(runtime.Spawn("fetcher", [this] { Fetch(); }));
    }
    return OkStatus();
  }

  Result<std::optional<ConsumedSlice>> Next(const Deadline& deadline) override {
    MutexLock lock(mutex_);
    LS_ASSIGN_OR_RETURN(const bool ready, WaitForFront(deadline));
    if (!ready) return std::optional<ConsumedSlice>();
    const Step step = queue_.front_step();
    ConsumedSlice consumed{step, queue_.PopFront()};
    ++stats_.steps;
    stats_.slice_bytes += consumed.slice.payload.size();
    if (queue_.CanTake()) slots_planned_->NotifyOne();
    if (queue_.is_short_of_planned()) scout_wanted_->NotifyAll();
    return std::optional(std::move(consumed));
  }

  Step position() const override {
    MutexLock lock(mutex_);
    return queue_.front_step();
  }

  ConsumerStats stats() const override {
    const StoreCounts counts = store_.counts();
    MutexLock lock(mutex_);
    ConsumerStats stats = stats_;
    stats.bytes_read = counts.bytes_read;
    stats.requests = counts.requests();
    stats.rereads = reader_.rereads();
    return stats;
  }

 private:
  // True once the front slot is ready, false at the end of the stream; or why neither came.
  Result<bool> WaitForFront(const Deadline& deadline) LS_REQUIRES(mutex_) {
    Runtime& runtime = stream_->runtime();
    const TimePoint began = runtime.Now();
    while (true) {
      if (queue_.front_ready()) break;
      if (queue_.front_failed()) {
        const Status failure = queue_.TakeFrontFailure();
        slots_planned_->NotifyOne();
        return failure;
      }
      if (sealed_ && queue_.front_step() >= stats_.next_committed_step) return false;
      if (!scout_failure_.ok()) {
        const Status failure = std::exchange(scout_failure_, OkStatus());
        scout_wanted_->NotifyAll();
        return failure;
      }
      if (!CheckDeadline(runtime, deadline, "").ok()) {
        return CheckDeadline(runtime, deadline, WhatIsAwaited());
      }
      const TimePoint look = runtime.Now() + std::chrono::milliseconds(100);
      next_waits_for_bytes_ = queue_.front_step() < stats_.next_committed_step;
      next_waits_since_ = began;
      front_changed_->WaitUntil(mutex_,
                                deadline.cancel ? std::min(deadline.at, look) : deadline.at);
      next_waits_for_bytes_ = false;
    }
    stats_.wait += runtime.Now() - began;
    return true;
  }

  std::string WhatIsAwaited() const LS_REQUIRES(mutex_) {
    const Step step = queue_.front_step();
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

  // Until more slots should be planned; false when it is time to stop. A sealed stream that is
  // planned to its end needs no scout any more.
  bool WaitUntilScoutIsNeeded() {
    MutexLock lock(mutex_);
    while (!stopping_) {
      const bool at_end = sealed_ && queue_.next_step() >= stats_.next_committed_step;
      filling_ = queue_.is_short_of_planned() || (filling_ && !queue_.has_enough_planned());
      if (!at_end && filling_) return true;
      scout_wanted_->Wait(mutex_);
    }
    return false;
  }

  // Plans the next steps, to the end of their data object, or polls for them once.
  Status PlanNextSteps() {
    const Deadline deadline = After(stream_->runtime(), kRequestTime, &cancel_);
    const Step step = NextToPlan();
    if (step >= follower_.state().next_step) return Poll(deadline);
    LS_ASSIGN_OR_RETURN(StepPlace place, index_.Locate(step, deadline));
    std::vector<SlicePlace> slices;
    for (; place.tgb_ordinal < place.entry->tgb_count(); ++place.step, ++place.tgb_ordinal) {
      slices.push_back(reader_.Find(place));
    }
    MutexLock lock(mutex_);
    for (SlicePlace& slice : slices) queue_.Plan(std::move(slice));
    slots_planned_->NotifyOne();
    return OkStatus();
  }

  Step NextToPlan() {
    MutexLock lock(mutex_);
    return queue_.next_step();
  }

  // Looks for new versions; without any, rests longer each time, so that an idle stream costs
  // little.
  Status Poll(const Deadline& deadline) {
    const Status caught_up = follower_.CatchUp(deadline);
    // What was folded before a failure counts.
    if (TakeHeadIfNew()) {
      poll_interval_ = options_.poll_min;
      return caught_up;
    }
    LS_RETURN_IF_ERROR(caught_up);
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
      const PrefetchQueue::Run run = NextRun();
      if (run.slices.empty()) return;
      auto slices = reader_.Read(run.slices, After(stream_->runtime(), kRequestTime, &cancel_));
      const bool again = !slices.ok() && IsTransient(slices.status());
      {
        MutexLock lock(mutex_);
        if (slices.ok()) {
          queue_.SetReady(run.first_step, *std::move(slices));
          backoff.Reset();
        } else if (again) {
          trouble_ = slices.status().message();
          queue_.SetPlanned(run.first_step, run.slices.size());
        } else {
          queue_.SetFailed(run.first_step, run.slices.size(), slices.status());
        }
        if (queue_.front_ready() || queue_.front_failed()) front_changed_->NotifyAll();
        if (!slices.ok()) slots_planned_->NotifyAll();
      }
      if (again && !Rest(stream_->runtime().Now() + backoff.NextDelay(stream_->runtime()))) return;
    }
  }

  bool NextHasWaitedLong() const LS_REQUIRES(mutex_) {
    return next_waits_for_bytes_ && stream_->runtime().Now() - next_waits_since_ > kLongWait;
  }

  // The next slots to be read; none when it is time to stop.
  PrefetchQueue::Run NextRun() {
    MutexLock lock(mutex_);
    while (!stopping_) {
      PrefetchQueue::Run run = queue_.TakeRun(kRunBytesMax);
      if (!run.slices.empty()) {
        if (queue_.CanTake()) slots_planned_->NotifyOne();  // there is work for one more
        return run;
      }
      // Idle while Next() waits for bytes: had they been asked for earlier, it would not.
      if (NextHasWaitedLong() && queue_.Deepen()) continue;
      slots_planned_->Wait(mutex_);
    }
    return {};
  }

  const std::shared_ptr<Stream> stream_;
  const ConsumerOptions options_;
  MeteredStore store_;  // counts what this consumer asks for
  CancelToken cancel_;

  // Used by Start(), then by the scout thread alone.
  Follower follower_;
  StepIndex index_;
  Duration poll_interval_ = options_.poll_min;

  BufferPool pool_;
  SliceReader reader_;

  mutable Mutex mutex_;
  std::unique_ptr<Condition> front_changed_;  // for Next(): the front slot, the head, a failure
  std::unique_ptr<Condition> slots_planned_;  // for fetchers
  std::unique_ptr<Condition> scout_wanted_;   // for the scout: room in the queue
  std::unique_ptr<Condition> stopped_;        // for whoever rests
  PrefetchQueue queue_ LS_GUARDED_BY(mutex_);
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

Status CheckPosition(const StreamInfo& info, const ConsumerOptions& options) {
  const Mesh& mesh = info.spec.mesh;
  if (options.mesh && *options.mesh != mesh) {
    return FailedPreconditionError(
        Str("the stream has a mesh of dp ", mesh.dp, " x cp ", mesh.cp, ", the job one of ",
            options.mesh->dp, " x ", options.mesh->cp),
        Reason::kMeshMismatch);
  }
  if (options.dp_index < mesh.dp && options.cp_index < mesh.cp) return OkStatus();
  return InvalidArgumentError(Str("position (dp ", options.dp_index, ", cp ", options.cp_index,
                                  ") is outside the stream's mesh of dp ", mesh.dp, " x cp ",
                                  mesh.cp, "; positions count from 0"),
                              Reason::kMeshMismatch);
}

}  // namespace

Result<std::unique_ptr<Consumer>> Consumer::Open(std::shared_ptr<Stream> stream,
                                                 const ConsumerOptions& options,
                                                 const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckPosition(stream->info(), options));
  auto consumer = std::make_unique<ConsumerImpl>(std::move(stream), options);
  LS_RETURN_IF_ERROR(consumer->Start(deadline));
  return std::unique_ptr<Consumer>(std::move(consumer));
}

}  // namespace lakestream

#include "consumer/run_reporter.h"

#include <algorithm>

#include "base/text.h"

namespace lakestream {
namespace {

constexpr Duration kRequestTime = std::chrono::seconds(30);
// Well below any time after which a run may be taken for dead.
constexpr Duration kSignOfLife = std::chrono::seconds(20);

}  // namespace

RunReporter::RunReporter(const LedgerContext& context, const ConsumerRun& run, Step start)
    : runtime_(context.runtime),
      who_(Str("run ", run.run, " of job ", run.job, ", rank ", run.rank)),
      interval_(run.report_interval),
      writer_(context, run.job, run.run, run.rank),
      read_(start),
      changed_(runtime_.NewCondition()),
      durable_(start) {
  thread_ = runtime_.Spawn("reporter", [this] { Report(); });
}

RunReporter::~RunReporter() {
  cancel_.Cancel();
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_->NotifyAll();
  }
  thread_->Join();
}

void RunReporter::SetDurable(Step step) {
  MutexLock lock(mutex_);
  durable_ = std::max(durable_, step);
}

Status RunReporter::Flush(const Deadline& deadline) {
  MutexLock lock(mutex_);
  flushing_ = true;
  changed_->NotifyAll();
  while (is_behind() || !ever_written_) {
    LS_RETURN_IF_ERROR(CheckDeadline(runtime_, deadline,
                                     Str(who_, ": writing its watermark",
                                         trouble_.ok() ? "" : Str(" (", trouble_.message(), ")"))));
    const TimePoint look = runtime_.Now() + std::chrono::milliseconds(100);
    changed_->WaitUntil(mutex_, std::min(deadline.at, look));
  }
  flushing_ = false;
  return OkStatus();
}

// False when it is time to stop.
bool RunReporter::WaitUntilDue() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    const TimePoint now = runtime_.Now();
    if (!ever_written_ && trouble_.ok()) return true;
    if (flushing_ && is_behind() && trouble_.ok()) return true;
    if (now >= written_at_ + (is_behind() ? interval_ : kSignOfLife)) return true;
    changed_->WaitUntil(mutex_, std::max(now, written_at_) + interval_);
  }
  return false;
}

void RunReporter::Report() {
  while (WaitUntilDue()) {
    Watermark next;
    {
      MutexLock lock(mutex_);
      next = {0, read_.load(std::memory_order_relaxed), durable_};
    }
    const Status wrote =
        writer_.Write(next.read, next.durable, After(runtime_, kRequestTime, &cancel_));
    bool is_new_trouble = false;
    {
      MutexLock lock(mutex_);
      is_new_trouble = !wrote.ok() && trouble_.ok() && !stopping_;
      trouble_ = wrote;
      written_at_ = runtime_.Now();  // after a failure too: it is tried again at the same pace
      if (wrote.ok()) {
        written_ = next;
        ever_written_ = true;
      }
      changed_->NotifyAll();
    }
    if (is_new_trouble) {
      runtime_.Log(
          LogLevel::kWarning,
          Str(who_, ": its watermark could not be written and is tried again: ", wrote.message()));
    }
  }
}

}  // namespace lakestream

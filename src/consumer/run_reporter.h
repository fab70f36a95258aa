// RunReporter: a consumer's watermark, written as it moves, by a thread of its own.
//
// At most one write each `interval`, and one now and then without progress, so that a run that
// waits for data is not taken for dead. Trouble is logged and never stops the reader: a watermark
// that lags holds more than it need, never less.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "lakestream/consumer.h"
#include "lifecycle/watermarks.h"

namespace lakestream {

class RunReporter {
 public:
  // Starts the thread. Borrows what the context borrows.
  RunReporter(const LedgerContext& context, const ConsumerRun& run, Step start);
  ~RunReporter();

  // From any thread; cheap. Positions never go back.
  void SetRead(Step step) { read_.store(step, std::memory_order_relaxed); }
  void SetDurable(Step step);
  // Until the newest positions are written.
  Status Flush(const Deadline& deadline);

 private:
  void Report();
  bool WaitUntilDue();
  bool is_behind() const LS_REQUIRES(mutex_) {
    return read_.load(std::memory_order_relaxed) != written_.read || durable_ != written_.durable;
  }

  Runtime& runtime_;
  const std::string who_;
  const Duration interval_;
  CancelToken cancel_;
  WatermarkWriter writer_;  // the thread's

  std::atomic<Step> read_;
  Mutex mutex_;
  std::unique_ptr<Condition> changed_;
  Step durable_ LS_GUARDED_BY(mutex_);
  Watermark written_ LS_GUARDED_BY(mutex_);
  bool ever_written_ LS_GUARDED_BY(mutex_) = false;
  TimePoint written_at_ LS_GUARDED_BY(mutex_);
  bool flushing_ LS_GUARDED_BY(mutex_) = false;
  bool stopping_ LS_GUARDED_BY(mutex_) = false;
  Status trouble_ LS_GUARDED_BY(mutex_);
  std::unique_ptr<Thread> thread_;
};

}  // namespace lakestream

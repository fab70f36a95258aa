#include <sys/random.h>

#include <condition_variable>
#include <cstring>
#include <random>
#include <thread>

#include "base/mutex.h"
#include "lakestream/runtime.h"

namespace lakestream {
namespace {

class RealThread final : public Thread {
 public:
  explicit RealThread(std::function<void()> body) : thread_(std::move(body)) {}
  ~RealThread() override { Join(); }
  void Join() override {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

class RealCondition final : public Condition {
 public:
  void Wait(Mutex& mutex) override {
    std::unique_lock<std::mutex> lock(mutex.native(), std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  bool WaitUntil(Mutex& mutex, TimePoint at) override {
    if (at == TimePoint::max()) {  // libstdc++ overflows on the far end of time
      Wait(mutex);
      return true;
    }
    std::unique_lock<std::mutex> lock(mutex.native(), std::adopt_lock);
    bool in_time = condition_.wait_until(lock, at) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }
  void NotifyAll() override { condition_.notify_all(); }
  void NotifyOne() override { condition_.notify_one(); }

 private:
  std::condition_variable condition_;
};

class RealRuntimeImpl final : public Runtime {
 public:
  explicit RealRuntimeImpl(LogSink sink) : sink_(std::move(sink)) {}

  TimePoint Now() override {
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
  }
  int64_t WallTimeMs() override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  // Straight from the kernel: commit and stream ids must not repeat, also in a forked child.
  uint64_t Random64() override {
    uint64_t value = 0;
    if (getrandom(&value, sizeof value, 0) != sizeof value) {
      std::random_device device;
      value = (uint64_t{device()} << 32) | device();
    }
    return value;
  }
  std::unique_ptr<Thread> Spawn(std::string name, std::function<void()> body) override {
    return std::make_unique<RealThread>([name = std::move(name), body = std::move(body)] {
      pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
      body();
    });
  }
  std::unique_ptr<Condition> NewCondition() override { return std::make_unique<RealCondition>(); }
  void SleepUntil(TimePoint at) override { std::this_thread::sleep_until(at); }
  void Log(LogLevel level, std::string_view message) override {
    if (sink_) sink_(level, message);
  }

 private:
  LogSink sink_;
};

}  // namespace

std::shared_ptr<Runtime> RealRuntime(LogSink sink) {
  return std::make_shared<RealRuntimeImpl>(std::move(sink));
}

}  // namespace lakestream

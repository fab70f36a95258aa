// Mutex: std::mutex with clang's thread-safety annotations (checked by the clang build).
#pragma once

#include <mutex>

#if defined(__clang__)
#define LS_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define LS_THREAD_ANNOTATION(x)
#endif
#define LS_CAPABILITY(x) LS_THREAD_ANNOTATION(capability(x))
#define LS_SCOPED_CAPABILITY LS_THREAD_ANNOTATION(scoped_lockable)
#define LS_GUARDED_BY(x) LS_THREAD_ANNOTATION(guarded_by(x))
#define LS_REQUIRES(...) LS_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define LS_EXCLUDES(...) LS_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define LS_ACQUIRE(...) LS_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define LS_RELEASE(...) LS_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define LS_NO_THREAD_SAFETY_ANALYSIS LS_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace lakestream {

class LS_CAPABILITY("mutex") Mutex {
 public:
  void Lock() LS_ACQUIRE() { mutex_.lock(); }
  void Unlock() LS_RELEASE() { mutex_.unlock(); }
  // For Condition implementations only.
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class LS_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) LS_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() LS_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace lakestream

#include "runtime/parallel.h"

#include <algorithm>
#include <vector>

#include "base/mutex.h"

namespace lakestream {
namespace {

struct Shared {
  Mutex mutex;
  size_t next LS_GUARDED_BY(mutex) = 0;
  size_t failed_index LS_GUARDED_BY(mutex) = SIZE_MAX;
  Status failure LS_GUARDED_BY(mutex);
};

void Work(Shared& shared, size_t count, const std::function<Status(size_t)>& body) {
  while (true) {
    size_t index;
    {
      MutexLock lock(shared.mutex);
      if (shared.next >= count || !shared.failure.ok()) return;
      index = shared.next++;
    }
    Status status = body(index);
    if (status.ok()) continue;
    MutexLock lock(shared.mutex);
    if (index < shared.failed_index) {
      shared.failed_index = index;
      shared.failure = status;
    }
  }
}

}  // namespace

Status ParallelFor(Runtime& runtime, size_t count, size_t width,
                   const std::function<Status(size_t)>& body) {
  Shared shared;
  std::vector<std::unique_ptr<Thread>> threads;
  const size_t extra = std::min(count, std::max<size_t>(width, 1));
  for (size_t i = 1; i < extra; ++i) {
    threads.push_back(runtime.Spawn("parallel", [&] { Work(shared, count, body); }));
  }
  Work(shared, count, body);
  for (auto& thread : threads) thread->Join();
  MutexLock lock(shared.mutex);
  return shared.failure;
}

}  // namespace lakestream

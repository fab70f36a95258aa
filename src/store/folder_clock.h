// FolderClock: the clock of the file system that a folder lies on, which also dates the last writes
// of its files: the one clock by which their ages can be told. This host's own clock has no say: a
// client whose clock is wrong by days must not take a fresh object for an old one.
//
// Read by touching a file of its own, which has lost its name at once, so that neither crashes nor
// other users can leave anything in the way.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "lakestream/runtime.h"
#include "store/file_system.h"

namespace lakestream {

// Thread-safe.
class FolderClock {
 public:
  FolderClock(std::shared_ptr<Runtime> runtime, std::shared_ptr<FileSystem> files,
              std::string folder)
      : runtime_(std::move(runtime)), files_(std::move(files)), folder_(std::move(folder)) {}

  // Milliseconds since 1970; 0 if it cannot be told: the folder is missing, or nothing may be
  // written there. Two system calls.
  int64_t NowMs();
  // What NowMs() said within the last second, as this host's monotonic clock counts. For answers
  // whose time decides nothing.
  int64_t RecentMs();

 private:
  std::shared_ptr<File> OwnFile();
  void Drop(const std::shared_ptr<File>& broken);

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<FileSystem> files_;
  const std::string folder_;
  Mutex mutex_;
  std::shared_ptr<File> file_ LS_GUARDED_BY(mutex_);
  std::atomic<int64_t> read_ms_{0};  // the last that was read, and when
  std::atomic<int64_t> read_at_ns_{0};
};

}  // namespace lakestream

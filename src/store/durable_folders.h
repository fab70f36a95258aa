// DurableFolders: makes the folders of a local store on demand and knows what a power loss cannot
// take from them.
//
// A file's name survives a power loss only if its folder was synced, and that folder's own name
// only if its parent was, and so on up. Another process may have made a folder and died before it
// synced the parent. So each process syncs the parent of each folder once, whoever made the folder.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "base/mutex.h"
#include "store/file_system.h"

namespace lakestream {

// Thread-safe. With fsync = false all syncs are left out. Paths are absolute.
class DurableFolders {
 public:
  DurableFolders(std::shared_ptr<FileSystem> files, std::string root, bool fsync)
      : files_(std::move(files)), root_(std::move(root)), fsync_(fsync) {}

  // Makes the folder that holds `path` (the root or below) and all above it, durably. kNotFound if
  // somebody removed one of them meanwhile: Forget() and try again. kInvalidArgument if a file is
  // in the way. No system call if it is known.
  Status EnsureParent(const std::string& path);
  // The same for the root itself.
  Status EnsureRoot();
  // Drops what is known; for a caller that found a folder missing.
  void Forget();

  // Makes the entry `path` of its folder durable after it was changed. A failure is remembered.
  Status SyncParent(const std::string& path);
  // Repeats a sync of the folder of `path` that failed before; OK without a call if there is none.
  // Readers ask, so that nobody builds on a name that a power loss could take (H55).
  Status CheckSynced(const std::string& path);

 private:
  Status EnsureFolder(const std::string& path);
  Status MakeIfMissing(const std::string& path);
  Status MakeWithParents(const std::string& path);
  Status SyncAbove(const std::string& path);
  bool IsKnown(const std::string& path);
  void Remember(const std::string& path);

  const std::shared_ptr<FileSystem> files_;
  const std::string root_;
  const bool fsync_;
  std::atomic<size_t> unsynced_count_{0};

  Mutex mutex_;
  // Folders with durable names, a bounded cache.
  std::set<std::string> known_ LS_GUARDED_BY(mutex_);
  // Folders with visible entries whose sync failed.
  std::set<std::string> unsynced_ LS_GUARDED_BY(mutex_);
};

// "/a/b" -> "/a"; "/a" and "/" -> "/".
std::string ParentOf(const std::string& path);

}  // namespace lakestream

// LocalFolder: how objects become files below a root folder, atomically and durably.
//
// Invariants of the write protocol:
// 1. A final name appears only by link() or rename() of a complete, synced temporary file: nobody
//    ever sees a torn object, whatever dies.
// 2. A write is acknowledged only after the folder that holds the name is durable, and all folders
//    above it (durable_folders.h).
// 3. put-if-absent is link(), which the file system decides. After any failure the identity of the
//    file at the final name tells whether our link was applied (NFS repeats requests whose answer
//    was lost). The temporary file is removed before "surely not applied" is said: a link or rename
//    that is still under way then finds nothing.
// 4. All that replaces or removes a name holds the key's lock file (flock), so that compare and
//    swap is one step between processes. Locks are held for a stat and a rename, never for a sync.
// 5. Folders are never removed, so that what is known to be durable stays so.
//
// <root>/.lakestream-tmp/ holds temporary files (temporary_name.h) and lock files ("lock-3f").
// Killed processes leave temporary files there; they are harmless, and AbortStale() removes them.
// Lock files stay for ever: a lock on a removed file would exclude nobody.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lakestream/object_store.h"
#include "store/durable_folders.h"
#include "store/file_system.h"
#include "store/folder_clock.h"

namespace lakestream {

inline constexpr std::string_view kTemporaryFolder = ".lakestream-tmp";

// A temporary file in the making. The destructor removes it. Confined to one thread.
class Draft {
 public:
  Draft(std::shared_ptr<FileSystem> files, std::string path, std::unique_ptr<File> file)
      : files_(std::move(files)), path_(std::move(path)), file_(std::move(file)) {}
  ~Draft() { (void)Remove(); }
  Draft(Draft&&) = default;
  Draft& operator=(Draft&&) = delete;

  // Appends in steps of at most 16 MiB and looks at the deadline between them.
  Status Append(std::span<const ConstBytes> pieces, Runtime& runtime, const Deadline& deadline);
  // The name is gone (renamed): nothing to remove.
  void Release() { files_.reset(); }
  // OK also if it was removed before.
  Status Remove();
  // Frees the descriptor; the file stays.
  void Close() { file_.reset(); }

  const std::string& path() const { return path_; }
  File& file() { return *file_; }

 private:
  std::shared_ptr<FileSystem> files_;  // null: moved from, removed or released
  std::string path_;
  std::unique_ptr<File> file_;
};

// The opaque version of a file: its inode, last write and size. LocalFolder sets the digits below
// a millisecond of the last write at random, because an inode may be used again within one tick of
// the file system's clock.
std::string EtagOf(const FileInfo& info);

// Thread-safe; several processes may use one root.
class LocalFolder {
 public:
  LocalFolder(std::shared_ptr<Runtime> runtime, std::shared_ptr<FileSystem> files, std::string root,
              bool fsync);

  // kInvalidArgument if no file below the root can have this name.
  static Status CheckHoldable(std::string_view key);
  std::string PathOf(std::string_view key) const { return root_ + "/" + std::string(key); }

  // The file of an object. kNotFound also for what is not a regular file.
  Result<FileInfo> Find(const std::string& key);

  // An empty temporary file of `owner` (a random number of a put or an upload); makes the root if
  // it is missing.
  Result<Draft> NewDraft(uint64_t owner);
  // Gives a written draft the name `key` if the condition holds.
  Result<PutResult> Publish(Draft draft, const std::string& key, const PutOptions& options,
                            const Deadline& deadline);
  // The answer to a put whose condition fails already, before anything is written.
  Result<std::optional<PutResult>> RefuseEarly(const std::string& key, const PutOptions& options);

  Status Remove(std::span<const std::string> keys, const Deadline& deadline);
  // Removes the temporary files of puts and uploads whose oldest one was last written before
  // `begun_before_ms`; of how many. In a dry run it counts only.
  Result<uint64_t> AbortStale(int64_t begun_before_ms, bool dry_run, const Deadline& deadline);

  // Calls `look`, and says when by the store's clock (0: unknown): the time is before the look, and
  // by less than a second, whatever paused this process meanwhile.
  Result<int64_t> DateOf(const std::function<Status()>& look);
  FolderClock& clock() { return clock_; }

  DurableFolders& folders() { return folders_; }
  FileSystem& files() { return *files_; }
  Runtime& runtime() { return *runtime_; }
  const std::string& root() const { return root_; }

 private:
  Result<FileInfo> Seal(Draft& draft);
  Result<bool> Place(Draft& draft, const FileInfo& sealed, const std::string& key,
                     const PutOptions& options, const Deadline& deadline);
  Result<bool> PlaceIfAbsent(Draft& draft, const FileInfo& sealed, const std::string& path);
  Result<bool> PlaceOver(Draft& draft, const FileInfo& sealed, const std::string& key,
                         const PutOptions& options, const Deadline& deadline);
  Result<bool> Settle(Draft& draft, const FileInfo& sealed, const std::string& path,
                      const Status& failure);
  Result<bool> IsMet(const std::string& path, const PutOptions& options);
  Result<std::unique_ptr<FileLock>> Lock(std::string_view key, const Deadline& deadline);
  Status MakeTemporaryFolder();

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<FileSystem> files_;
  const std::string root_;
  const std::string temporary_folder_;
  const bool fsync_;
  DurableFolders folders_;
  FolderClock clock_;
};

}  // namespace lakestream

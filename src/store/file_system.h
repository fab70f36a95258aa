// FileSystem: the seam between LocalStore and the operating system.
//
// As few calls as the write protocol of local_folder.h needs, each one system call or a loop over
// one, so that a simulated file system (tests/store) can fail or cut the power at each of them.
//
// Errors are Statuses made by FileError(); their codes are what LocalStore decides on:
//   kNotFound            ENOENT, ENOTDIR           kAlreadyExists     EEXIST, EISDIR, ENOTEMPTY
//   kResourceExhausted   ENOSPC, EDQUOT (reason kDiskFull), EFBIG (kTooLarge), ENOMEM, EMFILE
//   kPermissionDenied    EACCES, EPERM, EROFS      kInvalidArgument   ENAMETOOLONG, EINVAL, EILSEQ
//   kFailedPrecondition  EXDEV, ELOOP              kUnimplemented     ENOSYS, EOPNOTSUPP, ENOLCK
//   kAborted             EWOULDBLOCK: the lock is taken
//   kUnavailable         EIO, ESTALE and everything else
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {

enum class FileKind { kFile, kFolder, kOther };

struct FileInfo {
  FileKind kind = FileKind::kOther;
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t modified_ns = 0;  // since 1970, the file system's clock
  bool SameFile(const FileInfo& other) const {
    return device == other.device && inode == other.inode;
  }
};

// An open file; the destructor closes it. Thread-compatible, ReadAt thread-safe.
class File {
 public:
  virtual ~File() = default;
  virtual Result<FileInfo> Stat() = 0;
  // Reads until `into` is full or the file ends; the number of bytes read.
  virtual Result<size_t> ReadAt(uint64_t offset, MutableBytes into) = 0;
  // Writes all the pieces at the end. After a failure any part of them may be there.
  virtual Status Append(std::span<const ConstBytes> pieces) = 0;
  virtual Status SetModified(int64_t modified_ns) = 0;
  // Sets the last write to the file system's time now.
  virtual Status Touch() = 0;
  // Content and size survive a power loss from here on (not the name: see SyncFolder).
  virtual Status Sync() = 0;
};

// Exclusive between processes and threads until destroyed, or until the process dies.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

struct FolderEntry {
  std::string name;
  FileKind kind = FileKind::kOther;  // of the target, for a symbolic link
};

// Thread-safe. Paths are absolute.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // Never blocks on what is not a regular file (but may open it: look at Stat().kind).
  virtual Result<std::unique_ptr<File>> OpenForRead(const std::string& path) = 0;
  // A new empty file to append to; kAlreadyExists if the name is taken.
  virtual Result<std::unique_ptr<File>> CreateNew(const std::string& path) = 0;
  virtual Result<FileInfo> Stat(const std::string& path) = 0;
  // Gives a file a second name, atomically, unless the name is taken (kAlreadyExists).
  virtual Status Link(const std::string& from, const std::string& to) = 0;
  // Replaces a file at `to` atomically; kAlreadyExists if a folder is there.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status RemoveFile(const std::string& path) = 0;
  virtual Status MakeFolder(const std::string& path) = 0;
  // The folder's entries survive a power loss from here on.
  virtual Status SyncFolder(const std::string& path) = 0;
  // All entries but "." and "..", in no order.
  virtual Result<std::vector<FolderEntry>> ReadFolder(const std::string& path) = 0;
  // Takes the lock file at `path`, made if missing; kAborted if somebody holds it.
  virtual Result<std::unique_ptr<FileLock>> TryLock(const std::string& path) = 0;
};

// The file system of this host. Made for Linux: ext4, xfs, btrfs, tmpfs, NFS.
std::shared_ptr<FileSystem> PosixFileSystem();

// The Status of a failed call: "rename of /x/y: no space left on device; free some space".
Status FileError(int error_number, std::string_view call, std::string_view path);

}  // namespace lakestream

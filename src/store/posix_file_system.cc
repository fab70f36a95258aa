#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "store/file_system.h"

namespace lakestream {
namespace {

constexpr mode_t kFileMode = 0666;  // less the umask
constexpr mode_t kFolderMode = 0777;
constexpr size_t kPiecesPerCall = 512;  // at most IOV_MAX, which is 1024 on Linux

// Repeats a system call that a signal interrupted.
template <typename Call>
auto Uninterrupted(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  // Not repeated after EINTR: on Linux the descriptor is gone in any case.
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Result<Descriptor> Open(const std::string& path, int flags) {
  const int fd = Uninterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, kFileMode); });
  if (fd < 0) return FileError(errno, "open", path);
  return Descriptor(fd);
}

FileInfo ToFileInfo(const struct stat& stat) {
  FileInfo info;
  info.kind = S_ISREG(stat.st_mode)   ? FileKind::kFile
              : S_ISDIR(stat.st_mode) ? FileKind::kFolder
                                      : FileKind::kOther;
  info.device = stat.st_dev;
  info.inode = stat.st_ino;
  info.bytes = static_cast<uint64_t>(stat.st_size);
  info.modified_ns = int64_t{stat.st_mtim.tv_sec} * 1'000'000'000 + stat.st_mtim.tv_nsec;
  return info;
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Result<FileInfo> Stat() override {
    struct stat stat;
    if (fstat(fd(), &stat) != 0) return FileError(errno, "stat", path_);
    return ToFileInfo(stat);
  }

  Result<size_t> ReadAt(uint64_t offset, MutableBytes into) override {
    size_t done = 0;
    while (done < into.size()) {
      const ssize_t n = Uninterrupted([&] {
        return pread(fd(), into.data() + done, into.size() - done,
                     static_cast<off_t>(offset + done));
      });
      if (n < 0) return FileError(errno, "read", path_);
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

  Status Append(std::span<const ConstBytes> pieces) override {
    while (!pieces.empty()) {
      const size_t count = std::min(pieces.size(), kPiecesPerCall);
      LS_RETURN_IF_ERROR(AppendSome(pieces.first(count)));
      pieces = pieces.subspan(count);
    }
    return OkStatus();
  }

  Status SetModified(int64_t modified_ns) override {
    struct timespec times[2];
    times[0].tv_sec = 0;
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = modified_ns / 1'000'000'000;
    times[1].tv_nsec = modified_ns % 1'000'000'000;
    return futimens(fd(), times) == 0 ? OkStatus() : FileError(errno, "futimens", path_);
  }

  // UTIME_NOW is the server's time on a network file system.
  Status Touch() override {
    struct timespec times[2];
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_nsec = UTIME_NOW;
    return futimens(fd(), times) == 0 ? OkStatus() : FileError(errno, "futimens", path_);
  }

  // fdatasync suffices: it writes the size of a new file, and with it the whole inode.
  Status Sync() override {
    return Uninterrupted([&] { return fdatasync(fd()); }) == 0
               ? OkStatus()
               : FileError(errno, "fdatasync", path_);
  }

 private:
  int fd() const { return descriptor_.get(); }

  Status AppendSome(std::span<const ConstBytes> pieces) {
    std::array<iovec, kPiecesPerCall> vectors;
    size_t count = 0;
    for (ConstBytes piece : pieces) {
      if (!piece.empty()) vectors[count++] = {const_cast<uint8_t*>(piece.data()), piece.size()};
    }
    for (size_t first = 0; first < count;) {
      const ssize_t n = Uninterrupted(
          [&] { return writev(fd(), &vectors[first], static_cast<int>(count - first)); });
      if (n < 0) return FileError(errno, "write", path_);
      size_t written = static_cast<size_t>(n);
      while (first < count && written >= vectors[first].iov_len) {
        written -= vectors[first++].iov_len;
      }
      if (first == count) break;
      vectors[first].iov_base = static_cast<uint8_t*>(vectors[first].iov_base) + written;
      vectors[first].iov_len -= written;
    }
    return OkStatus();
  }

  const Descriptor descriptor_;
  const std::string path_;
};

// flock: owned by the open file, so it excludes the threads of one process as well, and the kernel
// lets go of it when the process dies.
class PosixLock final : public FileLock {
 public:
  explicit PosixLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

 private:
  const Descriptor descriptor_;
};

FileKind KindOf(const dirent& entry, const std::string& folder) {
  if (entry.d_type == DT_REG) return FileKind::kFile;
  if (entry.d_type == DT_DIR) return FileKind::kFolder;
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return FileKind::kOther;
  struct stat stat;
  const std::string path = Str(folder, "/", entry.d_name);
  return ::stat(path.c_str(), &stat) == 0 ? ToFileInfo(stat).kind : FileKind::kOther;
}

class PosixFileSystemImpl final : public FileSystem {
 public:
  // O_NONBLOCK: a FIFO that somebody put there must not hang the reader.
  Result<std::unique_ptr<File>> OpenForRead(const std::string& path) override {
    LS_ASSIGN_OR_RETURN(Descriptor descriptor, Open(path, O_RDONLY | O_NONBLOCK));
    return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(descriptor), path));
  }

  Result<std::unique_ptr<File>> CreateNew(const std::string& path) override {
    LS_ASSIGN_OR_RETURN(Descriptor descriptor, Open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND));
    return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(descriptor), path));
  }

  Result<FileInfo> Stat(const std::string& path) override {
    struct stat stat;
    if (::stat(path.c_str(), &stat) != 0) return FileError(errno, "stat", path);
    return ToFileInfo(stat);
  }

  Status Link(const std::string& from, const std::string& to) override {
    if (link(from.c_str(), to.c_str()) == 0) return OkStatus();
    // What Linux answers where there are no hard links; EACCES stands for a missing right.
    return FileError(errno == EPERM ? EOPNOTSUPP : errno, "link", to);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    return rename(from.c_str(), to.c_str()) == 0 ? OkStatus() : FileError(errno, "rename", to);
  }

  Status RemoveFile(const std::string& path) override {
    return unlink(path.c_str()) == 0 ? OkStatus() : FileError(errno, "unlink", path);
  }

  Status MakeFolder(const std::string& path) override {
    return mkdir(path.c_str(), kFolderMode) == 0 ? OkStatus() : FileError(errno, "mkdir", path);
  }

  Status SyncFolder(const std::string& path) override {
    LS_ASSIGN_OR_RETURN(Descriptor descriptor, Open(path, O_RDONLY | O_DIRECTORY));
    return Uninterrupted([&] { return fsync(descriptor.get()); }) == 0
               ? OkStatus()
               : FileError(errno, "fsync", path);
  }

  Result<std::vector<FolderEntry>> ReadFolder(const std::string& path) override {
    const auto closer = [](DIR* folder) { closedir(folder); };
    const std::unique_ptr<DIR, decltype(closer)> folder(opendir(path.c_str()), closer);
    if (folder == nullptr) return FileError(errno, "opendir", path);
    std::vector<FolderEntry> entries;
    while (true) {
      errno = 0;
      const dirent* entry = readdir(folder.get());
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") {
        entries.push_back({std::string(name), KindOf(*entry, path)});
      }
    }
    if (errno != 0) return FileError(errno, "readdir", path);
    return entries;
  }

  Result<std::unique_ptr<FileLock>> TryLock(const std::string& path) override {
    Result<Descriptor> opened = Open(path, O_RDWR | O_CREAT);
    // Another user's lock file: a lock needs no right to write, except on NFS.
    if (opened.status().code() == Code::kPermissionDenied) opened = Open(path, O_RDONLY);
    LS_ASSIGN_OR_RETURN(Descriptor descriptor, std::move(opened));
    if (Uninterrupted([&] { return flock(descriptor.get(), LOCK_EX | LOCK_NB); }) != 0) {
      return FileError(errno, "flock", path);
    }
    return std::unique_ptr<FileLock>(std::make_unique<PosixLock>(std::move(descriptor)));
  }
};

struct ErrorMeaning {
  Code code;
  Reason reason;
  std::string_view advice;
};

ErrorMeaning MeaningOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return {Code::kNotFound, Reason::kNone, ""};
    case EEXIST:
    case EISDIR:
    case ENOTEMPTY:
      return {Code::kAlreadyExists, Reason::kNone, ""};
    case ENOSPC:
    case EDQUOT:
      return {Code::kResourceExhausted, Reason::kDiskFull, "; free some space or raise the quota"};
    case EFBIG:
      return {Code::kResourceExhausted, Reason::kTooLarge, "; write smaller objects"};
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return {Code::kResourceExhausted, Reason::kNone, "; raise the limit of this process or host"};
    case EACCES:
    case EPERM:
    case EROFS:
      return {Code::kPermissionDenied, Reason::kNone, "; give this user the right to it"};
    case ENAMETOOLONG:
    case EINVAL:
    case EILSEQ:
      return {Code::kInvalidArgument, Reason::kNone, "; use another name"};
    case EXDEV:
      return {Code::kFailedPrecondition, Reason::kNone,
              "; keep the whole store on one file system"};
    case ELOOP:
      return {Code::kFailedPrecondition, Reason::kNone, "; repair the symbolic links"};
    case ENOSYS:
    case EOPNOTSUPP:
    case ENOLCK:
      return {Code::kUnimplemented, Reason::kNone,
              "; use a file system that has hard links and locks"};
    case EWOULDBLOCK:
      return {Code::kAborted, Reason::kNone, ""};
    default:
      return {Code::kUnavailable, Reason::kNone, "; look at the host's disk and its log"};
  }
}

}  // namespace

std::shared_ptr<FileSystem> PosixFileSystem() { return std::make_shared<PosixFileSystemImpl>(); }

Status FileError(int error_number, std::string_view call, std::string_view path) {
  const ErrorMeaning meaning = MeaningOf(error_number);
  return Status(
      meaning.code,
      Str(call, " of ", path, ": ", std::generic_category().message(error_number), meaning.advice),
      meaning.reason);
}

}  // namespace lakestream

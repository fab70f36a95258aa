#include "store/durable_folders.h"

#include "base/text.h"

namespace lakestream {
namespace {

constexpr size_t kKnownFoldersMax = 65536;  // some MiB; forgetting costs one sync a folder

Status FileInTheWay(const std::string& path) {
  return InvalidArgumentError(Str(path, " is a file, so nothing can be stored below it; use a key ",
                                  "that is not below another object's key"));
}

}  // namespace

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

Status DurableFolders::EnsureParent(const std::string& path) {
  return EnsureFolder(ParentOf(path));
}

Status DurableFolders::EnsureFolder(const std::string& path) {
  if (IsKnown(path)) return OkStatus();
  if (path == root_) return EnsureRoot();
  LS_RETURN_IF_ERROR(EnsureParent(path));
  LS_RETURN_IF_ERROR(MakeIfMissing(path));
  if (fsync_) LS_RETURN_IF_ERROR(files_->SyncFolder(ParentOf(path)));
  Remember(path);
  return OkStatus();
}

Status DurableFolders::EnsureRoot() {
  if (IsKnown(root_)) return OkStatus();
  LS_RETURN_IF_ERROR(MakeWithParents(root_));
  if (fsync_) LS_RETURN_IF_ERROR(SyncAbove(root_));
  Remember(root_);
  return OkStatus();
}

Status DurableFolders::MakeIfMissing(const std::string& path) {
  Result<FileInfo> info = files_->Stat(path);
  if (info.status().code() == Code::kNotFound) {
    const Status made = files_->MakeFolder(path);
    if (made.code() != Code::kAlreadyExists) return made;
    info = files_->Stat(path);
  }
  if (!info.ok()) return info.status();
  return info->kind == FileKind::kFolder ? OkStatus() : FileInTheWay(path);
}

Status DurableFolders::MakeWithParents(const std::string& path) {
  const Result<FileInfo> info = files_->Stat(path);
  if (info.ok()) return info->kind == FileKind::kFolder ? OkStatus() : FileInTheWay(path);
  if (info.status().code() != Code::kNotFound || path == "/") return info.status();
  LS_RETURN_IF_ERROR(MakeWithParents(ParentOf(path)));
  return MakeIfMissing(path);
}

// The root and what is above it may be anybody's: folders that this user can't open, or that can't
// be synced, were not made by Lakestream and count as durable.
Status DurableFolders::SyncAbove(const std::string& path) {
  for (std::string folder = path; folder != "/";) {
    folder = ParentOf(folder);
    const Status status = files_->SyncFolder(folder);
    const bool foreign =
        status.code() == Code::kPermissionDenied || status.code() == Code::kInvalidArgument;
    if (!status.ok() && !foreign) return status;
  }
  return OkStatus();
}

Status DurableFolders::SyncParent(const std::string& path) {
  if (!fsync_) return OkStatus();
  const std::string folder = ParentOf(path);
  const Status status = files_->SyncFolder(folder);
  if (status.ok() && unsynced_count_.load() == 0) return status;
  MutexLock lock(mutex_);
  if (status.ok()) {
    unsynced_.erase(folder);
  } else {
    unsynced_.insert(folder);
  }
  unsynced_count_.store(unsynced_.size());
  return status;
}

Status DurableFolders::CheckSynced(const std::string& path) {
  if (unsynced_count_.load() == 0) return OkStatus();
  {
    MutexLock lock(mutex_);
    if (!unsynced_.contains(ParentOf(path))) return OkStatus();
  }
  const Status status = SyncParent(path);
  if (status.ok()) return status;
  return UnavailableError(Str("reading ", path, " must wait: ", status.message()));
}

bool DurableFolders::IsKnown(const std::string& path) {
  MutexLock lock(mutex_);
  return known_.contains(path);
}

void DurableFolders::Remember(const std::string& path) {
  MutexLock lock(mutex_);
  if (known_.size() >= kKnownFoldersMax) known_.clear();
  known_.insert(path);
}

void DurableFolders::Forget() {
  MutexLock lock(mutex_);
  known_.clear();
}

}  // namespace lakestream

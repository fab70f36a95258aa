#include "store/local_folder.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "runtime/backoff.h"
#include "store/store_rules.h"
#include "store/temporary_name.h"

namespace lakestream {
namespace {

constexpr uint64_t kStepBytes = 16 << 20;
constexpr size_t kStepPieces = 512;
constexpr size_t kComponentBytesMax = 255;  // NAME_MAX of all file systems of Linux
constexpr int kPlaceAttempts = 5;           // only when somebody removes folders at the same time
constexpr uint64_t kLockCount = 64;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kLookMsMax = 1000;
constexpr int kLookAttempts = 5;

// FNV-1a: all processes on a root must choose the same lock file, whatever built them.
uint64_t LockNumber(std::string_view key) {
  uint64_t hash = 14695981039346656037ull;
  for (const char c : key) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  return (hash ^ (hash >> 32)) % kLockCount;
}

Status FolderInTheWay(const std::string& path) {
  return InvalidArgumentError(Str(path, " is a folder of other objects; a local store cannot hold ",
                                  "an object of that name, use another key"));
}

}  // namespace

Status Draft::Append(std::span<const ConstBytes> pieces, Runtime& runtime,
                     const Deadline& deadline) {
  std::vector<ConstBytes> step;
  uint64_t step_bytes = 0;
  const auto flush = [&]() -> Status {
    LS_RETURN_IF_ERROR(CheckDeadline(runtime, deadline, Str("write of ", path_)));
    LS_RETURN_IF_ERROR(file_->Append(step));
    step.clear();
    step_bytes = 0;
    return OkStatus();
  };
  for (ConstBytes piece : pieces) {
    while (!piece.empty()) {
      const size_t take = std::min<uint64_t>(piece.size(), kStepBytes - step_bytes);
      step.push_back(piece.first(take));
      step_bytes += take;
      piece = piece.subspan(take);
      if (step_bytes == kStepBytes || step.size() == kStepPieces) LS_RETURN_IF_ERROR(flush());
    }
  }
  return step.empty() ? OkStatus() : flush();
}

Status Draft::Remove() {
  if (files_ == nullptr) return OkStatus();
  const Status status = files_->RemoveFile(path_);
  if (!status.ok() && status.code() != Code::kNotFound) return status;
  files_.reset();
  return OkStatus();
}

std::string EtagOf(const FileInfo& info) {
  return Str(HexOf(info.inode), "-", HexOf(static_cast<uint64_t>(info.modified_ns)), "-",
             info.bytes);
}

LocalFolder::LocalFolder(std::shared_ptr<Runtime> runtime, std::shared_ptr<FileSystem> files,
                         std::string root, bool fsync)
    : runtime_(std::move(runtime)),
      files_(std::move(files)),
      root_(std::move(root)),
      temporary_folder_(Str(root_, "/", kTemporaryFolder)),
      fsync_(fsync),
      folders_(files_, root_, fsync),
      clock_(runtime_, files_, temporary_folder_) {}

Status LocalFolder::CheckHoldable(std::string_view key) {
  LS_RETURN_IF_ERROR(CheckKey(key));
  const auto refuse = [&](std::string_view why) {
    return InvalidArgumentError(
        Str("a local folder cannot hold the key '", key, "': ", why, "; use another key"));
  };
  for (std::string_view rest = key;;) {
    const size_t slash = rest.find('/');
    const std::string_view component = rest.substr(0, slash);
    if (component.empty()) return refuse("a name between two '/' is empty");
    if (component == "." || component == "..") return refuse("'.' and '..' are not names of files");
    if (component.size() > kComponentBytesMax) return refuse("a name has more than 255 bytes");
    if (component == kTemporaryFolder && rest.size() == key.size()) {
      return refuse("its first name is kept for temporary files");
    }
    if (slash == std::string_view::npos) return OkStatus();
    rest.remove_prefix(slash + 1);
  }
}

Result<FileInfo> LocalFolder::Find(const std::string& key) {
  LS_RETURN_IF_ERROR(CheckHoldable(key));
  const std::string path = PathOf(key);
  LS_RETURN_IF_ERROR(folders_.CheckSynced(path));
  const Result<FileInfo> info = files_->Stat(path);
  if (info.ok() && info->kind == FileKind::kFile) return info;
  if (info.ok() || info.status().code() == Code::kNotFound) return MissingObject(root_, key);
  return info.status();
}

Result<Draft> LocalFolder::NewDraft(uint64_t owner) {
  const std::string path = Str(temporary_folder_, "/", TemporaryName(owner, *runtime_));
  Result<std::unique_ptr<File>> file = files_->CreateNew(path);
  if (file.status().code() == Code::kNotFound) {
    LS_RETURN_IF_ERROR(MakeTemporaryFolder());
    file = files_->CreateNew(path);
  }
  if (!file.ok()) return file.status();
  return Draft(files_, path, *std::move(file));
}

// Its name need not be durable: nothing in it is needed after a power loss.
Status LocalFolder::MakeTemporaryFolder() {
  folders_.Forget();  // the first use, or somebody removed the whole root
  LS_RETURN_IF_ERROR(folders_.EnsureRoot());
  const Status made = files_->MakeFolder(temporary_folder_);
  return made.code() == Code::kAlreadyExists ? OkStatus() : made;
}

// Gives the draft its etag and makes its content durable.
Result<FileInfo> LocalFolder::Seal(Draft& draft) {
  LS_ASSIGN_OR_RETURN(const FileInfo written, draft.file().Stat());
  const int64_t modified_ms = written.modified_ns / kNsPerMs;
  const int64_t chance = static_cast<int64_t>(runtime_->Random64() % kNsPerMs);
  LS_RETURN_IF_ERROR(draft.file().SetModified(modified_ms * kNsPerMs + chance));
  if (fsync_) LS_RETURN_IF_ERROR(draft.file().Sync());
  return draft.file().Stat();  // what the file system kept of the time
}

Result<PutResult> LocalFolder::Publish(Draft draft, const std::string& key,
                                       const PutOptions& options, const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(const FileInfo sealed, Seal(draft));
  LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, Str("put of '", key, "'")));
  const std::string path = PathOf(key);
  Result<bool> stored = false;
  for (int attempt = 0; attempt < kPlaceAttempts; ++attempt) {
    const Status ready = folders_.EnsureParent(path);
    stored = ready.ok() ? Place(draft, sealed, key, options, deadline) : Result<bool>(ready);
    if (stored.status().code() != Code::kNotFound) break;
    folders_.Forget();
  }
  if (stored.status().code() == Code::kNotFound) {
    return UnavailableError(Str("put of '", key, "' into ", root_, ": somebody removes its ",
                                "folders (", stored.status().message(), "); let it be, try again"));
  }
  if (!stored.ok()) return stored.status();
  const Status durable = folders_.SyncParent(path);
  if (*stored && !durable.ok()) {
    return UnknownOutcomeError(Str(
        "put of '", key, "' is visible, but may not survive a power loss: ", durable.message()));
  }
  LS_RETURN_IF_ERROR(durable);  // "lost" must be as durable as "won"
  if (!*stored) return PutResult{.stored = false, .etag = "", .date_ms = clock_.NowMs()};
  return PutResult{
      .stored = true, .etag = EtagOf(sealed), .date_ms = sealed.modified_ns / kNsPerMs};
}

// Whether the draft got its final name. kNotFound: a folder of the name is missing.
Result<bool> LocalFolder::Place(Draft& draft, const FileInfo& sealed, const std::string& key,
                                const PutOptions& options, const Deadline& deadline) {
  return options.if_absent ? PlaceIfAbsent(draft, sealed, PathOf(key))
                           : PlaceOver(draft, sealed, key, options, deadline);
}

Result<bool> LocalFolder::PlaceIfAbsent(Draft& draft, const FileInfo& sealed,
                                        const std::string& path) {
  const Status linked = files_->Link(draft.path(), path);
  if (linked.ok()) return true;
  return Settle(draft, sealed, path, linked);
}

Result<bool> LocalFolder::PlaceOver(Draft& draft, const FileInfo& sealed, const std::string& key,
                                    const PutOptions& options, const Deadline& deadline) {
  Result<std::unique_ptr<FileLock>> lock = Lock(key, deadline);
  // Where there are no locks nobody can compare and swap, so there is nobody to keep out.
  const bool lockless = lock.status().code() == Code::kUnimplemented && options.if_match.empty();
  if (!lock.ok() && !lockless) return lock.status();
  const std::string path = PathOf(key);
  LS_ASSIGN_OR_RETURN(const bool met, IsMet(path, options));
  if (!met) return false;
  const Status renamed = files_->Rename(draft.path(), path);
  if (!renamed.ok()) return Settle(draft, sealed, path, renamed);
  draft.Release();
  return true;
}

// Finds out what a failed link or rename did (invariant 3): whether the draft is at its final name.
Result<bool> LocalFolder::Settle(Draft& draft, const FileInfo& sealed, const std::string& path,
                                 const Status& failure) {
  const bool taken = failure.code() == Code::kAlreadyExists;
  const bool missing = failure.code() == Code::kNotFound;
  if (missing && files_->Stat(draft.path()).ok()) return failure;  // a folder is, try again
  const Status removed = draft.Remove();
  const Result<FileInfo> there = files_->Stat(path);
  if (there.ok() && there->SameFile(sealed)) return true;
  const bool known = there.ok() || there.status().code() == Code::kNotFound;
  if (!known || (!removed.ok() && !taken)) {
    return UnknownOutcomeError(Str(failure.message(), "; it is not known whether it was applied"));
  }
  if (taken && there.ok() && there->kind == FileKind::kFolder) return FolderInTheWay(path);
  if (taken) return false;  // also if the winner was deleted since
  if (missing) {
    return UnavailableError(Str(draft.path(), " vanished: ", failure.message(),
                                "; nothing but Lakestream may remove files there"));
  }
  return failure;
}

// Whether if_match holds now; true without one.
Result<bool> LocalFolder::IsMet(const std::string& path, const PutOptions& options) {
  if (options.if_match.empty()) return true;
  const Result<FileInfo> there = files_->Stat(path);
  if (there.ok()) return there->kind == FileKind::kFile && EtagOf(*there) == options.if_match;
  if (there.status().code() == Code::kNotFound) return false;
  return there.status();
}

Result<std::optional<PutResult>> LocalFolder::RefuseEarly(const std::string& key,
                                                          const PutOptions& options) {
  std::optional<PutResult> refusal;
  if (!options.if_absent && options.if_match.empty()) return refusal;
  const std::string path = PathOf(key);
  const Result<FileInfo> there = files_->Stat(path);
  if (!there.ok() && there.status().code() != Code::kNotFound) return there.status();
  if (there.ok() && there->kind == FileKind::kFolder) return FolderInTheWay(path);
  const bool met =
      options.if_absent ? !there.ok() : there.ok() && EtagOf(*there) == options.if_match;
  if (met) return refusal;
  if (there.ok()) LS_RETURN_IF_ERROR(folders_.SyncParent(path));
  refusal = PutResult{.stored = false, .etag = "", .date_ms = clock_.NowMs()};
  return refusal;
}

// Polls, so that a stopped process that holds the lock cannot outlast the caller's deadline.
Result<std::unique_ptr<FileLock>> LocalFolder::Lock(std::string_view key,
                                                    const Deadline& deadline) {
  const std::string path = Str(temporary_folder_, "/lock-", HexOf(LockNumber(key)).substr(14));
  Backoff backoff(std::chrono::microseconds(200), std::chrono::milliseconds(10));
  while (true) {
    Result<std::unique_ptr<FileLock>> lock = files_->TryLock(path);
    const Code code = lock.status().code();
    if (code == Code::kNotFound) {
      LS_RETURN_IF_ERROR(MakeTemporaryFolder());
    } else if (code != Code::kAborted) {
      return lock;
    }
    LS_RETURN_IF_ERROR(SleepFor(*runtime_, backoff.NextDelay(*runtime_), deadline)
                           .WithContext(Str("waiting for the lock ", path)));
  }
}

// Locks are taken once for all the keys that share one.
Status LocalFolder::Remove(std::span<const std::string> keys, const Deadline& deadline) {
  for (const std::string& key : keys) LS_RETURN_IF_ERROR(CheckHoldable(key));
  std::map<uint64_t, std::vector<std::string_view>> by_lock;
  for (const std::string& key : keys) {
    LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, Str("delete of '", key, "'")));
    const Result<FileInfo> there = files_->Stat(PathOf(key));
    if (there.status().code() == Code::kNotFound) continue;
    LS_RETURN_IF_ERROR(there.status());
    if (there->kind == FileKind::kFile) by_lock[LockNumber(key)].push_back(key);
  }
  std::map<std::string, std::string> changed;  // a path in each folder
  for (const auto& [number, locked] : by_lock) {
    const Result<std::unique_ptr<FileLock>> lock = Lock(locked.front(), deadline);
    if (!lock.ok() && lock.status().code() != Code::kUnimplemented) return lock.status();
    for (const std::string_view key : locked) {
      const std::string path = PathOf(key);
      const Status removed = files_->RemoveFile(path);
      if (!removed.ok() && removed.code() != Code::kNotFound) return removed;
      changed.emplace(ParentOf(path), path);
    }
  }
  for (const auto& [folder, path] : changed) LS_RETURN_IF_ERROR(folders_.SyncParent(path));
  return OkStatus();
}

Result<uint64_t> LocalFolder::AbortStale(int64_t begun_before_ms, bool dry_run,
                                         const Deadline& deadline) {
  struct Unfinished {
    int64_t begun_ms = INT64_MAX;
    std::vector<std::string> paths;
  };
  const Result<std::vector<FolderEntry>> entries = files_->ReadFolder(temporary_folder_);
  if (entries.status().code() == Code::kNotFound) return uint64_t{0};
  LS_RETURN_IF_ERROR(entries.status());
  std::map<std::string_view, Unfinished> by_owner;
  for (const FolderEntry& entry : *entries) {
    if (!IsTemporaryName(entry.name)) continue;
    LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, "looking at temporary files"));
    std::string path = Str(temporary_folder_, "/", entry.name);
    const Result<FileInfo> info = files_->Stat(path);
    if (info.status().code() == Code::kNotFound) continue;
    LS_RETURN_IF_ERROR(info.status());
    Unfinished& unfinished = by_owner[OwnerIn(entry.name)];
    unfinished.begun_ms = std::min(unfinished.begun_ms, info->modified_ns / kNsPerMs);
    unfinished.paths.push_back(std::move(path));
  }
  uint64_t count = 0;
  for (const auto& [owner, unfinished] : by_owner) {
    if (unfinished.begun_ms >= begun_before_ms) continue;
    ++count;
    for (size_t i = 0; i < unfinished.paths.size() && !dry_run; ++i) {
      LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, "removing temporary files"));
      const Status removed = files_->RemoveFile(unfinished.paths[i]);
      if (!removed.ok() && removed.code() != Code::kNotFound) return removed;
    }
  }
  return count;
}

Result<int64_t> LocalFolder::DateOf(const std::function<Status()>& look) {
  for (int attempt = 0; attempt < kLookAttempts; ++attempt) {
    const int64_t before_ms = clock_.NowMs();
    LS_RETURN_IF_ERROR(look());
    if (before_ms == 0) {
      // The objects may be a copy, made without the folder of temporary files.
      if (attempt == 0 && files_->MakeFolder(temporary_folder_).ok()) continue;
      return before_ms;
    }
    const int64_t after_ms = clock_.NowMs();
    if (after_ms == 0) return after_ms;
    if (after_ms - before_ms <= kLookMsMax) return before_ms;
    // This process was stopped meanwhile: nobody knows on which side of the look.
  }
  return UnavailableError(Str("reading ", root_, ": each try took over ", kLookMsMax,
                              " ms; this host or its file system is overloaded"));
}

}  // namespace lakestream

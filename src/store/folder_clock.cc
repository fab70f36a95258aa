#include "store/folder_clock.h"

#include "store/temporary_name.h"

namespace lakestream {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kRecentNs = 1'000'000'000;

}  // namespace

int64_t FolderClock::NowMs() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::shared_ptr<File> file = OwnFile();
    if (file == nullptr) return 0;
    const int64_t at_ns = runtime_->Now().time_since_epoch().count();
    const Status touched = file->Touch();
    const Result<FileInfo> info = touched.ok() ? file->Stat() : Result<FileInfo>(touched);
    if (info.ok()) {
      const int64_t now_ms = info->modified_ns / kNsPerMs;
      read_ms_ = now_ms;
      read_at_ns_ = at_ns;  // after it: a time must not pass for newer than it is
      return now_ms;
    }
    Drop(file);  // for example a server that forgot it
  }
  return 0;
}

int64_t FolderClock::RecentMs() {
  const int64_t read_at_ns = read_at_ns_;
  const int64_t read_ms = read_ms_;
  const int64_t age_ns = runtime_->Now().time_since_epoch().count() - read_at_ns;
  return read_ms > 0 && age_ns < kRecentNs ? read_ms : NowMs();
}

std::shared_ptr<File> FolderClock::OwnFile() {
  {
    MutexLock lock(mutex_);
    if (file_ != nullptr) return file_;
  }
  const std::string path = folder_ + "/" + TemporaryName(runtime_->Random64(), *runtime_);
  Result<std::unique_ptr<File>> made = files_->CreateNew(path);
  if (!made.ok()) return nullptr;
  (void)files_->RemoveFile(path);  // what stays is removed as any left-over
  MutexLock lock(mutex_);
  if (file_ == nullptr) file_ = *std::move(made);
  return file_;
}

void FolderClock::Drop(const std::shared_ptr<File>& broken) {
  MutexLock lock(mutex_);
  if (file_ == broken) file_ = nullptr;
}

}  // namespace lakestream

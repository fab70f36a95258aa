#include "store/local_upload.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "store/store_rules.h"

namespace lakestream {
namespace {

constexpr size_t kCopyBytes = 1 << 20;

struct Part {
  Draft draft;
  uint64_t bytes;
};

class LocalUpload final : public Upload {
 public:
  LocalUpload(std::shared_ptr<LocalFolder> folder, std::string key, uint64_t parts_max)
      : folder_(std::move(folder)),
        key_(std::move(key)),
        parts_max_(parts_max),
        id_(folder_->runtime().Random64()) {}

  Status PutPart(uint32_t number, std::span<const ConstBytes> pieces,
                 const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(CheckDeadline(folder_->runtime(), deadline, What()));
    LS_RETURN_IF_ERROR(CheckPartNumber(key_, number, parts_max_));
    LS_ASSIGN_OR_RETURN(Draft draft, folder_->NewDraft(id_));
    LS_RETURN_IF_ERROR(draft.Append(pieces, folder_->runtime(), deadline));
    draft.Close();  // thousands of parts must not hold as many descriptors
    MutexLock lock(mutex_);
    if (over_) return Over();
    if (!parts_.try_emplace(number, Part{std::move(draft), TotalBytes(pieces)}).second) {
      return InvalidArgumentError(Str(What(), ": part ", number, " was sent before"));
    }
    return OkStatus();
  }

  // After a failure that surely applied nothing the parts are still there: it may be called again.
  Result<PutResult> Complete(const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(CheckDeadline(folder_->runtime(), deadline, What()));
    std::map<uint32_t, Part> parts;
    {
      MutexLock lock(mutex_);
      if (over_) return Over();
      if (parts_.empty() || parts_.rbegin()->first != parts_.size()) {
        return InvalidArgumentError(What() + ": not all parts 1, 2, ... were sent");
      }
      parts.swap(parts_);
      over_ = true;
    }
    Result<PutResult> result = Assemble(parts, deadline);
    if (!result.ok() && result.status().code() != Code::kUnknownOutcome) {
      MutexLock lock(mutex_);
      parts.swap(parts_);
      over_ = false;
    }
    return result;
  }

  Status Abort(const Deadline&) override {
    std::map<uint32_t, Part> parts;
    {
      MutexLock lock(mutex_);
      over_ = true;
      parts.swap(parts_);
    }
    Status first;
    for (auto& [number, part] : parts) {
      const Status removed = part.draft.Remove();
      if (first.ok()) first = removed;
    }
    return first;
  }

 private:
  std::string What() const { return Str("upload of '", key_, "'"); }
  Status Over() const { return FailedPreconditionError(What() + " is over; start a new one"); }

  Result<PutResult> Assemble(const std::map<uint32_t, Part>& parts, const Deadline& deadline) {
    LS_ASSIGN_OR_RETURN(Draft whole, folder_->NewDraft(id_));
    for (const auto& [number, part] : parts) LS_RETURN_IF_ERROR(Copy(part, whole, deadline));
    return folder_->Publish(std::move(whole), key_, {}, deadline);
  }

  Status Copy(const Part& part, Draft& whole, const Deadline& deadline) {
    Result<std::unique_ptr<File>> opened = folder_->files().OpenForRead(part.draft.path());
    if (opened.status().code() == Code::kNotFound) return StaleUploadEnded(key_);
    LS_ASSIGN_OR_RETURN(const auto file, std::move(opened));
    std::vector<uint8_t> bytes(std::min<uint64_t>(kCopyBytes, part.bytes));
    for (uint64_t done = 0; done < part.bytes;) {
      const size_t step = std::min<uint64_t>(bytes.size(), part.bytes - done);
      LS_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(done, MutableBytes(bytes).first(step)));
      if (got < step) return DataLossError(part.draft.path() + " was cut by something else");
      const ConstBytes piece = ConstBytes(bytes).first(step);
      LS_RETURN_IF_ERROR(whole.Append({&piece, 1}, folder_->runtime(), deadline));
      done += step;
    }
    return OkStatus();
  }

  const std::shared_ptr<LocalFolder> folder_;
  const std::string key_;
  const uint64_t parts_max_;
  const uint64_t id_;  // in the names of its temporary files
  Mutex mutex_;
  std::map<uint32_t, Part> parts_ LS_GUARDED_BY(mutex_);
  bool over_ LS_GUARDED_BY(mutex_) = false;  // completed, aborted, or Complete is at work
};

}  // namespace

std::unique_ptr<Upload> NewLocalUpload(std::shared_ptr<LocalFolder> folder, std::string key,
                                       uint64_t parts_max) {
  return std::make_unique<LocalUpload>(std::move(folder), std::move(key), parts_max);
}

}  // namespace lakestream

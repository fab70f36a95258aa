#include "store/local_store.h"

#include <algorithm>

#include "base/text.h"
#include "store/local_folder.h"
#include "store/local_listing.h"
#include "store/local_upload.h"
#include "store/store_rules.h"

namespace lakestream {
namespace {

constexpr uint64_t kReadStepBytes = 32 << 20;

// modified_ms may be a tick of the clock ahead of a time that was read before; never show that.
ObjectInfo ToObjectInfo(const std::string& key, const FileInfo& file, int64_t date_ms) {
  const int64_t modified_ms = file.modified_ns / 1'000'000;
  if (date_ms > 0) date_ms = std::max(date_ms, modified_ms);
  return {key, file.bytes, EtagOf(file), modified_ms, date_ms};
}

Status ReadAll(File& file, uint64_t offset, MutableBytes into, const std::string& path,
               Runtime& runtime, const Deadline& deadline) {
  while (!into.empty()) {
    const MutableBytes step = into.first(std::min<uint64_t>(into.size(), kReadStepBytes));
    LS_ASSIGN_OR_RETURN(const size_t got, file.ReadAt(offset, step));
    if (got < step.size()) {
      return DataLossError(Str(path, " ended at byte ", offset + got, " while it was read: it was ",
                               "changed by something else than Lakestream; restore it"));
    }
    offset += got;
    into = into.subspan(got);
    if (!into.empty()) LS_RETURN_IF_ERROR(CheckDeadline(runtime, deadline, "read of " + path));
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<LocalStore>> LocalStore::Open(std::string root, LocalStoreOptions options,
                                                     std::shared_ptr<Runtime> runtime) {
  if (root.empty() || root[0] != '/') {
    return InvalidArgumentError(Str("root '", root, "' of a local store is not an absolute path"));
  }
  if (options.files == nullptr) options.files = PosixFileSystem();
  const Result<FileInfo> info = options.files->Stat(root);
  if (info.ok() && info->kind != FileKind::kFolder) {
    return InvalidArgumentError(
        Str(root, " is not a folder; name a folder or a path that is free"));
  }
  if (!info.ok() && info.status().code() != Code::kNotFound) {
    return info.status().WithContext("local store");
  }
  auto folder = std::make_shared<LocalFolder>(std::move(runtime), std::move(options.files),
                                              std::move(root), options.fsync);
  return std::unique_ptr<LocalStore>(new LocalStore(std::move(folder), options.fsync));
}

LocalStore::LocalStore(std::shared_ptr<LocalFolder> folder, bool fsync)
    : folder_(std::move(folder)), fsync_(fsync) {}

LocalStore::~LocalStore() = default;

// One descriptor serves the whole read: objects are replaced, never changed, so what it shows stays
// one version of the object.
Result<GetResult> LocalStore::Get(const std::string& key, const GetOptions& options,
                                  const Deadline& deadline) {
  Runtime& runtime = folder_->runtime();
  LS_RETURN_IF_ERROR(CheckDeadline(runtime, deadline, "get of " + key));
  LS_RETURN_IF_ERROR(LocalFolder::CheckHoldable(key));
  const std::string path = folder_->PathOf(key);
  LS_RETURN_IF_ERROR(folder_->folders().CheckSynced(path));
  std::unique_ptr<File> file;
  FileInfo info;
  const auto open = [&]() -> Status {
    Result<std::unique_ptr<File>> opened = folder_->files().OpenForRead(path);
    if (opened.status().code() == Code::kNotFound) return MissingObject(folder_->root(), key);
    LS_ASSIGN_OR_RETURN(file, std::move(opened));
    LS_ASSIGN_OR_RETURN(info, file->Stat());
    return info.kind == FileKind::kFile ? OkStatus() : MissingObject(folder_->root(), key);
  };
  // Only what is small and read as a whole has a time that matters: records, boundaries.
  int64_t date_ms = 0;
  if (options.range) {
    LS_RETURN_IF_ERROR(open());
    date_ms = folder_->clock().RecentMs();
  } else {
    LS_ASSIGN_OR_RETURN(date_ms, folder_->DateOf(open));
  }
  GetResult result;
  result.info = ToObjectInfo(key, info, date_ms);
  if (!options.if_match.empty() && options.if_match != result.info.etag) {
    return ObjectChanged(folder_->root(), key);
  }
  LS_ASSIGN_OR_RETURN(const ByteRange range, CutRange(options.range, info.bytes, key));
  LS_ASSIGN_OR_RETURN(auto block, AllocateFor(options.allocator, range.size, key));
  LS_RETURN_IF_ERROR(
      ReadAll(*file, range.offset, {block.data, range.size}, path, runtime, deadline));
  result.data = ToBuffer(std::move(block), range.size);
  return result;
}

Result<PutResult> LocalStore::Put(const std::string& key, std::span<const ConstBytes> pieces,
                                  const PutOptions& options, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(folder_->runtime(), deadline, "put of " + key));
  LS_RETURN_IF_ERROR(CheckPut(key, options));
  LS_RETURN_IF_ERROR(LocalFolder::CheckHoldable(key));
  LS_ASSIGN_OR_RETURN(const auto refusal, folder_->RefuseEarly(key, options));
  if (refusal) return *refusal;
  LS_ASSIGN_OR_RETURN(Draft draft, folder_->NewDraft(folder_->runtime().Random64()));
  LS_RETURN_IF_ERROR(draft.Append(pieces, folder_->runtime(), deadline));
  return folder_->Publish(std::move(draft), key, options, deadline);
}

Result<std::unique_ptr<Upload>> LocalStore::StartUpload(const std::string& key,
                                                        const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(folder_->runtime(), deadline, "upload of " + key));
  LS_RETURN_IF_ERROR(LocalFolder::CheckHoldable(key));
  return NewLocalUpload(folder_, key, capabilities().upload_parts_max);
}

Result<ListPage> LocalStore::List(const ListOptions& options, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckList(options));
  ListPage page;
  // Before the listing: what is listed late must not look older than it is.
  page.date_ms = folder_->clock().NowMs();
  LS_ASSIGN_OR_RETURN(const std::vector<ListedFile> files, ListFiles(*folder_, options, deadline));
  page.more = files.size() > options.limit;
  for (const ListedFile& file : files) {
    if (page.objects.size() == options.limit) break;
    page.objects.push_back(ToObjectInfo(file.key, file.info, page.date_ms));
  }
  return page;
}

Result<ObjectInfo> LocalStore::Head(const std::string& key, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(folder_->runtime(), deadline, "head of " + key));
  FileInfo info;
  LS_ASSIGN_OR_RETURN(const int64_t date_ms, folder_->DateOf([&]() -> Status {
    LS_ASSIGN_OR_RETURN(info, folder_->Find(key));
    return OkStatus();
  }));
  return ToObjectInfo(key, info, date_ms);
}

Status LocalStore::Delete(std::span<const std::string> keys, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(folder_->runtime(), deadline, "delete"));
  return folder_->Remove(keys, deadline);
}

Result<uint64_t> LocalStore::AbortStaleUploads(const StaleUploadOptions& options,
                                               const Deadline& deadline) {
  return folder_->AbortStale(options.begun_before_ms, options.dry_run, deadline);
}

StoreCapabilities LocalStore::capabilities() const {
  StoreCapabilities capabilities;
  capabilities.put_if_match = true;
  capabilities.durable = fsync_;
  capabilities.shared = true;
  return capabilities;
}

std::string LocalStore::Describe() const { return folder_->root(); }

}  // namespace lakestream

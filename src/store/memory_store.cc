#include "store/memory_store.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/text.h"
#include "store/store_rules.h"

namespace lakestream {
namespace {

Buffer Gather(std::span<const ConstBytes> pieces) {
  std::vector<uint8_t> bytes;
  bytes.reserve(TotalBytes(pieces));
  for (ConstBytes piece : pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return Buffer::FromVector(std::move(bytes));
}

}  // namespace

MemoryStore::MemoryStore(std::shared_ptr<Runtime> runtime, std::string name)
    : runtime_(std::move(runtime)), name_(std::move(name)), shelf_(std::make_shared<Shelf>()) {}

Result<MemoryStore::Object> MemoryStore::Find(const std::string& key) {
  LS_RETURN_IF_ERROR(CheckKey(key));
  MutexLock lock(shelf_->mutex);
  const auto found = shelf_->objects.find(key);
  if (found == shelf_->objects.end()) return MissingObject(Describe(), key);
  return found->second;
}

Result<GetResult> MemoryStore::Get(const std::string& key, const GetOptions& options,
                                   const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, Str("get of '", key, "'")));
  LS_ASSIGN_OR_RETURN(Object object, Find(key));
  if (!options.if_match.empty() && options.if_match != object.etag) {
    return ObjectChanged(Describe(), key);
  }
  LS_ASSIGN_OR_RETURN(ByteRange range, CutRange(options.range, object.data.size(), key));
  GetResult result;
  result.info = {key, object.data.size(), object.etag, object.modified_ms, runtime_->WallTimeMs()};
  result.data = object.data.Slice(range.offset, range.size);
  if (options.allocator != nullptr) {
    LS_ASSIGN_OR_RETURN(auto block, AllocateFor(options.allocator, range.size, key));
    if (range.size > 0) std::memcpy(block.data, result.data.data(), range.size);
    result.data = ToBuffer(std::move(block), range.size);
  }
  return result;
}

Result<ObjectInfo> MemoryStore::Head(const std::string& key, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, Str("head of '", key, "'")));
  LS_ASSIGN_OR_RETURN(Object object, Find(key));
  return ObjectInfo{key, object.data.size(), object.etag, object.modified_ms,
                    runtime_->WallTimeMs()};
}

Result<PutResult> MemoryStore::Put(const std::string& key, std::span<const ConstBytes> pieces,
                                   const PutOptions& options, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, Str("put of '", key, "'")));
  LS_RETURN_IF_ERROR(CheckPut(key, options));
  return Store(*shelf_, key, Gather(pieces), options, runtime_->WallTimeMs());
}

// Condition and write under one lock: this is all that atomicity takes here.
PutResult MemoryStore::Store(Shelf& shelf, const std::string& key, Buffer data,
                             const PutOptions& options, int64_t now_ms) {
  MutexLock lock(shelf.mutex);
  const auto found = shelf.objects.find(key);
  const bool exists = found != shelf.objects.end();
  const bool refused =
      (options.if_absent && exists) ||
      (!options.if_match.empty() && (!exists || found->second.etag != options.if_match));
  if (refused) return PutResult{.stored = false, .etag = "", .date_ms = now_ms};
  Object object{std::move(data), Str("m", ++shelf.writes), now_ms};
  PutResult result{.stored = true, .etag = object.etag, .date_ms = now_ms};
  shelf.objects.insert_or_assign(key, std::move(object));
  return result;
}

Result<ListPage> MemoryStore::List(const ListOptions& options, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, Str("listing of '", options.prefix, "'")));
  LS_RETURN_IF_ERROR(CheckList(options));
  ListPage page;
  page.date_ms = runtime_->WallTimeMs();
  MutexLock lock(shelf_->mutex);
  // std::string compares as unsigned bytes, which is the order that the contract asks for.
  auto next = options.start_after < options.prefix
                  ? shelf_->objects.lower_bound(options.prefix)
                  : shelf_->objects.upper_bound(options.start_after);
  for (; next != shelf_->objects.end() && next->first.starts_with(options.prefix); ++next) {
    if (page.objects.size() == options.limit) {
      page.more = true;
      break;
    }
    const auto& [key, object] = *next;
    page.objects.push_back(
        {key, object.data.size(), object.etag, object.modified_ms, page.date_ms});
  }
  return page;
}

Status MemoryStore::Delete(std::span<const std::string> keys, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, "delete"));
  for (const std::string& key : keys) LS_RETURN_IF_ERROR(CheckKey(key));
  MutexLock lock(shelf_->mutex);
  for (const std::string& key : keys) shelf_->objects.erase(key);
  return OkStatus();
}

// What it holds lies in the shelf, where reclamation finds it when its writer is gone.
class MemoryStore::MemoryUpload final : public Upload {
 public:
  MemoryUpload(std::shared_ptr<Runtime> runtime, std::shared_ptr<Shelf> shelf, uint64_t id,
               std::string key)
      : runtime_(std::move(runtime)), shelf_(std::move(shelf)), id_(id), key_(std::move(key)) {}
  ~MemoryUpload() override { (void)Abort(Deadline::Never()); }

  Status PutPart(uint32_t number, std::span<const ConstBytes> pieces,
                 const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, What()));
    LS_RETURN_IF_ERROR(CheckPartNumber(key_, number, StoreCapabilities().upload_parts_max));
    Buffer data = Gather(pieces);
    MutexLock lock(shelf_->mutex);
    const auto pending = shelf_->uploads.find(id_);
    if (pending == shelf_->uploads.end()) return Gone();
    if (!pending->second.parts.emplace(number, std::move(data)).second) {
      return InvalidArgumentError(Str(What(), ": part ", number, " was sent before"));
    }
    return OkStatus();
  }

  Result<PutResult> Complete(const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, What()));
    const int64_t now_ms = runtime_->WallTimeMs();
    std::map<uint32_t, Buffer> parts;
    {
      MutexLock lock(shelf_->mutex);
      const auto pending = shelf_->uploads.find(id_);
      if (pending == shelf_->uploads.end()) return Gone();
      parts = pending->second.parts;
      if (parts.empty() || parts.rbegin()->first != parts.size()) {
        return InvalidArgumentError(What() + ": not all parts 1, 2, ... were sent");
      }
      shelf_->uploads.erase(pending);
      over_ = true;
    }
    std::vector<ConstBytes> pieces;
    for (const auto& [number, data] : parts) pieces.push_back(data.bytes());
    return Store(*shelf_, key_, Gather(pieces), {}, now_ms);
  }

  Status Abort(const Deadline&) override {
    MutexLock lock(shelf_->mutex);
    shelf_->uploads.erase(id_);
    over_ = true;
    return OkStatus();
  }

 private:
  std::string What() const { return Str("upload of '", key_, "'"); }
  Status Gone() const LS_REQUIRES(shelf_->mutex) {
    return over_ ? FailedPreconditionError(What() + " is over; start a new one")
                 : StaleUploadEnded(key_);
  }

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Shelf> shelf_;
  const uint64_t id_;
  const std::string key_;
  bool over_ LS_GUARDED_BY(shelf_->mutex) = false;  // completed or aborted by its own writer
};

Result<std::unique_ptr<Upload>> MemoryStore::StartUpload(const std::string& key,
                                                         const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, Str("upload of '", key, "'")));
  LS_RETURN_IF_ERROR(CheckKey(key));
  uint64_t id = 0;
  {
    MutexLock lock(shelf_->mutex);
    id = ++shelf_->uploads_begun;
    shelf_->uploads.emplace(id, Pending{key, runtime_->WallTimeMs(), {}});
  }
  return std::unique_ptr<Upload>(std::make_unique<MemoryUpload>(runtime_, shelf_, id, key));
}

Result<uint64_t> MemoryStore::AbortStaleUploads(const StaleUploadOptions& options,
                                                const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, "end of stale uploads"));
  MutexLock lock(shelf_->mutex);
  const auto is_stale = [&](const auto& upload) {
    const Pending& pending = upload.second;
    return pending.key.starts_with(options.prefix) && !pending.parts.empty() &&
           pending.begun_ms < options.begun_before_ms;
  };
  if (!options.dry_run) return std::erase_if(shelf_->uploads, is_stale);
  return static_cast<uint64_t>(
      std::count_if(shelf_->uploads.begin(), shelf_->uploads.end(), is_stale));
}

StoreCapabilities MemoryStore::capabilities() const {
  StoreCapabilities capabilities;
  capabilities.put_if_match = true;
  return capabilities;
}

std::string MemoryStore::Describe() const { return "memory://" + name_; }

}  // namespace lakestream

#include "store/memory_store.h"

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

// Parts wait here, outside of the shelf, so that nobody can see them before Complete.
class MemoryStore::MemoryUpload final : public Upload {
 public:
  MemoryUpload(std::shared_ptr<Runtime> runtime, std::shared_ptr<Shelf> shelf, std::string key,
               uint64_t parts_max)
      : runtime_(std::move(runtime)),
        shelf_(std::move(shelf)),
        key_(std::move(key)),
        parts_max_(parts_max) {}

  Status PutPart(uint32_t number, std::span<const ConstBytes> pieces,
                 const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, What()));
    LS_RETURN_IF_ERROR(CheckPartNumber(key_, number, parts_max_));
    Buffer data = Gather(pieces);
    MutexLock lock(mutex_);
    if (over_) return FailedPreconditionError(What() + " is over; start a new one");
    if (!parts_.emplace(number, std::move(data)).second) {
      return InvalidArgumentError(Str(What(), ": part ", number, " was sent before"));
    }
    return OkStatus();
  }

  Result<PutResult> Complete(const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, What()));
    std::vector<ConstBytes> pieces;
    const int64_t now_ms = runtime_->WallTimeMs();
    MutexLock lock(mutex_);
    if (over_) return FailedPreconditionError(What() + " is over; start a new one");
    for (const auto& [number, data] : parts_) pieces.push_back(data.bytes());
    if (parts_.empty() || parts_.rbegin()->first != parts_.size()) {
      return InvalidArgumentError(What() + ": not all parts 1, 2, ... were sent");
    }
    over_ = true;
    return Store(*shelf_, key_, Gather(pieces), {}, now_ms);
  }

  Status Abort(const Deadline&) override {
    MutexLock lock(mutex_);
    over_ = true;
    parts_.clear();
    return OkStatus();
  }

 private:
  std::string What() const { return Str("upload of '", key_, "'"); }

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Shelf> shelf_;
  const std::string key_;
  const uint64_t parts_max_;
  Mutex mutex_;
  std::map<uint32_t, Buffer> parts_ LS_GUARDED_BY(mutex_);
  bool over_ LS_GUARDED_BY(mutex_) = false;
};

Result<std::unique_ptr<Upload>> MemoryStore::StartUpload(const std::string& key,
                                                         const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, Str("upload of '", key, "'")));
  LS_RETURN_IF_ERROR(CheckKey(key));
  return std::unique_ptr<Upload>(
      std::make_unique<MemoryUpload>(runtime_, shelf_, key, capabilities().upload_parts_max));
}

StoreCapabilities MemoryStore::capabilities() const {
  StoreCapabilities capabilities;
  capabilities.put_if_match = true;
  return capabilities;
}

std::string MemoryStore::Describe() const { return "memory://" + name_; }

}  // namespace lakestream

// MemoryStore: objects in the memory of this process.
//
// The simplest backend, and the one to read before writing another: a sorted map under one lock,
// with each operation as short as its contract in object_store.h allows.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "lakestream/object_store.h"

namespace lakestream {

// Thread-safe. Nothing survives the process. Conditional writes of both kinds are supported; the
// store's clock is the runtime's wall clock. Etags count writes, so they never repeat. Get without
// an allocator shares the stored bytes instead of copying them.
class MemoryStore final : public ObjectStore {
 public:
  // `name` is for messages only.
  MemoryStore(std::shared_ptr<Runtime> runtime, std::string name);

  Result<GetResult> Get(const std::string& key, const GetOptions& options,
                        const Deadline& deadline) override;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override;
  // The upload may outlive the store.
  Result<std::unique_ptr<Upload>> StartUpload(const std::string& key,
                                              const Deadline& deadline) override;
  Result<ListPage> List(const ListOptions& options, const Deadline& deadline) override;
  Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) override;
  Status Delete(std::span<const std::string> keys, const Deadline& deadline) override;
  Result<uint64_t> AbortStaleUploads(const StaleUploadOptions& options,
                                     const Deadline& deadline) override;
  StoreCapabilities capabilities() const override;
  std::string Describe() const override;

 private:
  struct Object {
    Buffer data;
    std::string etag;
    int64_t modified_ms = 0;
  };
  struct Pending {  // an upload, invisible until it is complete
    std::string key;
    int64_t begun_ms = 0;
    std::map<uint32_t, Buffer> parts;
  };
  // Shared with the uploads in progress.
  struct Shelf {
    Mutex mutex;
    std::map<std::string, Object> objects LS_GUARDED_BY(mutex);
    uint64_t writes LS_GUARDED_BY(mutex) = 0;
    std::map<uint64_t, Pending> uploads LS_GUARDED_BY(mutex);
    uint64_t uploads_begun LS_GUARDED_BY(mutex) = 0;
  };
  class MemoryUpload;

  Result<Object> Find(const std::string& key);
  static PutResult Store(Shelf& shelf, const std::string& key, Buffer data,
                         const PutOptions& options, int64_t now_ms);

  const std::shared_ptr<Runtime> runtime_;
  const std::string name_;
  const std::shared_ptr<Shelf> shelf_;
};

}  // namespace lakestream

// MeteredStore: counts what passes through to another store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "lakestream/object_store.h"

namespace lakestream {

// Calls by operation (one call may be several requests: a large Delete, a retried Get), and bytes
// of objects' content.
struct StoreCounts {
  uint64_t gets = 0;
  uint64_t puts = 0;
  uint64_t upload_calls = 0;  // start, part, complete, abort, abort of stale ones
  uint64_t lists = 0;
  uint64_t heads = 0;
  uint64_t deletes = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;

  uint64_t requests() const { return gets + puts + upload_calls + lists + heads + deletes; }
};

// Thread-safe if the store below is. Failed calls count too.
class MeteredStore final : public ObjectStore {
 public:
  explicit MeteredStore(std::shared_ptr<ObjectStore> below)
      : below_(std::move(below)), counters_(std::make_shared<Counters>()) {}

  StoreCounts counts() const;

  Result<GetResult> Get(const std::string& key, const GetOptions& options,
                        const Deadline& deadline) override;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override;
  // The upload may outlive this store.
  Result<std::unique_ptr<Upload>> StartUpload(const std::string& key,
                                              const Deadline& deadline) override;
  Result<ListPage> List(const ListOptions& options, const Deadline& deadline) override;
  Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) override;
  Status Delete(std::span<const std::string> keys, const Deadline& deadline) override;
  Result<uint64_t> AbortStaleUploads(const StaleUploadOptions& options,
                                     const Deadline& deadline) override;
  StoreCapabilities capabilities() const override { return below_->capabilities(); }
  std::string Describe() const override { return below_->Describe(); }

 private:
  struct Counters {
    std::atomic<uint64_t> gets{0}, puts{0}, upload_calls{0}, lists{0}, heads{0}, deletes{0};
    std::atomic<uint64_t> bytes_read{0}, bytes_written{0};
  };
  class MeteredUpload;

  const std::shared_ptr<ObjectStore> below_;
  const std::shared_ptr<Counters> counters_;
};

}  // namespace lakestream

// ForwardingStore: passes every call on. A test overrides the operations that it wants to spoil.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "lakestream/object_store.h"

namespace lakestream {

class ForwardingStore : public ObjectStore {
 public:
  explicit ForwardingStore(std::shared_ptr<ObjectStore> below) : below_(std::move(below)) {}

  Result<GetResult> Get(const std::string& key, const GetOptions& options,
                        const Deadline& deadline) override {
    return below_->Get(key, options, deadline);
  }
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override {
    return below_->Put(key, pieces, options, deadline);
  }
  Result<std::unique_ptr<Upload>> StartUpload(const std::string& key,
                                              const Deadline& deadline) override {
    return below_->StartUpload(key, deadline);
  }
  Result<ListPage> List(const ListOptions& options, const Deadline& deadline) override {
    return below_->List(options, deadline);
  }
  Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) override {
    return below_->Head(key, deadline);
  }
  Status Delete(std::span<const std::string> keys, const Deadline& deadline) override {
    return below_->Delete(keys, deadline);
  }
  Result<uint64_t> AbortStaleUploads(const StaleUploadOptions& options,
                                     const Deadline& deadline) override {
    return below_->AbortStaleUploads(options, deadline);
  }
  StoreCapabilities capabilities() const override { return below_->capabilities(); }
  std::string Describe() const override { return below_->Describe(); }

 protected:
  ObjectStore& below() { return *below_; }

 private:
  const std::shared_ptr<ObjectStore> below_;
};

}  // namespace lakestream

// DyingStore: the store of a process that dies after so many requests: from then on none gets
// through.
#pragma once

#include <atomic>
#include <utility>

#include "tests/support/forwarding_store.h"

namespace lakestream::testing_support {

// Thread-safe.
class DyingStore final : public ForwardingStore {
 public:
  DyingStore(std::shared_ptr<ObjectStore> below, int requests)
      : ForwardingStore(std::move(below)), left_(requests) {}

  bool died() const { return left_ < 0; }

  Result<GetResult> Get(const std::string& key, const GetOptions& options,
                        const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(Live());
    return ForwardingStore::Get(key, options, deadline);
  }
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(Live());
    return ForwardingStore::Put(key, pieces, options, deadline);
  }
  Result<ListPage> List(const ListOptions& options, const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(Live());
    return ForwardingStore::List(options, deadline);
  }
  Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(Live());
    return ForwardingStore::Head(key, deadline);
  }
  Status Delete(std::span<const std::string> keys, const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(Live());
    return ForwardingStore::Delete(keys, deadline);
  }
  Result<uint64_t> AbortStaleUploads(const StaleUploadOptions& options,
                                     const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(Live());
    return ForwardingStore::AbortStaleUploads(options, deadline);
  }

 private:
  Status Live() {
    if (--left_ >= 0) return OkStatus();
    return PermissionDeniedError("this process is dead");
  }

  std::atomic<int> left_;
};

}  // namespace lakestream::testing_support

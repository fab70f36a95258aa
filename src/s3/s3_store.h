// S3Store: ObjectStore over the S3 protocol: AWS, Ceph RGW and others that speak it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "lakestream/object_store.h"
#include "s3/s3_client.h"
#include "s3/settings.h"

namespace lakestream::s3 {

// What the operations of one store share. Lives as long as the store or any of its uploads.
struct S3Core {
  std::unique_ptr<HttpTransport> transport;
  std::unique_ptr<CredentialsCache> credentials;
  std::unique_ptr<S3Client> client;
};

// Replaced by tests; the defaults are for production.
struct S3Parts {
  Environment environment = ProcessEnvironment();
  RetryPolicy retry;
  std::unique_ptr<HttpTransport> transport;  // null: libcurl
};

// Thread-safe. Requests by operation: Get, Put, Head and List one each; Delete one for 1,000 keys;
// StartUpload, each part, Complete and Abort one each; AbortStaleUploads one for each page of
// uploads and for each that is aborted. Two more cases: a Get with a range of 0
// bytes or of an empty object asks by HEAD, and the first Head of a missing key asks whether the
// bucket is there. Credentials may cost a few more when they are renewed.
class S3Store final : public ObjectStore {
 public:
  S3Store(std::shared_ptr<S3Core> core, std::string prefix);

  Result<GetResult> Get(const std::string& key, const GetOptions& options,
                        const Deadline& deadline) override;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override;
  Result<std::unique_ptr<Upload>> StartUpload(const std::string& key,
                                              const Deadline& deadline) override;
  Result<ListPage> List(const ListOptions& options, const Deadline& deadline) override;
  Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) override;
  Status Delete(std::span<const std::string> keys, const Deadline& deadline) override;
  Result<uint64_t> AbortStaleUploads(const StaleUploadOptions& options,
                                     const Deadline& deadline) override;
  StoreCapabilities capabilities() const override;
  std::string Describe() const override;

  S3Stats stats() const { return core_->client->stats(); }

 private:
  // The key in the bucket. kInvalidArgument if it is no valid key, or too long with the prefix.
  Result<std::string> FullKey(const std::string& key) const;
  Status CheckBucketExists(const Deadline& deadline);
  Result<GetResult> GetNothing(const std::string& key, const GetOptions& options,
                               const Deadline& deadline);

  const std::shared_ptr<S3Core> core_;
  const std::string prefix_;  // "" or ends with '/'
  std::atomic<bool> bucket_seen_{false};
};

// A store of the objects under `prefix` (without the '/' that joins it to keys; may be empty) in a
// bucket. Sends no request. kInvalidArgument if options, bucket or endpoint cannot be used.
Result<std::unique_ptr<S3Store>> OpenS3Store(std::string_view bucket, std::string_view prefix,
                                             const StoreOptions& options,
                                             std::shared_ptr<Runtime> runtime, S3Parts parts = {});

}  // namespace lakestream::s3

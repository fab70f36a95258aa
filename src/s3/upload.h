// Multipart uploads.
#pragma once

#include <memory>
#include <string>

#include "lakestream/object_store.h"
#include "s3/s3_store.h"

namespace lakestream::s3 {

// Starts a multipart upload of the object with this full key. One request.
Result<std::unique_ptr<Upload>> StartS3Upload(std::shared_ptr<S3Core> core, std::string key,
                                              const Deadline& deadline);

// Ends an upload; false if it is gone already. One request.
Result<bool> AbortS3Upload(S3Client& client, const std::string& key, const std::string& id,
                           const Deadline& deadline);

}  // namespace lakestream::s3

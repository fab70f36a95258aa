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

}  // namespace lakestream::s3

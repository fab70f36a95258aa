// The XML documents of S3. Pure, thread-safe. A document that ends early, has another root element
// or lacks a required element is an error, never an empty answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/object_store.h"
#include "lakestream/status.h"

namespace lakestream::s3 {

// <Error>. Empty fields if the text is no such document: then only the HTTP status is known.
struct ErrorDocument {
  std::string code;
  std::string message;
  std::string request_id;
  std::string region;  // where the bucket is, if the store says so
};
ErrorDocument ParseError(std::string_view text);

// <ListBucketResult>, version 2. Keys are decoded, ETags without quotes.
struct ListResult {
  std::vector<ObjectInfo> objects;
  bool truncated = false;
};
Result<ListResult> ParseListResult(std::string_view text);

// <Delete> for these keys, quiet. Keys must pass FitsXml().
std::string DeleteDocument(const std::vector<std::string>& keys);
// False for keys with control bytes, which XML 1.0 cannot carry.
bool FitsXml(std::string_view key);
// The errors in a <DeleteResult>.
struct DeleteError {
  std::string key;
  std::string code;
  std::string message;
};
Result<std::vector<DeleteError>> ParseDeleteResult(std::string_view text);

// <ListMultipartUploadsResult>. Keys and markers are decoded.
struct PendingUpload {
  std::string key;
  std::string id;
  int64_t begun_ms = 0;
};
struct PendingUploads {
  std::vector<PendingUpload> uploads;
  bool truncated = false;  // the next page starts after these two:
  std::string next_key;
  std::string next_id;
};
Result<PendingUploads> ParsePendingUploads(std::string_view text);

// The upload id in <InitiateMultipartUploadResult>.
Result<std::string> ParseUploadId(std::string_view text);
// <CompleteMultipartUpload> of parts 1, 2, ... with these ETags; (number, etag) in ascending order.
std::string CompleteDocument(const std::vector<std::pair<uint32_t, std::string>>& parts);
// The ETag in <CompleteMultipartUploadResult>. An <Error> (which comes with HTTP 200) is not one.
Result<std::string> ParseCompleteResult(std::string_view text);

// The keys in STS's <AssumeRoleWithWebIdentityResponse>.
struct StsCredentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;
  std::string expiration;
};
Result<StsCredentials> ParseStsCredentials(std::string_view text);

// The ETag as Lakestream passes it: without quotes (some servers match only that), or "W/".
std::string NormalizeEtag(std::string_view etag);

}  // namespace lakestream::s3

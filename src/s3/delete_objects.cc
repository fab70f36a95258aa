#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "s3/hashes.h"
#include "s3/s3_store.h"
#include "s3/xml.h"

namespace lakestream::s3 {
namespace {

constexpr size_t kDeleteKeysMax = 1000;  // S3's limit for one request

Status DeleteOne(S3Client& client, const std::string& key, const Deadline& deadline) {
  S3Request request{.operation = "DELETE", .method = "DELETE", .key = key, .writes = true};
  auto response = client.Send(std::move(request), deadline);
  if (response.ok() || response.status().code() == Code::kNotFound) return OkStatus();
  return response.status();
}

// One request for many keys. Errors of single keys that may pass by themselves make it
// kUnavailable, so that the request is repeated; deleting again what is gone is a success.
Status DeleteMany(S3Client& client, const std::vector<std::string>& keys,
                  const Deadline& deadline) {
  const std::string document = DeleteDocument(keys);
  const ConstBytes body = AsBytes(document);
  S3Request request{
      .operation = "DELETE",
      .method = "POST",
      .query = {{"delete", ""}},
      .headers = {{"Content-MD5", Md5Base64(document)}, {"Content-Type", "application/xml"}},
      .body = {&body, 1},
      .writes = true};
  RequestLabel label = client.LabelOf(request);
  const std::string bucket = label.object;
  request.check = [&](const HttpResponse& answer) -> Status {
    LS_ASSIGN_OR_RETURN(std::vector<DeleteError> errors, ParseDeleteResult(answer.body));
    Status worst;
    for (const DeleteError& error : errors) {
      if (error.code == "NoSuchKey") continue;
      label.object = Str(bucket, Printable(error.key));
      Status status = JudgeErrorCode(label, answer.status, error.code, error.message, "").status;
      // A failure that stays goes before one that may pass.
      if (worst.ok() || status.code() != Code::kUnavailable) worst = status;
    }
    return worst;
  };
  return client.Send(std::move(request), deadline).status();
}

}  // namespace

Status S3Store::Delete(std::span<const std::string> keys, const Deadline& deadline) {
  std::vector<std::string> batch;
  std::vector<std::string> singles;
  for (const std::string& key : keys) {
    LS_ASSIGN_OR_RETURN(std::string full, FullKey(key));
    (FitsXml(full) ? batch : singles).push_back(std::move(full));
  }
  if (batch.size() == 1) singles.push_back(std::exchange(batch, {}).front());
  for (const std::string& key : singles) {
    LS_RETURN_IF_ERROR(DeleteOne(*core_->client, key, deadline));
  }
  for (size_t first = 0; first < batch.size(); first += kDeleteKeysMax) {
    const auto begin = batch.begin() + static_cast<std::ptrdiff_t>(first);
    const auto count = std::min(kDeleteKeysMax, batch.size() - first);
    LS_RETURN_IF_ERROR(
        DeleteMany(*core_->client, {begin, begin + static_cast<std::ptrdiff_t>(count)}, deadline));
  }
  return OkStatus();
}

}  // namespace lakestream::s3

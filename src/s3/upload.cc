#include "s3/upload.h"

#include <map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/text.h"
#include "s3/get_object.h"
#include "s3/xml.h"
#include "store/store_rules.h"

namespace lakestream::s3 {
namespace {

constexpr uint64_t kPartsMax = 10000;
constexpr Duration kAbortInDestructor = std::chrono::seconds(2);
constexpr int kNotFound = 404;

class S3Upload final : public Upload {
 public:
  S3Upload(std::shared_ptr<S3Core> core, std::string key, std::string id)
      : core_(std::move(core)), key_(std::move(key)), id_(std::move(id)) {}
  ~S3Upload() override {
    if (!IsOver()) (void)Abort(After(core_->client->runtime(), kAbortInDestructor));
  }

  Status PutPart(uint32_t number, std::span<const ConstBytes> pieces,
                 const Deadline& deadline) override;
  Result<PutResult> Complete(const Deadline& deadline) override;
  Status Abort(const Deadline& deadline) override;

 private:
  bool IsOver() {
    MutexLock lock(mutex_);
    return over_;
  }
  Status CheckOpen() {
    if (!IsOver()) return OkStatus();
    return FailedPreconditionError(
        Str("the upload of '", key_, "' was completed or aborted before; start a new one"));
  }
  // The parts' numbers and ETags in order; kInvalidArgument unless they are 1, 2, ... n.
  Result<std::vector<std::pair<uint32_t, std::string>>> Parts();

  const std::shared_ptr<S3Core> core_;
  const std::string key_;
  const std::string id_;
  Mutex mutex_;
  std::map<uint32_t, std::string> etags_ LS_GUARDED_BY(mutex_);
  bool over_ LS_GUARDED_BY(mutex_) = false;
};

Status S3Upload::PutPart(uint32_t number, std::span<const ConstBytes> pieces,
                         const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckPartNumber(key_, number, kPartsMax));
  LS_RETURN_IF_ERROR(CheckOpen());
  // Sending a part twice is harmless: the later one replaces the earlier.
  S3Request request{.operation = "PUT part of", .method = "PUT", .key = key_, .body = pieces};
  request.query = {{"partNumber", std::to_string(number)}, {"uploadId", id_}};
  request.check = [](const HttpResponse& answer) {
    return ReadObjectHeaders(answer.headers).etag.empty()
               ? UnavailableError("the answer has no ETag")
               : OkStatus();
  };
  LS_ASSIGN_OR_RETURN(HttpResponse response, core_->client->Send(std::move(request), deadline));
  MutexLock lock(mutex_);
  etags_[number] = ReadObjectHeaders(response.headers).etag;
  return OkStatus();
}

Result<std::vector<std::pair<uint32_t, std::string>>> S3Upload::Parts() {
  MutexLock lock(mutex_);
  std::vector<std::pair<uint32_t, std::string>> parts(etags_.begin(), etags_.end());
  // Ascending and distinct, so the last one tells whether any is missing.
  if (!parts.empty() && parts.back().first == parts.size()) return parts;
  return InvalidArgumentError(Str("the upload of '", key_, "' has ", parts.size(),
                                  " parts that are not 1, 2, ... without a gap; send them all"));
}

Result<PutResult> S3Upload::Complete(const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckOpen());
  LS_ASSIGN_OR_RETURN(auto parts, Parts());
  const std::string document = CompleteDocument(parts);
  const ConstBytes body = AsBytes(document);
  S3Request request{.operation = "COMPLETE upload of",
                    .method = "POST",
                    .key = key_,
                    .query = {{"uploadId", id_}},
                    .headers = {{"Content-Type", "application/xml"}},
                    .body = {&body, 1},
                    .repeat = Repeat::kIfNotApplied,
                    .writes = true};
  std::string etag;
  S3Client& client = *core_->client;
  const RequestLabel label = client.LabelOf(request);
  // S3 answers 200 before it knows how it ends; only the document tells.
  request.check = [&](const HttpResponse& answer) -> Status {
    const ErrorDocument error = ParseError(answer.body);
    if (!error.code.empty()) {
      return JudgeErrorCode(label, answer.status, error.code, error.message, error.request_id)
          .status;
    }
    LS_ASSIGN_OR_RETURN(etag, ParseCompleteResult(answer.body));
    return OkStatus();
  };
  LS_ASSIGN_OR_RETURN(HttpResponse response, client.Send(std::move(request), deadline));
  if (etag.empty()) {  // not told; without it the upload is complete all the same
    auto head = client.Send({.operation = "HEAD", .method = "HEAD", .key = key_}, deadline);
    if (head.ok()) etag = ReadObjectHeaders(head->headers).etag;
  }
  MutexLock lock(mutex_);
  over_ = true;
  return PutResult{.stored = true,
                   .etag = std::move(etag),
                   .date_ms = ReadObjectHeaders(response.headers).date_ms};
}

Status S3Upload::Abort(const Deadline& deadline) {
  if (IsOver()) return OkStatus();
  LS_RETURN_IF_ERROR(AbortS3Upload(*core_->client, key_, id_, deadline).status());
  MutexLock lock(mutex_);
  over_ = true;
  return OkStatus();
}

}  // namespace

Result<bool> AbortS3Upload(S3Client& client, const std::string& key, const std::string& id,
                           const Deadline& deadline) {
  constexpr int kAccepted[] = {kNotFound};  // gone already
  S3Request request{.operation = "ABORT upload of",
                    .method = "DELETE",
                    .key = key,
                    .query = {{"uploadId", id}},
                    .writes = true,
                    .accepted = kAccepted};
  LS_ASSIGN_OR_RETURN(const HttpResponse response, client.Send(std::move(request), deadline));
  return response.status != kNotFound;
}

Result<std::unique_ptr<Upload>> StartS3Upload(std::shared_ptr<S3Core> core, std::string key,
                                              const Deadline& deadline) {
  // Repeating it can leave an empty upload behind, which reclamation finds; it stores no object.
  S3Request request{
      .operation = "START upload of", .method = "POST", .key = key, .query = {{"uploads", ""}}};
  std::string id;
  request.check = [&id](const HttpResponse& answer) -> Status {
    LS_ASSIGN_OR_RETURN(id, ParseUploadId(answer.body));
    return OkStatus();
  };
  LS_ASSIGN_OR_RETURN(HttpResponse response, core->client->Send(std::move(request), deadline));
  return std::unique_ptr<Upload>(
      std::make_unique<S3Upload>(std::move(core), std::move(key), std::move(id)));
}

}  // namespace lakestream::s3

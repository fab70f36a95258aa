#include "s3/s3_store.h"

#include <utility>

#include "base/text.h"
#include "s3/curl_http.h"
#include "s3/get_object.h"
#include "s3/upload.h"
#include "s3/xml.h"
#include "store/store_rules.h"

namespace lakestream::s3 {
namespace {

constexpr uint32_t kListKeysMax = 1000;              // S3's limit
constexpr uint64_t kSinglePutBytesMax = 5ull << 30;  // S3's limit
constexpr int kOverwritesMax = 8;                    // of one object during one Get
constexpr int kPreconditionFailed = 412;
constexpr int kRangeNotSatisfiable = 416;
constexpr int kNotFound = 404;

int64_t DateOf(const HttpResponse& response) { return ReadObjectHeaders(response.headers).date_ms; }

// Headers that every answer to a stored object has. Without it, something else than S3 answered.
Status CheckPutAnswer(const HttpResponse& response) {
  const std::string* etag = FindHeader(response.headers, "ETag");
  if (etag != nullptr && !etag->empty()) return OkStatus();
  return UnavailableError(Str("the answer with HTTP ", response.status, " has no ETag"));
}

Status AsStatus(S3Client& client, const S3Request& request, HttpResponse response) {
  HttpReply reply;
  reply.outcome = HttpOutcome::kAnswered;
  reply.response = std::move(response);
  return JudgeReply(client.LabelOf(request), reply, client.runtime().WallTimeMs()).status;
}

}  // namespace

S3Store::S3Store(std::shared_ptr<S3Core> core, std::string prefix)
    : core_(std::move(core)), prefix_(std::move(prefix)) {}

Result<std::string> S3Store::FullKey(const std::string& key) const {
  LS_RETURN_IF_ERROR(CheckKey(key));
  std::string full = prefix_ + key;
  if (full.size() > kKeyBytesMax) {
    return InvalidArgumentError(Str("key '", key.substr(0, 64), "...' has ", full.size(),
                                    " bytes with the prefix '", prefix_, "'; S3 allows ",
                                    kKeyBytesMax));
  }
  return full;
}

Result<GetResult> S3Store::Get(const std::string& key, const GetOptions& options,
                               const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(std::string full, FullKey(key));
  if (options.range && options.range->size == 0) return GetNothing(key, options, deadline);
  ObjectSink sink(key, options);
  constexpr int kAccepted[] = {kPreconditionFailed, kRangeNotSatisfiable};
  S3Request request{.operation = "GET",
                    .key = std::move(full),
                    .headers = sink.Headers(),
                    .sink = &sink,
                    .accepted = kAccepted};
  request.before_repeat = [&sink](S3Request& next) { next.headers = sink.Headers(); };
  request.check = [&sink](const HttpResponse&) { return sink.CheckComplete(); };
  for (int overwrites = 0; overwrites < kOverwritesMax; ++overwrites) {
    LS_ASSIGN_OR_RETURN(HttpResponse response, core_->client->Send(request, deadline));
    if (response.status == kRangeNotSatisfiable) return GetNothing(key, options, deadline);
    if (response.status != kPreconditionFailed) {
      bucket_seen_.store(true, std::memory_order_relaxed);
      return sink.Take();
    }
    if (!options.if_match.empty()) return ObjectChanged(Describe(), key);
    // Only a resumed try has a condition: the object was overwritten between two tries.
    sink.Restart();
    request.headers = sink.Headers();
  }
  return UnavailableError(
      Str("GET ", Describe(), "/", key, ": overwritten again and again while it was read"));
}

// An empty range, or one that HTTP cannot express: of an empty object, or behind the end.
Result<GetResult> S3Store::GetNothing(const std::string& key, const GetOptions& options,
                                      const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(ObjectInfo info, Head(key, deadline));
  if (!options.if_match.empty() && options.if_match != info.etag) {
    return ObjectChanged(Describe(), key);
  }
  LS_ASSIGN_OR_RETURN(ByteRange cut, CutRange(options.range, info.size, key));
  if (cut.size > 0) {
    return UnavailableError(
        Str("GET ", Describe(), "/", key, ": the object was overwritten while it was read"));
  }
  LS_ASSIGN_OR_RETURN(BufferAllocator::Block block, AllocateFor(options.allocator, 0, key));
  return GetResult{.data = ToBuffer(std::move(block), 0), .info = std::move(info)};
}

Result<PutResult> S3Store::Put(const std::string& key, std::span<const ConstBytes> pieces,
                               const PutOptions& options, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckPut(key, options));
  LS_ASSIGN_OR_RETURN(std::string full, FullKey(key));
  if (TotalBytes(pieces) > kSinglePutBytesMax) {
    return InvalidArgumentError(Str("put of '", key, "': ", TotalBytes(pieces),
                                    " bytes are more than one request may carry; use StartUpload"),
                                Reason::kTooLarge);
  }
  S3Request request{.operation = "PUT",
                    .method = "PUT",
                    .key = std::move(full),
                    .body = pieces,
                    .writes = true,
                    .check = CheckPutAnswer};
  constexpr int kAccepted[] = {kPreconditionFailed, kNotFound};
  if (options.if_absent) {
    request.headers.push_back({"If-None-Match", "*"});
    request.accepted = std::span(kAccepted).first(1);
    request.repeat = Repeat::kNever;
  } else if (!options.if_match.empty()) {
    // Without quotes: Ceph RGW matches only this form, and AWS takes both.
    request.headers.push_back({"If-Match", options.if_match});
    request.accepted = kAccepted;
    request.repeat = Repeat::kNever;
  }
  LS_ASSIGN_OR_RETURN(HttpResponse response, core_->client->Send(request, deadline));
  if (response.status == kNotFound && ParseError(response.body).code == "NoSuchBucket") {
    return AsStatus(*core_->client, request, std::move(response));
  }
  if (response.status / 100 != 2) return PutResult{.stored = false, .date_ms = DateOf(response)};
  bucket_seen_.store(true, std::memory_order_relaxed);
  const ObjectHeaders headers = ReadObjectHeaders(response.headers);
  return PutResult{.stored = true, .etag = headers.etag, .date_ms = headers.date_ms};
}

Result<std::unique_ptr<Upload>> S3Store::StartUpload(const std::string& key,
                                                     const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(std::string full, FullKey(key));
  return StartS3Upload(core_, std::move(full), deadline);
}

Result<ListPage> S3Store::List(const ListOptions& options, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckList(options));
  const std::string prefix = prefix_ + options.prefix;
  const std::string start_after = options.start_after.empty() ? "" : prefix_ + options.start_after;
  S3Request request{.operation = "LIST"};
  request.query = {{"list-type", "2"},
                   {"encoding-type", "url"},
                   {"max-keys", std::to_string(std::min(options.limit, kListKeysMax))},
                   {"prefix", prefix}};
  if (!start_after.empty()) request.query.emplace_back("start-after", start_after);
  ListResult listed;
  // Checked inside the retry loop: a listing that was cut on its way is asked for again.
  request.check = [&listed](const HttpResponse& response) -> Status {
    LS_ASSIGN_OR_RETURN(listed, ParseListResult(response.body));
    return OkStatus();
  };
  LS_ASSIGN_OR_RETURN(HttpResponse response, core_->client->Send(std::move(request), deadline));
  bucket_seen_.store(true, std::memory_order_relaxed);
  ListPage page;
  page.more = listed.truncated;
  page.date_ms = DateOf(response);
  std::string_view last = start_after;
  for (ObjectInfo& info : listed.objects) {
    const bool in_order = last.empty() || std::string_view(info.key) > last;
    if (!in_order || info.key.compare(0, prefix.size(), prefix) != 0) {
      return UnimplementedError(Str("LIST ", Describe(), "/", options.prefix,
                                    ": the store does not list in the order of keys, or outside of "
                                    "what was asked for; Lakestream cannot use such a store"));
    }
    last = info.key;
    info.date_ms = page.date_ms;
  }
  for (ObjectInfo& info : listed.objects) {
    info.key.erase(0, prefix_.size());
    page.objects.push_back(std::move(info));
  }
  return page;
}

Result<ObjectInfo> S3Store::Head(const std::string& key, const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(std::string full, FullKey(key));
  S3Request request{.operation = "HEAD", .method = "HEAD", .key = std::move(full)};
  request.check = [](const HttpResponse& answer) {
    return ReadObjectHeaders(answer.headers).length
               ? OkStatus()
               : UnavailableError("the answer has no Content-Length");
  };
  auto response = core_->client->Send(std::move(request), deadline);
  if (!response.ok()) {
    const bool missing = response.status().code() == Code::kNotFound;
    if (missing && !bucket_seen_.load(std::memory_order_relaxed)) {
      LS_RETURN_IF_ERROR(CheckBucketExists(deadline));
    }
    return response.status();
  }
  bucket_seen_.store(true, std::memory_order_relaxed);
  const ObjectHeaders headers = ReadObjectHeaders(response->headers);
  return ObjectInfo{.key = key,
                    .size = *headers.length,
                    .etag = headers.etag,
                    .modified_ms = headers.modified_ms,
                    .date_ms = headers.date_ms};
}

// The answer to a HEAD has no body, so 404 does not say whether the key or the bucket is missing.
// A missing bucket must not look like an empty stream.
Status S3Store::CheckBucketExists(const Deadline& deadline) {
  constexpr int kAccepted[] = {400, 403, 405};  // it may be forbidden to ask
  S3Request request{.operation = "HEAD", .method = "HEAD", .accepted = kAccepted};
  auto response = core_->client->Send(std::move(request), deadline);
  if (response.ok()) {
    bucket_seen_.store(true, std::memory_order_relaxed);
    return OkStatus();
  }
  if (response.status().code() != Code::kNotFound) return response.status();
  return FailedPreconditionError(
      Str(response.status().message(), "; there is no bucket ", core_->client->endpoint().bucket,
          " at ", core_->client->endpoint().host, ": create it, or correct its name"));
}

StoreCapabilities S3Store::capabilities() const {
  return {.put_if_match = true,
          .durable = true,
          .shared = true,
          .single_put_bytes_max = kSinglePutBytesMax,
          .upload_part_bytes_min = 5ull << 20,
          .upload_parts_max = 10000};
}

std::string S3Store::Describe() const {
  std::string text = Str("s3://", core_->client->endpoint().bucket, "/", prefix_);
  text.pop_back();  // the '/' at the end
  return text;
}

Result<std::unique_ptr<S3Store>> OpenS3Store(std::string_view bucket, std::string_view prefix,
                                             const StoreOptions& options,
                                             std::shared_ptr<Runtime> runtime, S3Parts parts) {
  const S3Settings settings = ResolveSettings(options, parts.environment);
  LS_ASSIGN_OR_RETURN(Endpoint endpoint, ResolveEndpoint(bucket, settings));
  std::string joined(prefix);
  if (!joined.empty()) {
    joined.push_back('/');
    LS_RETURN_IF_ERROR(CheckKey(joined));
  }
  auto core = std::make_shared<S3Core>();
  core->transport = parts.transport != nullptr
                        ? std::move(parts.transport)
                        : NewCurlTransport(runtime, {.ca_bundle = settings.ca_bundle});
  core->credentials = std::make_unique<CredentialsCache>(
      DefaultSources(settings, parts.environment, *core->transport, runtime), runtime);
  core->client =
      std::make_unique<S3Client>(std::move(endpoint), settings.unsigned_payload, parts.retry,
                                 *core->transport, *core->credentials, std::move(runtime));
  return std::make_unique<S3Store>(std::move(core), std::move(joined));
}

}  // namespace lakestream::s3

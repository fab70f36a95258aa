#include "s3/errors.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/text.h"
#include "s3/times.h"
#include "s3/url.h"
#include "s3/xml.h"

namespace lakestream::s3 {
namespace {

struct KnownError {
  std::string_view s3_code;
  Code code;
  Reason reason;
  std::string_view advice;
};

constexpr std::string_view kCheckKeys = "check the access key and the secret";
constexpr std::string_view kCheckRights = "ask for this right, or use other credentials";

// S3's codes that say more than the HTTP status. All of them mean: not applied.
constexpr KnownError kKnownErrors[] = {
    {"AccessDenied", Code::kPermissionDenied, Reason::kNone, kCheckRights},
    {"AllAccessDisabled", Code::kPermissionDenied, Reason::kNone, kCheckRights},
    {"AccountProblem", Code::kPermissionDenied, Reason::kNone, kCheckRights},
    {"InvalidAccessKeyId", Code::kUnauthenticated, Reason::kNone, kCheckKeys},
    {"SignatureDoesNotMatch", Code::kUnauthenticated, Reason::kNone, kCheckKeys},
    {"InvalidToken", Code::kUnauthenticated, Reason::kNone, "check the session token"},
    {"ExpiredToken", Code::kUnauthenticated, Reason::kNone, "get new temporary credentials"},
    {"TokenRefreshRequired", Code::kUnauthenticated, Reason::kNone,
     "get new temporary credentials"},
    {"RequestTimeTooSkewed", Code::kUnauthenticated, Reason::kNone, "set this host's clock"},
    {"NoSuchBucket", Code::kFailedPrecondition, Reason::kNone,
     "create the bucket, or correct its name or the endpoint"},
    {"NoSuchKey", Code::kNotFound, Reason::kNone, ""},
    {"NoSuchUpload", Code::kNotFound, Reason::kNone, "the upload was aborted or completed before"},
    {"PreconditionFailed", Code::kAborted, Reason::kNone, "read its newest state"},
    {"InvalidRange", Code::kInvalidArgument, Reason::kNone, ""},
    {"EntityTooLarge", Code::kInvalidArgument, Reason::kTooLarge, ""},
    {"KeyTooLongError", Code::kInvalidArgument, Reason::kTooLarge, ""},
    {"QuotaExceeded", Code::kResourceExhausted, Reason::kDiskFull, "free space or raise the quota"},
    {"NotImplemented", Code::kUnimplemented, Reason::kNone, "this store cannot do it"},
    {"OperationAborted", Code::kUnavailable, Reason::kConflict, ""},
    {"ConditionalRequestConflict", Code::kUnavailable, Reason::kConflict, ""},
};

const KnownError* FindKnown(std::string_view s3_code) {
  for (const KnownError& known : kKnownErrors) {
    if (known.s3_code == s3_code) return &known;
  }
  return nullptr;
}

bool SaysSlowDown(std::string_view s3_code) {
  return s3_code == "SlowDown" || s3_code == "Throttling" || s3_code == "ThrottlingException" ||
         s3_code == "TooManyRequests" || s3_code == "RequestLimitExceeded" ||
         s3_code == "SlowDownRead" || s3_code == "SlowDownWrite";
}

// The status for a code that is not in the table.
KnownError ByHttpStatus(int status) {
  switch (status) {
    case 401:
      return {"", Code::kUnauthenticated, Reason::kNone, kCheckKeys};
    case 403:
      return {"", Code::kPermissionDenied, Reason::kNone, "check the credentials and their rights"};
    case 404:
      return {"", Code::kNotFound, Reason::kNone, ""};
    case 405:
    case 501:
      return {"", Code::kUnimplemented, Reason::kNone, "this store cannot do it"};
    case 409:
      return {"", Code::kUnavailable, Reason::kConflict, ""};
    case 412:
      return {"", Code::kAborted, Reason::kNone, "read its newest state"};
    case 413:
      return {"", Code::kInvalidArgument, Reason::kTooLarge, ""};
    case 507:
      return {"", Code::kResourceExhausted, Reason::kDiskFull, "free space"};
    default:
      return status >= 500 ? KnownError{"", Code::kUnavailable, Reason::kNone, ""}
                           : KnownError{"", Code::kInvalidArgument, Reason::kNone, ""};
  }
}

bool IsWrongRegion(int http_status, std::string_view s3_code) {
  return http_status == 301 || http_status == 307 || s3_code == "AuthorizationHeaderMalformed" ||
         s3_code == "PermanentRedirect" || s3_code == "TemporaryRedirect" ||
         s3_code == "IllegalLocationConstraintException";
}

std::string HttpText(int http_status, std::string_view code, std::string_view message,
                     std::string_view request_id) {
  std::string text = Str("HTTP ", http_status);
  if (!code.empty()) text.append(" ").append(Printable(code, 64));
  if (!message.empty() && message != code) {
    text.append(" (").append(Printable(message)).append(")");
  }
  if (!request_id.empty()) text.append(", request id ").append(Printable(request_id, 80));
  return text;
}

std::string Prefix(const RequestLabel& label) {
  return Str(label.operation, " ", label.object, ": ");
}

std::optional<Duration> RetryAfter(const HttpHeaders& headers, int64_t wall_ms) {
  const std::string* value = FindHeader(headers, "Retry-After");
  if (value == nullptr) return std::nullopt;
  uint32_t seconds = 0;
  const char* end = value->data() + value->size();
  const auto parsed = std::from_chars(value->data(), end, seconds);
  if (parsed.ec == std::errc() && parsed.ptr == end) return std::chrono::seconds(seconds);
  const std::optional<int64_t> at_ms = ParseHttpDate(*value);
  if (!at_ms) return std::nullopt;
  return std::chrono::milliseconds(std::max<int64_t>(*at_ms - wall_ms, 0));
}

Verdict JudgeFailure(const RequestLabel& label, const HttpReply& reply) {
  Verdict verdict;
  verdict.surely_not_applied = !reply.request_sent;
  const std::string at = Str(" (endpoint ", label.endpoint, ")");
  switch (reply.outcome) {
    case HttpOutcome::kCancelled:
      verdict.status = CancelledError(Prefix(label) + "cancelled by the caller");
      return verdict;
    case HttpOutcome::kDeadline:
      verdict.status =
          DeadlineExceededError(Prefix(label) + "no complete answer within the time allowed" + at);
      return verdict;
    case HttpOutcome::kMisconfigured:
      verdict.status = FailedPreconditionError(
          Str(Prefix(label), Printable(reply.problem), at,
              "; check the endpoint, and for a private certificate authority set ca_bundle or "
              "AWS_CA_BUNDLE"));
      return verdict;
    default:
      verdict.repeat_helps = true;
      verdict.status = UnavailableError(
          Str(Prefix(label),
              reply.request_sent ? "no complete answer: " : "the store could not be reached: ",
              Printable(reply.problem), at));
      return verdict;
  }
}

}  // namespace

Verdict JudgeErrorCode(const RequestLabel& label, int http_status, const std::string& code,
                       const std::string& message, const std::string& request_id) {
  Verdict verdict;
  const std::string text = Prefix(label) + HttpText(http_status, code, message, request_id);
  if (http_status == 429 || SaysSlowDown(code)) {
    verdict.throttled = verdict.repeat_helps = verdict.surely_not_applied = true;
    verdict.status = UnavailableError(text, Reason::kThrottled);
    return verdict;
  }
  if (http_status == 408 || code == "RequestTimeout" ||
      (http_status >= 500 && http_status != 501 && http_status != 507) || code == "InternalError" ||
      code == "ServiceUnavailable") {
    // 408 too: the server gave up on a connection, which says nothing about the request.
    verdict.repeat_helps = true;
    verdict.throttled = http_status == 503;
    verdict.status = UnavailableError(text, verdict.throttled ? Reason::kThrottled : Reason::kNone);
    return verdict;
  }
  const KnownError* known = FindKnown(code);
  const KnownError effect = known != nullptr ? *known : ByHttpStatus(http_status);
  verdict.surely_not_applied = true;
  verdict.expired_keys = code == "ExpiredToken" || code == "TokenRefreshRequired";
  std::string advice(effect.advice);
  if (effect.code == Code::kUnauthenticated || effect.code == Code::kPermissionDenied) {
    advice.append(" (endpoint ").append(label.endpoint).append(")");
  }
  verdict.status =
      Status(effect.code, advice.empty() ? text : Str(text, "; ", advice), effect.reason);
  return verdict;
}

Verdict JudgeReply(const RequestLabel& label, const HttpReply& reply, int64_t wall_ms) {
  if (reply.outcome != HttpOutcome::kAnswered) return JudgeFailure(label, reply);
  const HttpResponse& response = reply.response;
  ErrorDocument error = ParseError(response.body);
  if (error.request_id.empty()) {
    if (const std::string* id = FindHeader(response.headers, "x-amz-request-id")) {
      error.request_id = *id;
    }
  }
  if (const std::string* region = FindHeader(response.headers, "x-amz-bucket-region")) {
    error.region = *region;
  }
  if (IsWrongRegion(response.status, error.code)) {
    Verdict verdict;
    verdict.surely_not_applied = true;
    verdict.status = FailedPreconditionError(
        Str(Prefix(label), HttpText(response.status, error.code, error.message, error.request_id),
            "; the bucket is not in region ", label.region, " at ", label.endpoint,
            error.region.empty() ? "; set the bucket's region"
                                 : Str("; set the region to ", Printable(error.region, 64))));
    return verdict;
  }
  Verdict verdict =
      JudgeErrorCode(label, response.status, error.code, error.message, error.request_id);
  verdict.after = RetryAfter(response.headers, wall_ms);
  return verdict;
}

}  // namespace lakestream::s3

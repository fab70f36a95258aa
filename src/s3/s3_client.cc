#include "s3/s3_client.h"

#include <algorithm>

#include "base/text.h"
#include "runtime/backoff.h"
#include "s3/hashes.h"
#include "s3/sigv4.h"

namespace lakestream::s3 {
namespace {

// From this try on, each failure is told to the operator: a long outage must not look like a hang.
constexpr uint32_t kTriesBeforeWarning = 4;

bool IsSuccess(const S3Request& request, const HttpReply& reply) {
  if (reply.outcome != HttpOutcome::kAnswered) return false;
  const int status = reply.response.status;
  return status / 100 == 2 || std::find(request.accepted.begin(), request.accepted.end(), status) !=
                                  request.accepted.end();
}

}  // namespace

// What is known after some tries of one request.
struct S3Client::Progress {
  Backoff backoff;
  TimePoint started;
  TimePoint end;  // no try starts later
  uint32_t tries = 0;
  bool maybe_applied = false;
  bool renewed_keys = false;
  std::string problem;  // of the try before
};

S3Client::S3Client(Endpoint endpoint, bool unsigned_payload, RetryPolicy policy,
                   HttpTransport& transport, CredentialsCache& credentials,
                   std::shared_ptr<Runtime> runtime)
    : endpoint_(std::move(endpoint)),
      unsigned_payload_(unsigned_payload),
      policy_(policy),
      transport_(transport),
      credentials_(credentials),
      runtime_(std::move(runtime)) {}

Result<HttpResponse> S3Client::Send(S3Request request, const Deadline& deadline) {
  const TimePoint now = runtime_->Now();
  Progress progress{.backoff = Backoff(policy_.delay_base, policy_.delay_max),
                    .started = now,
                    .end = deadline.Sooner(now + policy_.budget_max).at};
  LS_RETURN_IF_ERROR(
      CheckDeadline(*runtime_, deadline, Str(request.operation, " ", LabelOf(request).object)));
  const std::string payload_hash =
      unsigned_payload_ ? kUnsignedPayload : ToHex(HashSha256(request.body));
  while (true) {
    auto keys = credentials_.Get(deadline);
    if (!keys.ok()) {
      Status problem =
          keys.status().WithContext(Str(request.operation, " ", LabelOf(request).object));
      return GiveUp(request, problem, progress, false, deadline);
    }
    HttpReply reply = SendOnce(request, **keys, payload_hash, deadline);
    if (progress.tries++ > 0) retries_.fetch_add(1, std::memory_order_relaxed);
    Verdict verdict = Judge(request, reply);
    if (verdict.status.ok()) return std::move(reply.response);
    progress.maybe_applied |= !verdict.surely_not_applied;
    if (verdict.throttled) throttles_.fetch_add(1, std::memory_order_relaxed);
    if (verdict.expired_keys) {
      credentials_.Reject(*keys);
      if (request.repeat == Repeat::kNever) {
        // The next call signs with new keys; this one was sent already.
        verdict.status = UnavailableError(verdict.status.message());
      } else if (!progress.renewed_keys) {
        progress.renewed_keys = true;
        continue;
      }
    }
    LS_RETURN_IF_ERROR(PlanRepeat(request, verdict, progress, deadline));
    if (request.before_repeat) request.before_repeat(request);
  }
}

// OK after the delay, if the request is to be sent again; else the operation's final status.
Status S3Client::PlanRepeat(const S3Request& request, const Verdict& verdict, Progress& progress,
                            const Deadline& deadline) {
  const bool may_repeat = request.repeat == Repeat::kFreely ||
                          (request.repeat == Repeat::kIfNotApplied && verdict.surely_not_applied);
  if (!verdict.repeat_helps || !may_repeat) {
    return GiveUp(request, verdict.status, progress, false, deadline);
  }
  Duration delay = progress.backoff.NextDelay(*runtime_);
  if (verdict.after) delay = std::max(delay, std::min(*verdict.after, policy_.retry_after_max));
  if (runtime_->Now() + delay >= progress.end) {
    return GiveUp(request, verdict.status, progress, true, deadline);
  }
  if (progress.tries >= kTriesBeforeWarning) {
    runtime_->Log(LogLevel::kWarning,
                  Str("still trying (", progress.tries, " tries): ", verdict.status.message()));
  }
  progress.problem = verdict.status.message();
  Status slept = SleepFor(*runtime_, delay, deadline);
  return slept.ok() ? slept : GiveUp(request, slept, progress, false, deadline);
}

Status S3Client::GiveUp(const S3Request& request, const Status& last, const Progress& progress,
                        bool out_of_time, const Deadline& deadline) {
  failures_.fetch_add(1, std::memory_order_relaxed);
  std::string text = last.message();
  const bool stopped = last.code() == Code::kDeadlineExceeded || last.code() == Code::kCancelled;
  if (stopped && !progress.problem.empty()) text.append("; before that: ").append(progress.problem);
  if (progress.tries > 1) {
    const auto spent =
        std::chrono::duration_cast<std::chrono::milliseconds>(runtime_->Now() - progress.started);
    text.append(Str("; given up after ", progress.tries, " tries in ", spent.count(), " ms"));
  }
  if (request.writes && progress.maybe_applied) {
    return UnknownOutcomeError(text + "; the write may have been applied");
  }
  const bool by_deadline = out_of_time && progress.end == deadline.at;
  if (by_deadline) return DeadlineExceededError(text);
  return Status(last.code(), text, last.reason());
}

Verdict S3Client::Judge(const S3Request& request, const HttpReply& reply) {
  if (IsSuccess(request, reply)) {
    Verdict verdict;
    if (reply.response.status / 100 != 2 || !request.check) return verdict;
    const Status checked = request.check(reply.response);
    if (checked.ok()) return verdict;
    verdict.repeat_helps = checked.code() == Code::kUnavailable;
    verdict.status = checked.WithContext(Str(request.operation, " ", LabelOf(request).object));
    return verdict;
  }
  if (reply.outcome == HttpOutcome::kAbandoned && request.sink != nullptr) {
    Verdict verdict;
    verdict.repeat_helps = request.sink->problem().code() == Code::kUnavailable;
    verdict.status =
        request.sink->problem().WithContext(Str(request.operation, " ", LabelOf(request).object));
    return verdict;
  }
  return JudgeReply(LabelOf(request), reply, runtime_->WallTimeMs());
}

HttpReply S3Client::SendOnce(const S3Request& request, const Credentials& credentials,
                             const std::string& payload_hash, const Deadline& deadline) {
  const int64_t time_ms = runtime_->WallTimeMs();
  const std::string path = endpoint_.PathOf(request.key);
  const std::string query = CanonicalQuery(request.query);
  HttpRequest http;
  http.method = request.method;
  http.url = endpoint_.UrlOf(path, query);
  http.headers = request.headers;
  http.headers.push_back({"Host", endpoint_.host});
  http.headers.push_back({"x-amz-date", AmzDate(time_ms)});
  http.headers.push_back({"x-amz-content-sha256", payload_hash});
  if (!credentials.session_token.empty()) {
    http.headers.push_back({"x-amz-security-token", credentials.session_token});
  }
  std::string authorization = SignV4({.method = request.method,
                                      .path = path,
                                      .query = query,
                                      .headers = http.headers,
                                      .payload_hash = payload_hash},
                                     {.time_ms = time_ms, .region = endpoint_.region}, credentials);
  http.headers.push_back({"Authorization", std::move(authorization)});
  http.body = request.body;
  http.sink = request.sink;
  http.at_most_once = request.repeat != Repeat::kFreely;
  http.connect_timeout = policy_.connect_timeout;
  http.stall_timeout = policy_.stall_timeout;
  HttpReply reply = transport_.Send(http, deadline);
  requests_.fetch_add(1, std::memory_order_relaxed);
  bytes_sent_.fetch_add(reply.bytes_sent, std::memory_order_relaxed);
  bytes_received_.fetch_add(reply.bytes_received, std::memory_order_relaxed);
  return reply;
}

RequestLabel S3Client::LabelOf(const S3Request& request) const {
  return {.operation = request.operation,
          .object = Str("s3://", endpoint_.bucket, "/", Printable(request.key, 300)),
          .endpoint = Str(endpoint_.scheme, "://", endpoint_.host),
          .region = endpoint_.region};
}

S3Stats S3Client::stats() const {
  return {.requests = requests_.load(std::memory_order_relaxed),
          .retries = retries_.load(std::memory_order_relaxed),
          .throttles = throttles_.load(std::memory_order_relaxed),
          .failures = failures_.load(std::memory_order_relaxed),
          .bytes_sent = bytes_sent_.load(std::memory_order_relaxed),
          .bytes_received = bytes_received_.load(std::memory_order_relaxed)};
}

}  // namespace lakestream::s3

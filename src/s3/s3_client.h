// S3Client: sends one S3 request, signed, with the only retry loop of this room.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "lakestream/runtime.h"
#include "lakestream/status.h"
#include "s3/credentials.h"
#include "s3/endpoint.h"
#include "s3/errors.h"
#include "s3/http.h"
#include "s3/url.h"

namespace lakestream::s3 {

// Delays between tries; tests make them short.
struct RetryPolicy {
  Duration delay_base = std::chrono::milliseconds(50);
  Duration delay_max = std::chrono::seconds(5);
  // For calls without a deadline, or with a later one.
  Duration budget_max = std::chrono::minutes(5);
  // The longest Retry-After that is obeyed as it is; longer ones are cut.
  Duration retry_after_max = std::chrono::seconds(60);
  Duration connect_timeout = std::chrono::seconds(10);
  Duration stall_timeout = std::chrono::seconds(30);
};

// Counts since the store was opened. Consistent each by itself, not with each other.
struct S3Stats {
  uint64_t requests = 0;        // HTTP requests sent, retries included
  uint64_t retries = 0;         // of those, repetitions
  uint64_t throttles = 0;       // answers 429 and 503
  uint64_t failures = 0;        // operations that ended in an error
  uint64_t bytes_sent = 0;      // bodies
  uint64_t bytes_received = 0;  // bodies
};

// How often a request may be sent.
enum class Repeat {
  kFreely,        // it is idempotent
  kIfNotApplied,  // again only if the server surely did not act on it
  kNever,         // exactly once
};

struct S3Request {
  std::string operation;  // for messages: "GET", "LIST", "DELETE", ...
  std::string method = "GET";
  std::string key;  // full key; empty: the bucket itself
  QueryParameters query;
  HttpHeaders headers;  // all of them are signed
  std::span<const ConstBytes> body;
  HttpBodySink* sink = nullptr;
  Repeat repeat = Repeat::kFreely;
  bool writes = false;            // it changes the store: a lost answer is kUnknownOutcome
  std::span<const int> accepted;  // statuses beside 2xx that the caller understands
  // Called before each try but the first: adapts the request to what has arrived so far.
  std::function<void(S3Request&)> before_repeat;
  // Looks into a 2xx answer. A failure of code kUnavailable is repeated as the request allows.
  std::function<Status(const HttpResponse&)> check;
};

// Thread-safe.
class S3Client {
 public:
  // `transport` and `credentials` are borrowed and must outlive the client.
  S3Client(Endpoint endpoint, bool unsigned_payload, RetryPolicy policy, HttpTransport& transport,
           CredentialsCache& credentials, std::shared_ptr<Runtime> runtime);

  // The answer: 2xx that passed `check`, or an accepted status. Otherwise an error by errors.h,
  // where for a request that writes every error but kUnknownOutcome means: surely not applied.
  // Repeats with full jitter until the deadline (or the policy's budget); 401 and 403 end at once.
  Result<HttpResponse> Send(S3Request request, const Deadline& deadline);

  RequestLabel LabelOf(const S3Request& request) const;
  const Endpoint& endpoint() const { return endpoint_; }
  Runtime& runtime() const { return *runtime_; }
  const std::shared_ptr<Runtime>& shared_runtime() const { return runtime_; }
  S3Stats stats() const;

 private:
  struct Progress;
  HttpReply SendOnce(const S3Request& request, const Credentials& credentials,
                     const std::string& payload_hash, const Deadline& deadline);
  Verdict Judge(const S3Request& request, const HttpReply& reply);
  Status PlanRepeat(const S3Request& request, const Verdict& verdict, Progress& progress,
                    const Deadline& deadline);
  Status GiveUp(const S3Request& request, const Status& last, const Progress& progress,
                bool out_of_time, const Deadline& deadline);

  const Endpoint endpoint_;
  const bool unsigned_payload_;
  const RetryPolicy policy_;
  HttpTransport& transport_;
  CredentialsCache& credentials_;
  const std::shared_ptr<Runtime> runtime_;

  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> retries_{0};
  std::atomic<uint64_t> throttles_{0};
  std::atomic<uint64_t> failures_{0};
  std::atomic<uint64_t> bytes_sent_{0};
  std::atomic<uint64_t> bytes_received_{0};
};

}  // namespace lakestream::s3

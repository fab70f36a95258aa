// HttpTransport: the seam between the S3 logic and the network. One call is one HTTP exchange.
//
// Two implementations: CurlTransport (curl_http.h) and scripted ones in tests. A transport never
// repeats a request, follows no redirect, and knows nothing of S3.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/runtime.h"
#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream::s3 {

struct HttpHeader {
  std::string name;
  std::string value;
};
using HttpHeaders = std::vector<HttpHeader>;

// The value of the first header of that name (names ignore case); null if there is none.
const std::string* FindHeader(const HttpHeaders& headers, std::string_view name);

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;
  std::string body;  // empty if a sink took it
};

// Takes the body of a successful (2xx) response as it arrives. Confined to the calling thread.
class HttpBodySink {
 public:
  virtual ~HttpBodySink() = default;
  // Once per exchange, when the headers are in and before the first byte. False: the response is
  // of no use; the exchange ends as kAbandoned.
  virtual bool Begin(const HttpResponse& head) = 0;
  // The next bytes of the body. False: as above.
  virtual bool Append(ConstBytes bytes) = 0;
  // Why one of both was false. kUnavailable: another try may help.
  virtual Status problem() const = 0;
};

struct HttpRequest {
  std::string method;  // "GET", "HEAD", "PUT", "POST", "DELETE"
  std::string url;     // complete and percent-encoded; sent as it is
  HttpHeaders headers;
  std::span<const ConstBytes> body;  // borrowed; sent in order, without joining
  HttpBodySink* sink = nullptr;      // borrowed; null: the body goes to HttpResponse::body
  // The body may not be sent a second time, not even over a new connection after a kept one turned
  // out to be dead.
  bool at_most_once = false;
  bool bypass_proxy = false;  // for addresses that exist on this host only
  Duration connect_timeout = std::chrono::seconds(10);
  // The longest time without a byte in either direction.
  Duration stall_timeout = std::chrono::seconds(30);
};

enum class HttpOutcome {
  kAnswered,       // a complete response
  kFailed,         // no complete response: refused, reset, timeout, short body
  kMisconfigured,  // cannot work without a change: bad URL, certificate not accepted
  kAbandoned,      // the sink wanted no more
  kDeadline,       // the deadline passed
  kCancelled,      // the caller cancelled
};

struct HttpReply {
  HttpOutcome outcome = HttpOutcome::kFailed;
  // False only if surely no byte of the request reached a server.
  bool request_sent = false;
  std::string problem;    // what happened, if not kAnswered
  HttpResponse response;  // complete if kAnswered; else what arrived of it
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
};

// Thread-safe. Blocks until the exchange is over or `deadline` says so (cancellation is noticed
// within about 50 ms).
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  virtual HttpReply Send(const HttpRequest& request, const Deadline& deadline) = 0;
};

}  // namespace lakestream::s3

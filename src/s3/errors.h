// What an HTTP exchange means: which Status, whether a repetition can help, and whether the request
// may have been applied. The only place where S3's error codes are understood. Pure, thread-safe.
#pragma once

#include <optional>
#include <string>

#include "lakestream/runtime.h"
#include "lakestream/status.h"
#include "s3/http.h"

namespace lakestream::s3 {

// What a message says about the request that failed.
struct RequestLabel {
  std::string operation;  // "GET", "HEAD", "LIST", ...
  std::string object;     // "s3://bucket/key"
  std::string endpoint;   // "http://host:port"
  std::string region;
};

struct Verdict {
  Status status;              // never OK; one line
  bool repeat_helps = false;  // the cause may pass by itself
  // The server surely did not act on the request. False also covers "not known".
  bool surely_not_applied = false;
  bool throttled = false;         // the store asked to slow down
  bool expired_keys = false;      // the credentials' time is over: renew them
  std::optional<Duration> after;  // Retry-After
};

// Judges a reply that is no success. `wall_ms` is the time of the answer, for a Retry-After that
// is a date.
Verdict JudgeReply(const RequestLabel& label, const HttpReply& reply, int64_t wall_ms);
// The same for the error code that S3 puts into a document with HTTP 200, or for one key.
Verdict JudgeErrorCode(const RequestLabel& label, int http_status, const std::string& code,
                       const std::string& message, const std::string& request_id);

}  // namespace lakestream::s3

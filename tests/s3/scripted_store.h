// An S3Store whose server is scripted by the test, with delays short enough for one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "lakestream/object_store.h"
#include "s3/s3_store.h"
#include "tests/support/scripted_http_server.h"

namespace lakestream::s3 {

// An environment of these variables only, so that the machine's own has no say.
inline Environment FakeEnvironment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto entry = variables.find(name);
    return entry == variables.end() ? std::nullopt : std::optional(entry->second);
  };
}

inline constexpr char kTestSecret[] = "verySecretKey0123456789";
inline constexpr char kTestToken[] = "verySecretSessionToken987";

inline std::map<std::string, std::string> TestKeys() {
  return {{"AWS_ACCESS_KEY_ID", "AKIDTEST"},
          {"AWS_SECRET_ACCESS_KEY", kTestSecret},
          {"AWS_SESSION_TOKEN", kTestToken},
          {"AWS_EC2_METADATA_DISABLED", "true"}};
}

inline RetryPolicy FastRetries() {
  RetryPolicy policy;
  policy.delay_base = std::chrono::milliseconds(1);
  policy.delay_max = std::chrono::milliseconds(8);
  policy.budget_max = std::chrono::seconds(5);
  policy.stall_timeout = std::chrono::milliseconds(150);
  return policy;
}

// Collects what is logged. Thread-safe.
class LogLines {
 public:
  LogSink sink() {
    return [this](LogLevel, std::string_view line) {
      MutexLock lock(mutex_);
      lines_.emplace_back(line);
    };
  }
  std::vector<std::string> lines() {
    MutexLock lock(mutex_);
    return lines_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> lines_ LS_GUARDED_BY(mutex_);
};

// A server and a store of its bucket "bucket", prefix "p".
struct ScriptedStore {
  explicit ScriptedStore(ScriptedHttpServer::Handler handler, StoreOptions options = {},
                         std::map<std::string, std::string> environment = TestKeys(),
                         RetryPolicy policy = FastRetries())
      : server(std::move(handler)), runtime(RealRuntime(log.sink())) {
    if (options.endpoint.empty()) options.endpoint = server.url();
    S3Parts parts;
    parts.environment = FakeEnvironment(std::move(environment));
    parts.retry = policy;
    store = *OpenS3Store("bucket", "p", options, runtime, std::move(parts));
  }
  Deadline In(int ms) { return After(*runtime, std::chrono::milliseconds(ms)); }

  LogLines log;
  ScriptedHttpServer server;
  std::shared_ptr<Runtime> runtime;
  std::unique_ptr<S3Store> store;
};

inline ScriptedReply ErrorReply(int status, const std::string& code,
                                const std::string& message = "scripted") {
  return {.status = status,
          .headers = {{"x-amz-request-id", "tx-scripted"}},
          .body = "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>" + message +
                  "</Message></Error>"};
}

inline ScriptedReply StoredReply() {
  return {.headers = {{"ETag", "\"e1\""}, {"Date", "Fri, 24 May 2013 00:00:00 GMT"}}};
}

}  // namespace lakestream::s3

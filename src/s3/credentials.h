// Who signs the requests: where keys come from, and when they are renewed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lakestream/runtime.h"
#include "lakestream/status.h"
#include "s3/http.h"
#include "s3/settings.h"

namespace lakestream::s3 {

// Secrets: never put into a message, a log line or Describe().
struct Credentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  // empty for long-lived keys
  int64_t expires_ms = 0;     // wall clock; 0: never
  std::string source;         // for messages: "the environment", "instance metadata", ...
};

// One place that may hold credentials. Thread-safe.
class CredentialsSource {
 public:
  virtual ~CredentialsSource() = default;
  // nullopt: this place is not configured, look at the next one. An error: it is configured, but
  // does not work; the search ends.
  virtual Result<std::optional<Credentials>> Load(const Deadline& deadline) = 0;
};

// The places that AWS's own tools look at, in their order: the profile if StoreOptions names one;
// environment; web identity (token file and role); shared credentials and config files; container
// endpoint; instance metadata. `transport` is borrowed and must outlive the sources.
std::vector<std::unique_ptr<CredentialsSource>> DefaultSources(const S3Settings& settings,
                                                               const Environment& environment,
                                                               HttpTransport& transport,
                                                               std::shared_ptr<Runtime> runtime);

// Keeps the credentials in use and renews them before they expire: within the last quarter of
// their life, at most 5 minutes ahead. One thread renews, others go on with the valid ones.
// Thread-safe.
class CredentialsCache {
 public:
  CredentialsCache(std::vector<std::unique_ptr<CredentialsSource>> sources,
                   std::shared_ptr<Runtime> runtime);

  // Valid credentials. kUnauthenticated if there are none, naming the places that were looked at.
  Result<std::shared_ptr<const Credentials>> Get(const Deadline& deadline);
  // The store says that these have expired: the next Get() loads anew unless that has been done.
  void Reject(const std::shared_ptr<const Credentials>& rejected);

 private:
  Result<std::shared_ptr<const Credentials>> Load(const Deadline& deadline);
  bool Valid(int64_t now_ms) const LS_REQUIRES(mutex_);

  const std::vector<std::unique_ptr<CredentialsSource>> sources_;
  const std::shared_ptr<Runtime> runtime_;
  const std::unique_ptr<Condition> changed_;
  Mutex mutex_;
  std::shared_ptr<const Credentials> current_ LS_GUARDED_BY(mutex_);
  int64_t renew_ms_ LS_GUARDED_BY(mutex_) = 0;  // when to renew; 0: never
  bool loading_ LS_GUARDED_BY(mutex_) = false;
};

}  // namespace lakestream::s3

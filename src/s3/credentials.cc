#include "s3/credentials.h"

#include <algorithm>

#include "base/text.h"

namespace lakestream::s3 {
namespace {

constexpr int64_t kRenewAheadMs = 5 * 60 * 1000;
// After a failed renewal, while the old credentials still work.
constexpr int64_t kRenewRetryMs = 10 * 1000;
constexpr Duration kCancelCheck = std::chrono::milliseconds(50);

}  // namespace

CredentialsCache::CredentialsCache(std::vector<std::unique_ptr<CredentialsSource>> sources,
                                   std::shared_ptr<Runtime> runtime)
    : sources_(std::move(sources)),
      runtime_(std::move(runtime)),
      changed_(runtime_->NewCondition()) {}

bool CredentialsCache::Valid(int64_t now_ms) const {
  return current_ != nullptr && (current_->expires_ms == 0 || now_ms < current_->expires_ms);
}

Result<std::shared_ptr<const Credentials>> CredentialsCache::Get(const Deadline& deadline) {
  std::shared_ptr<const Credentials> usable;
  {
    MutexLock lock(mutex_);
    while (true) {
      const int64_t now_ms = runtime_->WallTimeMs();
      const bool valid = Valid(now_ms);
      if (valid && (loading_ || renew_ms_ == 0 || now_ms < renew_ms_)) return current_;
      if (!loading_) {
        loading_ = true;
        if (valid) usable = current_;
        break;
      }
      LS_RETURN_IF_ERROR(CheckDeadline(*runtime_, deadline, "waiting for credentials"));
      changed_->WaitUntil(mutex_, deadline.Sooner(runtime_->Now() + kCancelCheck).at);
    }
  }
  Result<std::shared_ptr<const Credentials>> loaded = Load(deadline);
  const int64_t now_ms = runtime_->WallTimeMs();
  MutexLock lock(mutex_);
  loading_ = false;
  changed_->NotifyAll();
  if (!loaded.ok()) {
    if (usable == nullptr) return loaded.status();
    renew_ms_ = now_ms + kRenewRetryMs;
    runtime_->Log(LogLevel::kWarning, Str("credentials could not be renewed, the old ones are "
                                          "used until they expire: ",
                                          loaded.status().message()));
    return usable;
  }
  current_ = *loaded;
  renew_ms_ = 0;
  if (current_->expires_ms != 0) {
    const int64_t life_ms = std::max<int64_t>(current_->expires_ms - now_ms, 0);
    renew_ms_ = current_->expires_ms - std::min(kRenewAheadMs, life_ms / 4);
  }
  return current_;
}

void CredentialsCache::Reject(const std::shared_ptr<const Credentials>& rejected) {
  MutexLock lock(mutex_);
  if (current_ == rejected) current_ = nullptr;
}

Result<std::shared_ptr<const Credentials>> CredentialsCache::Load(const Deadline& deadline) {
  for (const auto& source : sources_) {
    LS_ASSIGN_OR_RETURN(std::optional<Credentials> found, source->Load(deadline));
    if (found) return std::shared_ptr<const Credentials>(new Credentials(*std::move(found)));
  }
  return UnauthenticatedError(
      "no credentials were found: looked at AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
      "AWS_WEB_IDENTITY_TOKEN_FILE, the shared credentials and config files, the container "
      "endpoint and instance metadata; set one of them");
}

}  // namespace lakestream::s3

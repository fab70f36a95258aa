#include "s3/credentials.h"

#include <gtest/gtest.h>

#include <fstream>

#include "s3/curl_http.h"
#include "s3/sigv4.h"
#include "s3/times.h"
#include "tests/s3/scripted_store.h"
#include "tests/support/scoped_dir.h"
#include "tests/support/scripted_http_server.h"
#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

// "2013-05-24T00:00:00Z"
std::string IsoTime(int64_t ms) {
  const std::string text = AmzDate(ms);
  return text.substr(0, 4) + "-" + text.substr(4, 2) + "-" + text.substr(6, 2) + "T" +
         text.substr(9, 2) + ":" + text.substr(11, 2) + ":" + text.substr(13, 2) + "Z";
}

class CredentialsTest : public ::testing::Test {
 protected:
  Result<std::shared_ptr<const Credentials>> Find(std::map<std::string, std::string> environment,
                                                  const StoreOptions& options = {}) {
    environment.try_emplace("AWS_EC2_METADATA_DISABLED", "true");
    const Environment fake = FakeEnvironment(std::move(environment));
    cache_ = std::make_unique<CredentialsCache>(
        DefaultSources(ResolveSettings(options, fake), fake, *transport_, runtime_), runtime_);
    return cache_->Get(In(3000));
  }
  Deadline In(int ms) { return After(*runtime_, std::chrono::milliseconds(ms)); }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name, std::ios::trunc) << text;
    return dir_ / name;
  }
  std::string Document(const std::string& id, int64_t expires_in_ms) {
    return "{\"AccessKeyId\":\"" + id +
           "\",\"SecretAccessKey\":\"s\",\"Token\":\"t\",\"Expiration\":\"" +
           IsoTime(runtime_->WallTimeMs() + expires_in_ms) + "\"}";
  }
  std::string StsDocument(const std::string& id, int64_t expires_in_ms) {
    return "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
           "<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>" +
           id +
           "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
           "<Expiration>" +
           IsoTime(runtime_->WallTimeMs() + expires_in_ms) +
           "</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
           "</AssumeRoleWithWebIdentityResponse>";
  }

  ScopedDir dir_;
  std::shared_ptr<Runtime> runtime_ = RealRuntime();
  std::unique_ptr<HttpTransport> transport_ = NewCurlTransport(runtime_, {});
  std::unique_ptr<CredentialsCache> cache_;
};

TEST_F(CredentialsTest, TheEnvironmentGoesBeforeFiles) {
  const std::string file =
      Write("credentials", "[default]\naws_access_key_id=F\naws_secret_access_key=f\n");
  auto keys = Find({{"AWS_ACCESS_KEY_ID", "E"},
                    {"AWS_SECRET_ACCESS_KEY", "e"},
                    {"AWS_SESSION_TOKEN", "t"},
                    {"AWS_SHARED_CREDENTIALS_FILE", file}});
  ASSERT_THAT(keys, IsOk());
  EXPECT_EQ((*keys)->access_key_id, "E");
  EXPECT_EQ((*keys)->session_token, "t");
}

TEST_F(CredentialsTest, ANamedProfileGoesBeforeTheEnvironment) {
  const std::string file =
      Write("credentials", "[p]\naws_access_key_id=F\naws_secret_access_key=f\n");
  StoreOptions options;
  options.profile = "p";
  auto keys = Find({{"AWS_ACCESS_KEY_ID", "E"},
                    {"AWS_SECRET_ACCESS_KEY", "e"},
                    {"AWS_SHARED_CREDENTIALS_FILE", file}},
                   options);
  ASSERT_THAT(keys, IsOk());
  EXPECT_EQ((*keys)->access_key_id, "F");
  options.profile = "missing";
  EXPECT_THAT(Find({{"AWS_SHARED_CREDENTIALS_FILE", file}}, options),
              IsCode(Code::kUnauthenticated));
}

TEST_F(CredentialsTest, TheConfigFilesProfileIsUsedAndHalfAPairIsToldApart) {
  const std::string file =
      Write("config", "[profile p]\naws_access_key_id=C\naws_secret_access_key=c\n");
  auto keys = Find({{"AWS_CONFIG_FILE", file}, {"AWS_PROFILE", "p"}});
  ASSERT_THAT(keys, IsOk());
  EXPECT_EQ((*keys)->access_key_id, "C");
  EXPECT_THAT(Find({{"AWS_ACCESS_KEY_ID", "E"}, {"AWS_CONFIG_FILE", file}, {"AWS_PROFILE", "p"}}),
              IsCode(Code::kUnauthenticated));
}

TEST_F(CredentialsTest, NoCredentialsAnywhereIsUnauthenticated) {
  EXPECT_THAT(Find({}), IsCode(Code::kUnauthenticated));
}

TEST_F(CredentialsTest, AProfileThatNeedsAnotherToolIsRefusedWithAdvice) {
  const std::string file = Write("config", "[default]\nsso_session = x\n");
  EXPECT_THAT(Find({{"AWS_CONFIG_FILE", file}}), IsCode(Code::kUnauthenticated));
}

TEST_F(CredentialsTest, InstanceMetadataIsAskedWithASessionToken) {
  ScriptedHttpServer server([&](const ScriptedRequest& request) -> ScriptedReply {
    if (request.method == "PUT") return {.body = "imds-token"};
    if (request.headers.count("x-aws-ec2-metadata-token") == 0) return {.status = 401};
    if (request.target == "/latest/meta-data/iam/security-credentials/") return {.body = "role\n"};
    return {.body = Document("I", 3600 * 1000)};
  });
  auto keys = Find({{"AWS_EC2_METADATA_DISABLED", "false"},
                    {"AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url()}});
  ASSERT_THAT(keys, IsOk());
  EXPECT_EQ((*keys)->access_key_id, "I");
  EXPECT_EQ(server.requests()[2].target, "/latest/meta-data/iam/security-credentials/role");
}

TEST_F(CredentialsTest, TheContainerEndpointGetsItsTokenFromAFile) {
  ScriptedHttpServer server([&](const ScriptedRequest& request) -> ScriptedReply {
    const auto token = request.headers.find("authorization");
    if (token == request.headers.end() || token->second != "secret") return {.status = 403};
    return {.body = Document("C", 3600 * 1000)};
  });
  auto keys = Find({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url() + "/keys"},
                    {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Write("token", "secret\n")}});
  ASSERT_THAT(keys, IsOk());
  EXPECT_EQ((*keys)->access_key_id, "C");
  EXPECT_THAT(Find({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url()}}),
              IsCode(Code::kUnauthenticated));
}

TEST_F(CredentialsTest, D11KeysAreRenewedBeforeTheyExpireWithTheNewTokenFile) {
  const std::string token = Write("token", "first\n");
  ScriptedHttpServer server([&](const ScriptedRequest& request) -> ScriptedReply {
    return {.body = StsDocument("K" + std::to_string(request.number), 3000)};
  });
  auto first = Find({{"AWS_WEB_IDENTITY_TOKEN_FILE", token},
                     {"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"},
                     {"AWS_ENDPOINT_URL_STS", server.url()}});
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ((*first)->access_key_id, "K0");
  EXPECT_EQ((*cache_->Get(In(1000)))->access_key_id, "K0");
  Write("token", "second");
  // Whole seconds in the document: it lives 2 to 3 s, and is renewed in the last quarter.
  std::shared_ptr<const Credentials> keys = *first;
  while (keys->access_key_id == "K0") {
    ASSERT_THAT(SleepFor(*runtime_, std::chrono::milliseconds(20), In(5000)), IsOk());
    keys = *cache_->Get(In(1000));
    EXPECT_LT(runtime_->WallTimeMs(), keys->expires_ms);
  }
  EXPECT_NE(server.requests()[1].body.find("WebIdentityToken=second"), std::string::npos);
}

TEST_F(CredentialsTest, D11RejectedKeysAreLoadedAnewOnce) {
  ScriptedHttpServer server([&](const ScriptedRequest& request) -> ScriptedReply {
    return {.body = Document("K" + std::to_string(request.number), 3600 * 1000)};
  });
  auto old = *Find({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url()}});
  cache_->Reject(old);
  cache_->Reject(old);
  auto renewed = *cache_->Get(In(1000));
  EXPECT_EQ(renewed->access_key_id, "K1");
  cache_->Reject(old);  // another thread, late: the new keys stay
  EXPECT_EQ((*cache_->Get(In(1000)))->access_key_id, "K1");
  EXPECT_EQ(server.request_count(), 2u);
}

TEST_F(CredentialsTest, ManyThreadsLoadOnce) {
  ScriptedHttpServer server([&](const ScriptedRequest&) -> ScriptedReply {
    return {.body = Document("K", 3600 * 1000), .delay_ms = 30};
  });
  const Environment fake = FakeEnvironment({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url()}});
  CredentialsCache cache(DefaultSources(ResolveSettings({}, fake), fake, *transport_, runtime_),
                         runtime_);
  std::vector<std::unique_ptr<Thread>> threads;
  for (int i = 0; i < 8; ++i) {
    threads.push_back(runtime_->Spawn("get", [&] { EXPECT_THAT(cache.Get(In(2000)), IsOk()); }));
  }
  for (auto& thread : threads) thread->Join();
  EXPECT_EQ(server.request_count(), 1u);
}

TEST_F(CredentialsTest, AFailedRenewalKeepsTheKeysThatStillWork) {
  ScriptedHttpServer server([&](const ScriptedRequest& request) -> ScriptedReply {
    if (request.number > 0) return {.status = 400};
    return {.body = Document("K", 2900)};
  });
  ASSERT_THAT(Find({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url()}}), IsOk());
  while (server.request_count() < 2) {
    auto keys = cache_->Get(In(1000));
    ASSERT_THAT(keys, IsOk());
    EXPECT_EQ((*keys)->access_key_id, "K");
    ASSERT_THAT(SleepFor(*runtime_, std::chrono::milliseconds(10), In(5000)), IsOk());
  }
}

}  // namespace
}  // namespace lakestream::s3

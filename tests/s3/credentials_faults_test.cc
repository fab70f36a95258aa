// D11: temporary credentials that expire in mid-flight.
#include <gtest/gtest.h>

#include "tests/s3/scripted_store.h"
#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

// Hands out keys K0, K1, ... that claim to live long; the store rejects all before `good`.
class ExpiringServers {
 public:
  explicit ExpiringServers(uint64_t good)
      : keys_([](const ScriptedRequest& request) -> ScriptedReply {
          return {.body = "{\"AccessKeyId\":\"K" + std::to_string(request.number) +
                          "\",\"SecretAccessKey\":\"s\",\"Token\":\"t\",\"Expiration\":"
                          "\"2999-01-01T00:00:00Z\"}"};
        }),
        s_(
            [good](const ScriptedRequest& request) -> ScriptedReply {
              const std::string needle = "Credential=K" + std::to_string(good) + "/";
              const bool known =
                  request.headers.at("authorization").find(needle) != std::string::npos;
              return known ? StoredReply() : ErrorReply(400, "ExpiredToken");
            },
            {}, {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", keys_.url()}}) {}

  uint64_t keys_loaded() const { return keys_.request_count(); }
  ScriptedStore& s() { return s_; }

 private:
  ScriptedHttpServer keys_;
  ScriptedStore s_;
};

TEST(CredentialsFaultsTest, D11AnExpiredTokenIsRenewedOnceAndTheRequestRepeated) {
  ExpiringServers servers(1);
  EXPECT_THAT(servers.s().store->Get("k", {}, servers.s().In(1000)), IsOk());
  EXPECT_THAT(servers.s().store->Get("k", {}, servers.s().In(1000)), IsOk());
  EXPECT_EQ(servers.keys_loaded(), 2u);
}

TEST(CredentialsFaultsTest, D11KeysThatStayExpiredFailAfterOneRenewal) {
  ExpiringServers servers(99);
  EXPECT_THAT(servers.s().store->Get("k", {}, servers.s().In(1000)),
              IsCode(Code::kUnauthenticated));
  EXPECT_EQ(servers.keys_loaded(), 2u);
  EXPECT_EQ(servers.s().server.request_count(), 2u);
}

TEST(CredentialsFaultsTest, D11AConditionalPutIsLeftToItsCallerButTheKeysAreRenewed) {
  ExpiringServers servers(1);
  ScriptedStore& s = servers.s();
  EXPECT_THAT(PutBytes(*s.store, "k", AsBytes("d"), {.if_absent = true}, s.In(1000)),
              IsCode(Code::kUnavailable));
  EXPECT_THAT(PutBytes(*s.store, "k", AsBytes("d"), {.if_absent = true}, s.In(1000)), IsOk());
}

TEST(CredentialsFaultsTest, WithoutCredentialsNothingIsSent) {
  ScriptedStore s([](const ScriptedRequest&) { return StoredReply(); }, {},
                  {{"AWS_EC2_METADATA_DISABLED", "true"}});
  EXPECT_THAT(s.store->Get("k", {}, s.In(1000)), IsCode(Code::kUnauthenticated));
  EXPECT_EQ(s.server.request_count(), 0u);
}

}  // namespace
}  // namespace lakestream::s3

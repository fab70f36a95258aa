// D16: private certificate authorities and proxies. D8: dotted buckets over TLS.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/s3/scripted_store.h"
#include "tests/support/scoped_dir.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_certificates.h"

namespace lakestream::s3 {
namespace {

class TlsTest : public ::testing::Test {
 protected:
  Result<ObjectInfo> Head(const StoreOptions& given, std::map<std::string, std::string> environment,
                          std::string_view bucket = "bucket") {
    StoreOptions options = given;
    options.endpoint = server_.url();
    S3Parts parts;
    for (const auto& [name, value] : TestKeys()) environment.emplace(name, value);
    parts.environment = FakeEnvironment(std::move(environment));
    parts.retry = FastRetries();
    auto store = *OpenS3Store(bucket, "", options, runtime_, std::move(parts));
    return store->Head("k", After(*runtime_, std::chrono::seconds(3)));
  }

  ScopedDir dir_;
  TestCertificates files_ = MakeTestCertificates(dir_.path());
  std::shared_ptr<Runtime> runtime_ = RealRuntime();
  ScriptedHttpServer server_{[](const ScriptedRequest&) { return StoredReply(); },
                             {files_.certificate_file, files_.key_file}};
};

TEST_F(TlsTest, D16APrivateAuthorityIsTrustedWhenGiven) {
  StoreOptions options;
  options.ca_bundle = files_.authority_file;
  EXPECT_THAT(Head(options, {}), IsOk());
  EXPECT_THAT(Head({}, {{"AWS_CA_BUNDLE", files_.authority_file}}), IsOk());
  EXPECT_THAT(Head({}, {{"SSL_CERT_FILE", files_.authority_file}}), IsOk());
}

TEST_F(TlsTest, D16AnUnknownAuthorityFailsAtOnceWithAdvice) {
  const TimePoint start = runtime_->Now();
  const Status status = Head({}, {}).status();
  EXPECT_THAT(status, IsCode(Code::kFailedPrecondition));
  EXPECT_NE(status.message().find("ca_bundle"), std::string::npos) << status;
  EXPECT_LT(runtime_->Now() - start, std::chrono::seconds(1));
  EXPECT_EQ(server_.request_count(), 0u);
}

TEST_F(TlsTest, D16ACaBundleThatCannotBeReadIsTold) {
  StoreOptions options;
  options.ca_bundle = dir_ / "missing.pem";
  EXPECT_THAT(Head(options, {}), IsCode(Code::kFailedPrecondition));
}

TEST_F(TlsTest, D8ADottedBucketWorksOverTls) {
  EXPECT_THAT(Head({}, {{"AWS_CA_BUNDLE", files_.authority_file}}, "a.b.c"), IsOk());
  EXPECT_EQ(server_.requests()[0].target, "/a.b.c/k");
}

// libcurl reads the process's own environment.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST_F(TlsTest, D16NoProxyIsHonouredAndTheProxyOtherwise) {
  ScriptedHttpServer proxy([](const ScriptedRequest&) { return ScriptedReply{.status = 403}; });
  ScopedVariable https_proxy("HTTPS_PROXY", proxy.url());
  const std::map<std::string, std::string> trust{{"AWS_CA_BUNDLE", files_.authority_file}};
  {
    ScopedVariable no_proxy("NO_PROXY", "localhost,127.0.0.1");
    EXPECT_THAT(Head({}, trust), IsOk());
    EXPECT_EQ(proxy.request_count(), 0u);
  }
  ScopedVariable none("NO_PROXY", "elsewhere");
  EXPECT_FALSE(Head({}, trust).ok());
  ASSERT_GT(proxy.request_count(), 0u);
  EXPECT_EQ(proxy.requests()[0].method, "CONNECT");
}

}  // namespace
}  // namespace lakestream::s3

// D1, D2, D10, D13 and how errors are told.
#include <gtest/gtest.h>

#include "tests/s3/scripted_store.h"
#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

using Handler = ScriptedHttpServer::Handler;

// Fails the first `count` requests, then answers as a store with one empty object.
Handler FailFirst(int count, ScriptedReply failure) {
  return [=](const ScriptedRequest& request) -> ScriptedReply {
    if (request.number < static_cast<uint64_t>(count)) return failure;
    ScriptedReply reply = StoredReply();
    if (request.target.find("list-type") != std::string::npos) {
      reply.body = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
    }
    return reply;
  };
}

// Each idempotent operation once; the number of failed ones.
int RunIdempotentOperations(ScriptedStore& s, const Deadline& deadline) {
  int failed = 0;
  const auto count = [&](const Status& status) {
    if (!status.ok()) ++failed;
    EXPECT_THAT(status, IsOk());
  };
  count(s.store->Get("k", {}, deadline).status());
  count(PutBytes(*s.store, "k", AsBytes("data"), {}, deadline).status());
  count(s.store->Head("k", deadline).status());
  count(s.store->List({}, deadline).status());
  const std::string key = "k";
  count(s.store->Delete({&key, 1}, deadline));
  return failed;
}

TEST(RetryTest, D1SlowDownIsWaitedOutAndCounted) {
  ScriptedStore s(FailFirst(12, ErrorReply(503, "SlowDown")));
  EXPECT_EQ(RunIdempotentOperations(s, s.In(5000)), 0);
  const S3Stats stats = s.store->stats();
  EXPECT_EQ(stats.throttles, 12u);
  EXPECT_EQ(stats.retries, 12u);
  EXPECT_EQ(stats.requests, 17u);
  EXPECT_EQ(stats.failures, 0u);
  EXPECT_FALSE(s.log.lines().empty()) << "a long outage is told to the operator";
}

TEST(RetryTest, D1SlowDownToTheEndIsADeadlineThatNamesTheCause) {
  ScriptedStore s([](const ScriptedRequest&) { return ErrorReply(503, "SlowDown"); });
  const TimePoint start = s.runtime->Now();
  const Status status = s.store->Head("k", s.In(200)).status();
  EXPECT_THAT(status, IsCode(Code::kDeadlineExceeded));
  EXPECT_GT(s.store->stats().throttles, 5u);
  EXPECT_LT(s.runtime->Now() - start, std::chrono::milliseconds(400));
  EXPECT_NE(status.message().find("503"), std::string::npos);
}

TEST(RetryTest, WithoutADeadlineTheBudgetEndsTheRetries) {
  RetryPolicy policy = FastRetries();
  policy.budget_max = std::chrono::milliseconds(100);
  ScriptedStore s([](const ScriptedRequest&) { return ErrorReply(503, "SlowDown"); }, {},
                  TestKeys(), policy);
  const Status status = s.store->Head("k", Deadline::Never()).status();
  EXPECT_THAT(status, IsCode(Code::kUnavailable));
  EXPECT_THAT(status, HasReason(Reason::kThrottled));
}

TEST(RetryTest, D2EveryStatusThatMayPassIsRepeated) {
  for (int status : {408, 429, 500, 502, 503, 504}) {
    ScriptedStore s(FailFirst(2, {.status = status, .body = "<html>gateway</html>"}));
    EXPECT_EQ(RunIdempotentOperations(s, s.In(5000)), 0) << status;
    EXPECT_EQ(s.store->stats().retries, 2u) << status;
  }
}

TEST(RetryTest, D2ADroppedConnectionIsRepeated) {
  for (const ScriptedReply& fault :
       {ScriptedReply{.close_without_answer = true},
        ScriptedReply{.close_without_answer = true, .reset = true},
        ScriptedReply{.raw = "HTTP/1.1 200 OK\r\nConte", .keep_alive = false},
        ScriptedReply{.raw = "garbage", .keep_alive = false}}) {
    ScriptedStore s(FailFirst(2, fault));
    EXPECT_EQ(RunIdempotentOperations(s, s.In(5000)), 0) << fault.raw;
  }
}

TEST(RetryTest, D2AServerThatStopsAnsweringIsLeftForANewTry) {
  ScriptedReply silent = StoredReply();
  silent.delay_ms = 400;  // the test's policy gives up after 150
  ScriptedStore s(FailFirst(1, silent));
  EXPECT_THAT(s.store->Head("k", s.In(5000)), IsOk());
  EXPECT_EQ(s.store->stats().retries, 1u);
}

TEST(RetryTest, D2RetryAfterIsObeyed) {
  ScriptedReply busy = ErrorReply(503, "SlowDown");
  busy.headers.push_back({"Retry-After", "1"});
  ScriptedStore s(FailFirst(1, busy));
  const TimePoint start = s.runtime->Now();
  EXPECT_THAT(s.store->Head("k", s.In(5000)), IsOk());
  EXPECT_GE(s.runtime->Now() - start, std::chrono::milliseconds(1000));
}

TEST(RetryTest, D2ARetryAfterBehindTheDeadlineEndsTheCallAtOnce) {
  ScriptedReply busy = ErrorReply(429, "TooManyRequests");
  busy.headers.push_back({"Retry-After", "30"});
  ScriptedStore s(FailFirst(1, busy));
  EXPECT_THAT(s.store->Head("k", s.In(2000)), IsCode(Code::kDeadlineExceeded));
  EXPECT_EQ(s.server.request_count(), 1u);
}

TEST(RetryTest, D13WrongCredentialsFailAtOnce) {
  const struct {
    int status;
    const char* s3_code;
    Code code;
  } cases[] = {{403, "AccessDenied", Code::kPermissionDenied},
               {403, "InvalidAccessKeyId", Code::kUnauthenticated},
               {403, "SignatureDoesNotMatch", Code::kUnauthenticated},
               {403, "RequestTimeTooSkewed", Code::kUnauthenticated},
               {401, "Unauthorized", Code::kUnauthenticated},
               {403, "SomethingNew", Code::kPermissionDenied}};
  for (const auto& c : cases) {
    ScriptedStore s([&](const ScriptedRequest&) { return ErrorReply(c.status, c.s3_code); });
    const Status status = s.store->Get("dir/key", {}, s.In(5000)).status();
    EXPECT_THAT(status, IsCode(c.code)) << c.s3_code;
    EXPECT_EQ(s.server.request_count(), 1u) << c.s3_code;
    for (const std::string& part :
         {std::string("s3://bucket/p/dir/key"), std::string(c.s3_code), std::to_string(c.status),
          std::string("tx-scripted"), s.server.url()}) {
      EXPECT_NE(status.message().find(part), std::string::npos) << part << " in " << status;
    }
  }
}

TEST(RetryTest, D13SecretsAreInNoMessageAndNoLog) {
  for (const ScriptedReply& reply :
       {ErrorReply(403, "SignatureDoesNotMatch", "line\nbreak"), ErrorReply(503, "SlowDown"),
        ErrorReply(400, "ExpiredToken"), ScriptedReply{.close_without_answer = true},
        ErrorReply(500, "InternalError"), ErrorReply(301, "PermanentRedirect")}) {
    ScriptedStore s([&](const ScriptedRequest&) { return reply; });
    const std::string key = "k";
    std::vector<std::string> texts{
        s.store->Get("k", {}, s.In(60)).status().message(),
        PutBytes(*s.store, "k", AsBytes("d"), {}, s.In(60)).status().message(),
        PutBytes(*s.store, "k", AsBytes("d"), {.if_absent = true}, s.In(60)).status().message(),
        s.store->List({}, s.In(60)).status().message(),
        s.store->Delete({&key, 1}, s.In(60)).message(),
        s.store->Describe()};
    for (std::string& line : s.log.lines()) texts.push_back(std::move(line));
    for (const std::string& text : texts) {
      EXPECT_FALSE(text.empty());
      for (const char* secret : {kTestSecret, kTestToken, "Signature=", "AWS4-HMAC"}) {
        EXPECT_EQ(text.find(secret), std::string::npos) << text;
      }
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }
}

TEST(RetryTest, AMissingBucketIsNotAMissingObject) {
  ScriptedStore s([](const ScriptedRequest& request) -> ScriptedReply {
    if (request.method == "HEAD") return {.status = 404};
    return ErrorReply(404, "NoSuchBucket");
  });
  EXPECT_THAT(s.store->Head("k", s.In(1000)), IsCode(Code::kFailedPrecondition));
  EXPECT_THAT(s.store->Get("k", {}, s.In(1000)), IsCode(Code::kFailedPrecondition));
  EXPECT_THAT(s.store->List({}, s.In(1000)), IsCode(Code::kFailedPrecondition));
  EXPECT_THAT(PutBytes(*s.store, "k", AsBytes("d"), {.if_absent = true}, s.In(1000)),
              IsCode(Code::kFailedPrecondition));
  const std::string keys[] = {"k", "l"};
  EXPECT_THAT(s.store->Delete(keys, s.In(1000)), IsCode(Code::kFailedPrecondition));
  EXPECT_THAT(s.store->Delete({keys, 1}, s.In(1000)), IsCode(Code::kFailedPrecondition));
}

TEST(RetryTest, AMissingObjectInABucketThatIsThereIsNotFound) {
  ScriptedStore s([](const ScriptedRequest& request) -> ScriptedReply {
    if (request.target == "/bucket") return {};
    return request.method == "HEAD" ? ScriptedReply{.status = 404} : ErrorReply(404, "NoSuchKey");
  });
  EXPECT_THAT(s.store->Head("k", s.In(1000)), IsCode(Code::kNotFound));
  EXPECT_THAT(s.store->Head("k", s.In(1000)), IsCode(Code::kNotFound));
  EXPECT_EQ(s.server.request_count(), 3u) << "the bucket is asked for once";
  EXPECT_THAT(s.store->Get("k", {}, s.In(1000)), IsCode(Code::kNotFound));
}

TEST(RetryTest, AWrongRegionNamesTheRightOne) {
  for (const auto& [status, code] :
       {std::pair(301, "PermanentRedirect"), std::pair(400, "AuthorizationHeaderMalformed")}) {
    ScriptedReply reply = ErrorReply(status, code);
    reply.headers.push_back({"x-amz-bucket-region", "eu-west-3"});
    ScriptedStore s([&](const ScriptedRequest&) { return reply; });
    const Status got = s.store->Get("k", {}, s.In(1000)).status();
    EXPECT_THAT(got, IsCode(Code::kFailedPrecondition));
    EXPECT_NE(got.message().find("eu-west-3"), std::string::npos);
  }
}

TEST(RetryTest, AnUnreachableEndpointIsToldWithItsAddress) {
  StoreOptions options;
  options.endpoint = "http://127.0.0.1:1";
  ScriptedStore s([](const ScriptedRequest&) { return StoredReply(); }, options);
  const Status status = s.store->Head("k", s.In(100)).status();
  EXPECT_THAT(status, IsCode(Code::kDeadlineExceeded));
  EXPECT_NE(status.message().find("127.0.0.1:1"), std::string::npos) << status;
  // Nothing was sent, so a write surely was not applied.
  EXPECT_THAT(PutBytes(*s.store, "k", AsBytes("d"), {}, s.In(100)),
              IsCode(Code::kDeadlineExceeded));
}

TEST(RetryTest, AnUnconditionalPutWhoseAnswerIsLostToTheEndHasAnUnknownOutcome) {
  ScriptedStore s([](const ScriptedRequest&) { return ErrorReply(500, "InternalError"); });
  EXPECT_THAT(PutBytes(*s.store, "k", AsBytes("d"), {}, s.In(600)), IsCode(Code::kUnknownOutcome));
  EXPECT_GT(s.server.request_count(), 2u);
}

TEST(RetryTest, CancellingEndsACallThatWaits) {
  ScriptedReply late = StoredReply();
  late.delay_ms = 140;
  ScriptedStore s([&](const ScriptedRequest&) { return late; });
  CancelToken token;
  auto canceller = s.runtime->Spawn("cancel", [&] {
    s.runtime->SleepUntil(s.runtime->Now() + std::chrono::milliseconds(20));
    token.Cancel();
  });
  EXPECT_THAT(s.store->Head("k", {.at = TimePoint::max(), .cancel = &token}),
              IsCode(Code::kCancelled));
}

TEST(RetryTest, D10ThePortIsPartOfTheSignedHost) {
  ScriptedStore s([](const ScriptedRequest&) { return StoredReply(); });
  EXPECT_THAT(s.store->Head("k", s.In(1000)), IsOk());
  const ScriptedRequest request = s.server.requests()[0];
  EXPECT_EQ(request.headers.at("host"), "127.0.0.1:" + std::to_string(s.server.port()));
  EXPECT_NE(request.headers.at("authorization").find("SignedHeaders=host;"), std::string::npos);
  EXPECT_EQ(request.headers.at("x-amz-security-token"), kTestToken);
}

TEST(RetryTest, D8BracketsInAPrefixAreEncodedOnce) {
  ScriptedStore s([](const ScriptedRequest&) { return StoredReply(); });
  EXPECT_THAT(s.store->Head("prefix[bug]/a b", s.In(1000)), IsOk());
  EXPECT_EQ(s.server.requests()[0].target, "/bucket/p/prefix%5Bbug%5D/a%20b");
}

}  // namespace
}  // namespace lakestream::s3

// A conditional put is sent exactly once, and each of its outcomes is told apart.
#include <gtest/gtest.h>

#include "tests/s3/scripted_store.h"
#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

struct Outcome {
  Result<PutResult> result;
  uint64_t requests;
};

Outcome PutIfAbsent(const ScriptedReply& reply, int deadline_ms = 1000) {
  ScriptedStore s([&](const ScriptedRequest&) { return reply; });
  auto result = PutBytes(*s.store, "k", AsBytes("data"), {.if_absent = true}, s.In(deadline_ms));
  return {std::move(result), s.server.request_count()};
}

TEST(ConditionalPutTest, ACleanSuccessIsStored) {
  ScriptedStore s([](const ScriptedRequest&) { return StoredReply(); });
  auto put = PutBytes(*s.store, "k", AsBytes("data"), {.if_absent = true}, s.In(1000));
  ASSERT_THAT(put, IsOk());
  EXPECT_TRUE(put->stored);
  EXPECT_EQ(put->etag, "e1");
  EXPECT_EQ(put->date_ms, 1369353600000);
  EXPECT_EQ(s.server.requests()[0].headers.at("if-none-match"), "*");
  EXPECT_EQ(s.server.requests()[0].body, "data");
}

TEST(ConditionalPutTest, AFailedConditionIsAValue) {
  const Outcome outcome = PutIfAbsent(ErrorReply(412, "PreconditionFailed"));
  ASSERT_THAT(outcome.result, IsOk());
  EXPECT_FALSE(outcome.result->stored);
}

TEST(ConditionalPutTest, AnEtagIsSentWithoutQuotes) {
  ScriptedStore s([](const ScriptedRequest&) { return ErrorReply(404, "NoSuchKey"); });
  auto put = PutBytes(*s.store, "k", AsBytes("data"), {.if_match = "e0"}, s.In(1000));
  ASSERT_THAT(put, IsOk());
  EXPECT_FALSE(put->stored) << "no object has this ETag";
  EXPECT_EQ(s.server.requests()[0].headers.at("if-match"), "e0");
}

TEST(ConditionalPutTest, AConflictAndSlowDownAreUnavailable) {
  const Outcome conflict = PutIfAbsent(ErrorReply(409, "ConditionalRequestConflict"));
  EXPECT_THAT(conflict.result, IsCode(Code::kUnavailable));
  EXPECT_THAT(conflict.result, HasReason(Reason::kConflict));
  for (int status : {429, 503}) {
    const Outcome slow = PutIfAbsent(ErrorReply(status, "SlowDown"));
    EXPECT_THAT(slow.result, IsCode(Code::kUnavailable));
    EXPECT_THAT(slow.result, HasReason(Reason::kThrottled));
    EXPECT_EQ(slow.requests, 1u);
  }
}

TEST(ConditionalPutTest, WhateverLeavesItOpenIsAnUnknownOutcomeAfterOneRequest) {
  for (const ScriptedReply& fault :
       {ErrorReply(500, "InternalError"), ErrorReply(502, ""), ErrorReply(504, ""),
        ErrorReply(408, "RequestTimeout"),
        ScriptedReply{.status = 503, .body = "<html>no backend</html>"},
        ScriptedReply{.close_without_answer = true},
        ScriptedReply{.close_without_answer = true, .reset = true},
        ScriptedReply{.body = "200, but no ETag: not from a store"},
        ScriptedReply{.raw = "HTTP/1.1 200 OK\r\nETag: \"x\"\r\nContent-Length: 9\r\n\r\n",
        .keep_alive = false},
        ScriptedReply{.delay_ms = 300}}) {
    const Outcome outcome = PutIfAbsent(fault);
    EXPECT_THAT(outcome.result, IsCode(Code::kUnknownOutcome)) << fault.status << fault.raw;
    EXPECT_EQ(outcome.requests, 1u) << fault.status << fault.raw;
  }
}

TEST(ConditionalPutTest, ADeadlineAfterItWasSentIsAnUnknownOutcome) {
  const Outcome outcome = PutIfAbsent({.delay_ms = 120}, 50);
  EXPECT_THAT(outcome.result, IsCode(Code::kUnknownOutcome));
}

TEST(ConditionalPutTest, ARefusalIsNotUnknown) {
  EXPECT_THAT(PutIfAbsent(ErrorReply(403, "AccessDenied")).result, IsCode(Code::kPermissionDenied));
  EXPECT_THAT(PutIfAbsent(ErrorReply(501, "NotImplemented")).result, IsCode(Code::kUnimplemented));
  EXPECT_THAT(PutIfAbsent(ErrorReply(400, "InvalidArgument")).result,
              IsCode(Code::kInvalidArgument));
  // The keys are renewed for the next call, but this one is not sent again.
  const Outcome expired = PutIfAbsent(ErrorReply(400, "ExpiredToken"));
  EXPECT_THAT(expired.result, IsCode(Code::kUnavailable));
  EXPECT_EQ(expired.requests, 1u);
}

TEST(ConditionalPutTest, WhatNeverReachedAServerIsUnavailable) {
  for (const char* endpoint : {"http://127.0.0.1:1", "http://nowhere.invalid"}) {
    StoreOptions options;
    options.endpoint = endpoint;
    ScriptedStore s([](const ScriptedRequest&) { return StoredReply(); }, options);
    EXPECT_THAT(PutBytes(*s.store, "k", AsBytes("d"), {.if_absent = true}, s.In(5000)),
                IsCode(Code::kUnavailable))
        << endpoint;
  }
}

// libcurl would send it again by itself when a kept connection dies before the answer's first byte.
TEST(ConditionalPutTest, ADyingKeptConnectionDoesNotSendItTwice) {
  for (const bool reset : {false, true}) {
    ScriptedStore s([&](const ScriptedRequest& request) -> ScriptedReply {
      if (request.method == "PUT" && request.number == 1) {
        return {.close_without_answer = true, .reset = reset};
      }
      return StoredReply();
    });
    ASSERT_THAT(s.store->Head("k", s.In(1000)), IsOk());
    EXPECT_THAT(PutBytes(*s.store, "k", AsBytes("d"), {.if_absent = true}, s.In(1000)),
                IsCode(Code::kUnknownOutcome));
    EXPECT_EQ(s.server.request_count(), 2u);
    EXPECT_EQ(s.server.requests()[1].connection, 0u) << "the test needs a kept connection";
  }
}

TEST(ConditionalPutTest, AServerThatDiesWhileItActsLeavesAnUnknownOutcome) {
  // The put arrives on a kept connection; then the server is gone, and connecting again is refused.
  ScriptedStore s([](const ScriptedRequest& request) -> ScriptedReply {
    if (request.method == "PUT") return {.close_without_answer = true, .stop_listening = true};
    return StoredReply();
  });
  ASSERT_THAT(s.store->Head("k", s.In(1000)), IsOk());
  EXPECT_THAT(PutBytes(*s.store, "k", AsBytes("d"), {.if_absent = true}, s.In(1000)),
              IsCode(Code::kUnknownOutcome));
}

TEST(ConditionalPutTest, AConnectionThatWasClosedWhileIdleCostsNothing) {
  ScriptedStore s([](const ScriptedRequest& request) -> ScriptedReply {
    ScriptedReply reply = StoredReply();
    // "Connection: keep-alive" by default, but closed right behind the answer.
    if (request.number == 0) reply.raw = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    reply.keep_alive = request.number != 0;
    return reply;
  });
  ASSERT_THAT(s.store->Head("k", s.In(1000)), IsOk());
  s.runtime->SleepUntil(s.runtime->Now() + std::chrono::milliseconds(20));
  EXPECT_THAT(PutBytes(*s.store, "k", AsBytes("d"), {.if_absent = true}, s.In(1000)), IsOk());
}

TEST(ConditionalPutTest, ALargeRefusedBodyIsNotSent) {
  ScriptedStore s([](const ScriptedRequest&) { return StoredReply(); });
  const std::string large(3 << 20, 'x');
  ASSERT_THAT(PutBytes(*s.store, "k", AsBytes(large), {.if_absent = true}, s.In(20000)), IsOk());
  EXPECT_EQ(s.server.requests()[0].headers.at("expect"), "100-continue");
  EXPECT_EQ(s.server.requests()[0].body, large);
}

}  // namespace
}  // namespace lakestream::s3

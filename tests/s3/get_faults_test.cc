// D3: a body that ends early is never taken as complete.
#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/s3/scripted_store.h"
#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

// A server of one object, which breaks the first answers.
class ObjectServer {
 public:
  ObjectServer(std::string content, std::vector<ScriptedReply> faults)
      : content_(std::move(content)), faults_(std::move(faults)) {}

  ScriptedReply operator()(const ScriptedRequest& request) const {
    ScriptedReply reply;
    if (request.number < faults_.size()) reply = faults_[request.number];
    reply.headers.push_back({"ETag", "\"e1\""});
    reply.headers.push_back({"Last-Modified", "Fri, 24 May 2013 00:00:00 GMT"});
    reply.body = content_;
    const auto range = request.headers.find("range");
    if (range != request.headers.end() && reply.status == 200) {
      const size_t dash = range->second.find('-');
      const size_t first = std::stoull(range->second.substr(6));
      size_t last = content_.size() - 1;
      if (dash + 1 < range->second.size()) {
        last = std::min<size_t>(last, std::stoull(range->second.substr(dash + 1)));
      }
      reply.status = 206;
      reply.body = content_.substr(first, last - first + 1);
      reply.headers.push_back(
          {"Content-Range", Str("bytes ", first, "-", last, "/", content_.size())});
    }
    return reply;
  }

 private:
  std::string content_;
  std::vector<ScriptedReply> faults_;
};

std::string Content() {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + " ";
  return text;
}

TEST(GetFaultsTest, D3AShortBodyIsContinuedWhereItBroke) {
  const std::string content = Content();
  const auto size = static_cast<int64_t>(content.size());
  for (int64_t k : {int64_t{0}, int64_t{1}, size / 2, size - 1}) {
    ScriptedStore s(ObjectServer(content, {{.body_bytes_sent = k}, {.body_bytes_sent = 1}}));
    auto got = s.store->Get("k", {}, s.In(2000));
    ASSERT_THAT(got, IsOk()) << k;
    EXPECT_EQ(got->data.text(), content) << k;
    EXPECT_EQ(got->info.size, content.size());
    EXPECT_EQ(got->info.etag, "e1");
    const ScriptedRequest second = s.server.requests()[1];
    if (k > 0) {
      EXPECT_EQ(second.headers.at("range"), Str("bytes=", k, "-", size - 1));
      EXPECT_EQ(second.headers.at("if-match"), "\"e1\"");
    } else {
      EXPECT_EQ(second.headers.count("range"), 0u);
    }
  }
}

TEST(GetFaultsTest, D3ARangeIsContinuedWithinItsBounds) {
  const std::string content = Content();
  ScriptedStore s(ObjectServer(content, {{.body_bytes_sent = 10}}));
  auto got = s.store->Get("k", {.range = ByteRange{100, 50}}, s.In(2000));
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->data.text(), content.substr(100, 50));
  EXPECT_EQ(s.server.requests()[1].headers.at("range"), "bytes=110-149");
}

TEST(GetFaultsTest, D3WithoutALengthTheObjectIsAskedForByRange) {
  const std::string content = Content();
  ScriptedStore s(ObjectServer(content, {{.body_bytes_sent = 77, .announce_length = false}}));
  auto got = s.store->Get("k", {}, s.In(2000));
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->data.text(), content);
  EXPECT_EQ(s.server.requests()[1].headers.at("range"), "bytes=0-");
}

TEST(GetFaultsTest, D3AStoreThatNeverTellsALengthIsRefused) {
  ScriptedStore s([](const ScriptedRequest&) {
    return ScriptedReply{.body = "data", .announce_length = false};
  });
  EXPECT_THAT(s.store->Get("k", {}, s.In(100)), IsCode(Code::kDeadlineExceeded));
}

TEST(GetFaultsTest, D3AnEndlessSeriesOfShortBodiesEndsWithTheDeadline) {
  ScriptedStore s([](const ScriptedRequest&) {
    return ScriptedReply{.headers = {{"Content-Length", "100"}}, .body = "x", .keep_alive = false};
  });
  EXPECT_THAT(s.store->Get("k", {}, s.In(150)), IsCode(Code::kUnimplemented));
  ScriptedStore empty([](const ScriptedRequest&) {
    return ScriptedReply{.headers = {{"Content-Length", "100"}}, .keep_alive = false};
  });
  EXPECT_THAT(empty.store->Get("k", {}, empty.In(150)), IsCode(Code::kDeadlineExceeded));
}

TEST(GetFaultsTest, D3AnObjectOverwrittenBetweenTwoTriesIsReadFromItsStart) {
  const std::string before(1000, 'a');
  const std::string after(2000, 'b');
  ScriptedStore s([&](const ScriptedRequest& request) -> ScriptedReply {
    if (request.number == 0) {
      return {.headers = {{"ETag", "\"e1\""}}, .body = before, .body_bytes_sent = 500};
    }
    if (request.headers.count("if-match") > 0) return ErrorReply(412, "PreconditionFailed");
    return {.headers = {{"ETag", "\"e2\""}}, .body = after};
  });
  auto got = s.store->Get("k", {}, s.In(2000));
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->data.text(), after);
  EXPECT_EQ(got->info.etag, "e2");
}

TEST(GetFaultsTest, AReadWithAConditionAbortsWhenTheObjectChanges) {
  ScriptedStore s([](const ScriptedRequest&) { return ErrorReply(412, "PreconditionFailed"); });
  EXPECT_THAT(s.store->Get("k", {.if_match = "e0"}, s.In(2000)), IsCode(Code::kAborted));
  EXPECT_EQ(s.server.request_count(), 1u);
}

TEST(GetFaultsTest, AnotherRangeThanAskedForIsNotHandedOn) {
  ScriptedStore s([](const ScriptedRequest&) {
    return ScriptedReply{
        .status = 206, .headers = {{"Content-Range", "bytes 0-3/100"}}, .body = "abcd"};
  });
  EXPECT_THAT(s.store->Get("k", {.range = ByteRange{10, 4}}, s.In(100)),
              IsCode(Code::kDeadlineExceeded));
  ScriptedStore whole([](const ScriptedRequest&) { return ScriptedReply{.body = "abcdef"}; });
  EXPECT_THAT(whole.store->Get("k", {.range = ByteRange{1, 2}}, whole.In(1000)),
              IsCode(Code::kUnimplemented));
}

TEST(GetFaultsTest, TheBodyGoesStraightIntoTheCallersMemory) {
  class OneBlock final : public BufferAllocator {
   public:
    Block Allocate(size_t size) override {
      ++calls;
      memory = std::make_shared<std::vector<uint8_t>>(size);
      return {memory, memory->data()};
    }
    int calls = 0;
    std::shared_ptr<std::vector<uint8_t>> memory;
  };
  const std::string content = Content();
  OneBlock allocator;
  ScriptedStore s(ObjectServer(content, {{.body_bytes_sent = 500}}));
  auto got = s.store->Get("k", {.allocator = &allocator}, s.In(2000));
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(allocator.calls, 1);
  EXPECT_EQ(got->data.data(), allocator.memory->data());
  EXPECT_EQ(got->data.text(), content);
}

}  // namespace
}  // namespace lakestream::s3

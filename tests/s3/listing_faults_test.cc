// D5: a listing is complete or an error; and the errors of single keys in a bulk delete.
#include <gtest/gtest.h>

#include "tests/s3/scripted_store.h"
#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

std::string Listing(const std::vector<std::string>& keys, bool truncated = false) {
  std::string text = "<ListBucketResult><IsTruncated>";
  text += truncated ? "true" : "false";
  text += "</IsTruncated><EncodingType>url</EncodingType>";
  for (const std::string& key : keys) {
    text += "<Contents><Key>" + key + "</Key><Size>1</Size></Contents>";
  }
  return text + "</ListBucketResult>";
}

TEST(ListingFaultsTest, D5ACutListingIsAskedForAgain) {
  const std::string whole = Listing({"p/a", "p/b"});
  ScriptedStore s([&](const ScriptedRequest& request) -> ScriptedReply {
    // A proxy that cuts the document and announces the length of what is left.
    return {.body =
                request.number < 2 ? whole.substr(0, whole.size() / (request.number + 2)) : whole};
  });
  auto page = s.store->List({}, s.In(2000));
  ASSERT_THAT(page, IsOk());
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[0].key, "a");
  EXPECT_FALSE(page->more);
  EXPECT_EQ(s.server.request_count(), 3u);
}

TEST(ListingFaultsTest, D5AListingThatStaysMalformedIsAnError) {
  for (const char* text : {"", "<ListBucketResult>", "<html></html>", "{}"}) {
    ScriptedStore s([&](const ScriptedRequest&) { return ScriptedReply{.body = text}; });
    EXPECT_THAT(s.store->List({}, s.In(100)), IsCode(Code::kDeadlineExceeded)) << text;
  }
}

TEST(ListingFaultsTest, AStoreThatListsOutOfOrderIsRefused) {
  for (const auto& keys : {std::vector<std::string>{"p/b", "p/a"}, {"p/a", "p/a"}, {"q/a"}}) {
    ScriptedStore s([&](const ScriptedRequest&) { return ScriptedReply{.body = Listing(keys)}; });
    EXPECT_THAT(s.store->List({}, s.In(1000)), IsCode(Code::kUnimplemented));
  }
}

TEST(ListingFaultsTest, PagesGoOnAfterTheLastKey) {
  ScriptedStore s(
      [](const ScriptedRequest&) { return ScriptedReply{.body = Listing({"p/a%2Bb"}, true)}; });
  auto page = s.store->List({.prefix = "a", .start_after = "a b", .limit = 1}, s.In(1000));
  ASSERT_THAT(page, IsCode(Code::kOk));
  EXPECT_TRUE(page->more);
  EXPECT_EQ(page->objects[0].key, "a+b");
  EXPECT_EQ(s.server.requests()[0].target,
            "/bucket?encoding-type=url&list-type=2&max-keys=1&prefix=p%2Fa&start-after=p%2Fa%20b");
}

TEST(ListingFaultsTest, ErrorsOfSingleKeysInABulkDeleteAreTold) {
  ScriptedStore s([](const ScriptedRequest&) -> ScriptedReply {
    return {.body =
                "<DeleteResult><Error><Key>p/b</Key><Code>AccessDenied</Code><Message>no"
                "</Message></Error><Error><Key>p/c</Key><Code>NoSuchKey</Code></Error>"
                "</DeleteResult>"};
  });
  const std::string keys[] = {"a", "b", "c"};
  const Status status = s.store->Delete(keys, s.In(1000));
  EXPECT_NE(status.message().find("s3://bucket/p/b"), std::string::npos) << status;
  EXPECT_NE(status.message().find("AccessDenied"), std::string::npos) << status;
  EXPECT_EQ(s.server.request_count(), 1u);
}

TEST(ListingFaultsTest, ABulkDeleteIsRepeatedForKeysThatMayYetGo) {
  ScriptedStore s([](const ScriptedRequest& request) -> ScriptedReply {
    if (request.number > 1) return {.body = "<DeleteResult/>"};
    return {.body =
                "<DeleteResult><Error><Key>p/b</Key><Code>InternalError</Code></Error>"
                "</DeleteResult>"};
  });
  const std::string keys[] = {"a", "b"};
  EXPECT_THAT(s.store->Delete(keys, s.In(1000)), IsOk());
  EXPECT_EQ(s.server.request_count(), 3u);
  EXPECT_EQ(s.server.requests()[0].headers.count("content-md5"), 1u);
}

}  // namespace
}  // namespace lakestream::s3

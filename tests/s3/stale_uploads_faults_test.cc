// Finding and ending abandoned uploads when the server's answers are unusual or wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/text.h"
#include "tests/s3/scripted_store.h"
#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

constexpr int64_t kCutMs = 1'369'353'600'000;  // 2013-05-24T00:00:00Z

std::string Entry(const std::string& key, const std::string& id, const std::string& initiated) {
  return "<Upload><Key>" + key + "</Key><UploadId>" + id + "</UploadId><Initiated>" + initiated +
         "</Initiated></Upload>";
}

std::string Page(const std::string& entries, const std::string& next_key = "",
                 const std::string& next_id = "") {
  const std::string next = "<NextKeyMarker>" + next_key + "</NextKeyMarker><NextUploadIdMarker>" +
                           next_id + "</NextUploadIdMarker>";
  return "<ListMultipartUploadsResult><IsTruncated>" +
         std::string(next_key.empty() ? "false" : "true") + "</IsTruncated>" +
         (next_key.empty() ? "" : next) + entries + "</ListMultipartUploadsResult>";
}

// Answers listings in turn (the last one for ever) and aborts by `abort`.
struct Server {
  explicit Server(std::vector<std::string> pages, ScriptedReply abort = {.status = 204})
      : s([pages = std::move(pages), abort, listed = std::make_shared<std::atomic<size_t>>(0)](
              const ScriptedRequest& request) -> ScriptedReply {
          if (request.method == "DELETE") return abort;
          return {.body = pages[std::min((*listed)++, pages.size() - 1)]};
        }) {}
  Result<uint64_t> AbortStale(bool dry_run = false, int ms = 2000) {
    return s.store->AbortStaleUploads({"data/", kCutMs, dry_run}, s.In(ms));
  }
  std::vector<std::string> Targets(const std::string& method) {
    std::vector<std::string> targets;
    for (const ScriptedRequest& request : s.server.requests()) {
      if (request.method == method) targets.push_back(request.target);
    }
    return targets;
  }
  ScriptedStore s;
};

TEST(StaleUploadsFaultsTest, PagesAreFollowedAndOnlyOldUploadsEnded) {
  Server server({Page(Entry("p/data/a%2Bb &amp;", "u1", "2013-05-23T23:59:59.000Z") +
                          Entry("p/data/c", "u2", "2013-05-24T00:00:00.000Z"),
                      "p/data/c", "u2"),
                 Page(Entry("p/data/c", "u3", "2013-05-23T00:00:00Z"))});
  EXPECT_EQ(*server.AbortStale(), 2u);
  EXPECT_EQ(
      server.Targets("GET"),
      (std::vector<std::string>{
          "/bucket?prefix=p%2Fdata%2F&uploads=",
          "/bucket?key-marker=p%2Fdata%2Fc&prefix=p%2Fdata%2F&upload-id-marker=u2&uploads="}));
  EXPECT_EQ(server.Targets("DELETE"),
            (std::vector<std::string>{"/bucket/p/data/a%252Bb%20%26?uploadId=u1",
                                      "/bucket/p/data/c?uploadId=u3"}));
}

TEST(StaleUploadsFaultsTest, ADryRunEndsNothing) {
  Server server({Page(Entry("p/data/a", "u1", "2013-05-01T00:00:00Z"))});
  EXPECT_EQ(*server.AbortStale(true), 1u);
  EXPECT_TRUE(server.Targets("DELETE").empty());
}

TEST(StaleUploadsFaultsTest, AnUploadThatSomebodyElseEndedDoesNotCount) {
  Server server({Page(Entry("p/data/a", "u1", "2013-05-01T00:00:00Z"))},
                ErrorReply(404, "NoSuchUpload"));
  EXPECT_EQ(*server.AbortStale(), 0u);
}

TEST(StaleUploadsFaultsTest, EncodedKeysAreDecodedIfTheAnswerSaysSo) {
  Server server(
      {"<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>false"
       "</IsTruncated>" +
       Entry("p/data/a%2Bb", "u1", "2013-05-01T00:00:00Z") + "</ListMultipartUploadsResult>"});
  EXPECT_EQ(*server.AbortStale(), 1u);
  EXPECT_EQ(server.Targets("DELETE"), std::vector<std::string>{"/bucket/p/data/a%2Bb?uploadId=u1"});
}

TEST(StaleUploadsFaultsTest, UploadsOutsideOfThePrefixAreLeftAlone) {
  Server server({Page(Entry("p/date", "u1", "2013-05-01T00:00:00Z") +
                      Entry("other/data/a", "u2", "2013-05-01T00:00:00Z"))});
  EXPECT_EQ(*server.AbortStale(), 0u);
  EXPECT_TRUE(server.Targets("DELETE").empty());
}

// Without an age nothing may be taken for old; a listing that is cut must not pass for a short one.
TEST(StaleUploadsFaultsTest, AListingThatStaysMalformedIsAnErrorAndEndsNothing) {
  const std::string whole = Page(Entry("p/data/a", "u1", "2013-05-01T00:00:00Z"));
  for (const std::string& page :
       {Page(Entry("p/data/a", "u1", "")), Page(Entry("p/data/a", "u1", "yesterday")),
        Page(Entry("p/data/a", "", "2013-05-01T00:00:00Z")), whole.substr(0, whole.size() - 9),
        std::string("<ListMultipartUploadsResult/>"), std::string("<html/>")}) {
    Server server({page});
    EXPECT_THAT(server.AbortStale(false, 100), IsCode(Code::kDeadlineExceeded)) << page;
    EXPECT_TRUE(server.Targets("DELETE").empty());
  }
}

TEST(StaleUploadsFaultsTest, ACutListingIsAskedForAgain) {
  const std::string whole = Page(Entry("p/data/a", "u1", "2013-05-01T00:00:00Z"));
  Server server({whole.substr(0, whole.size() / 2), whole});
  EXPECT_EQ(*server.AbortStale(), 1u);
}

TEST(StaleUploadsFaultsTest, PagesThatDoNotEndAreAnError) {
  Server server({Page("", "p/data/c", "u2")});
  EXPECT_THAT(server.AbortStale(), IsCode(Code::kUnimplemented));
  EXPECT_EQ(server.Targets("GET").size(), 2u);
}

TEST(StaleUploadsFaultsTest, AStoreThatCannotListUploadsSaysSo) {
  ScriptedStore s([](const ScriptedRequest&) { return ErrorReply(501, "NotImplemented"); });
  EXPECT_THAT(s.store->AbortStaleUploads({"", kCutMs}, s.In(1000)), IsCode(Code::kUnimplemented));
}

}  // namespace
}  // namespace lakestream::s3

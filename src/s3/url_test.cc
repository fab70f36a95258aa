#include "s3/url.h"

#include <gtest/gtest.h>

#include "s3/times.h"
#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

TEST(UrlTest, OnlyUnreservedBytesStayAsTheyAre) {
  EXPECT_EQ(UriEncode("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(UriEncode("a b+c/d%e\xc3\xa9"), "a%20b%2Bc%2Fd%25e%C3%A9");
  EXPECT_EQ(UriEncodePath("a//b/../c?d"), "a//b/../c%3Fd");
}

TEST(UrlTest, DecodingUndoesEncodingForEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(UriDecode(UriEncode(all)), all);
  EXPECT_EQ(UriDecode("a+b"), "a b");
}

TEST(UrlTest, MalformedPercentEncodingIsNoText) {
  for (const char* text : {"%", "%4", "a%4", "%zz", "%%41"}) {
    EXPECT_EQ(UriDecode(text), std::nullopt) << text;
  }
}

TEST(UrlTest, TheQueryIsSortedByEncodedNameThenValue) {
  EXPECT_EQ(CanonicalQuery({{"b", "2"}, {"a", ""}, {"b", "1"}, {"a b", "/"}}),
            "a=&a%20b=%2F&b=1&b=2");
  EXPECT_EQ(CanonicalQuery({}), "");
}

TEST(UrlTest, D10ThePortStaysUnlessItIsTheSchemesDefault) {
  const struct {
    const char* url;
    const char* authority;
  } cases[] = {{"http://host", "host"},
               {"http://host:80", "host"},
               {"https://host:443/", "host"},
               {"http://host:443", "host:443"},
               {"https://host:9000", "host:9000"},
               {"http://[::1]:9000", "[::1]:9000"},
               {"http://[::1]", "[::1]"},
               {"HTTP://host:080/p/", "host"}};
  for (const auto& c : cases) {
    auto url = ParseHttpUrl(c.url);
    ASSERT_TRUE(url.ok()) << c.url << " " << url.status();
    EXPECT_EQ(url->authority, c.authority) << c.url;
  }
  EXPECT_EQ(ParseHttpUrl("http://host/a/b/")->path, "/a/b");
}

TEST(UrlTest, OtherUrlsAreRefused) {
  for (const char* url :
       {"", "host:9000", "ftp://host", "http://", "http://:80", "http://h:x", "http://h:70000",
        "http://user@host", "http://h?q", "http://h#f", "http://a b", "http://h:"}) {
    EXPECT_EQ(ParseHttpUrl(url).status().code(), Code::kInvalidArgument) << url;
  }
}

TEST(UrlTest, PrintableTextIsOneLineAndBounded) {
  EXPECT_EQ(Printable("a\nb%\x01"), "a%0Ab%25%01");
  EXPECT_EQ(Printable("abcdef", 3), "abc...");
}

TEST(TimesTest, HttpDatesAndIsoTimesAreMilliseconds) {
  EXPECT_EQ(ParseHttpDate("Fri, 24 May 2013 00:00:00 GMT"), 1369353600000);
  EXPECT_EQ(ParseIsoTime("2013-05-24T00:00:00.123Z"), 1369353600123);
  EXPECT_EQ(ParseIsoTime("2013-05-24T00:00:00Z"), 1369353600000);
}

TEST(TimesTest, WhatIsNoTimeIsNone) {
  for (const char* text : {"", "yesterday", "Fri, 24 Xyz 2013 00:00:00 GMT",
                           "Fri, 24 May 2013 25:00:00 GMT", "Fri, 24 anF 2013 00:00:00 GMT"}) {
    EXPECT_EQ(ParseHttpDate(text), std::nullopt) << text;
  }
  for (const char* text : {"", "2013-05-24", "2013-13-24T00:00:00Z", "2013-05-24T00:00:00"}) {
    EXPECT_EQ(ParseIsoTime(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace lakestream::s3

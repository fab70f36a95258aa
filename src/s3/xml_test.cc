#include "s3/xml.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace lakestream::s3 {
namespace {

constexpr char kListing[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
    "<MaxKeys>1000</MaxKeys><IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>"
    "<KeyCount>2</KeyCount>"
    "<Contents><Key>a%2Bb+c</Key><LastModified>2013-05-24T00:00:00.000Z</LastModified>"
    "<ETag>&quot;abc&quot;</ETag><Size>5</Size></Contents>"
    "<Contents><Key>d</Key><LastModified>2013-05-24T00:00:00.000Z</LastModified>"
    "<ETag>\"x-2\"</ETag><Size>18446744073709551615</Size></Contents></ListBucketResult>";

TEST(XmlTest, AListingIsReadWithDecodedKeysAndPlainEtags) {
  auto listed = ParseListResult(kListing);
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->objects.size(), 2u);
  EXPECT_TRUE(listed->truncated);
  EXPECT_EQ(listed->objects[0].key, "a+b c");
  EXPECT_EQ(listed->objects[0].etag, "abc");
  EXPECT_EQ(listed->objects[0].modified_ms, 1369353600000);
  EXPECT_EQ(listed->objects[1].etag, "x-2");
  EXPECT_EQ(listed->objects[1].size, UINT64_MAX);
}

TEST(XmlTest, KeysStayAsTheyAreIfTheAnswerIsNotUrlEncoded) {
  auto listed = ParseListResult(
      "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key> a+%41</Key><Size>1</Size>"
      "</Contents></ListBucketResult>");
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_EQ(listed->objects[0].key, " a+%41");
}

TEST(XmlTest, D5AListingCutAnywhereIsAnError) {
  const std::string whole = kListing;
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(ParseListResult(whole.substr(0, size)).status().code(), Code::kUnavailable) << size;
  }
}

TEST(XmlTest, D5AListingWithoutWhatItMustHaveIsAnError) {
  for (const char* text :
       {"<html/>", "<Error><Code>InternalError</Code></Error>", "<ListBucketResult/>",
        "<ListBucketResult><IsTruncated>maybe</IsTruncated></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><KeyCount>1</KeyCount>"
        "</ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents>"
        "</ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Size>1</Size></Contents>"
        "</ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>"
        "<Contents><Key>%4</Key><Size>1</Size></Contents></ListBucketResult>"}) {
    EXPECT_EQ(ParseListResult(text).status().code(), Code::kUnavailable) << text;
  }
}

TEST(XmlTest, ErrorDocumentsOfS3AndStsAreRead) {
  const ErrorDocument s3 = ParseError(
      "<Error><Code>NoSuchKey</Code><Message>gone</Message><RequestId>tx1</RequestId>"
      "<Region>eu-west-1</Region></Error>");
  EXPECT_EQ(s3.code, "NoSuchKey");
  EXPECT_EQ(s3.request_id, "tx1");
  EXPECT_EQ(s3.region, "eu-west-1");
  const ErrorDocument sts = ParseError(
      "<ErrorResponse xmlns=\"https://sts\"><Error><Code>ExpiredTokenException</Code>"
      "<Message>m</Message></Error><RequestId>r</RequestId></ErrorResponse>");
  EXPECT_EQ(sts.code, "ExpiredTokenException");
  EXPECT_EQ(sts.request_id, "r");
  EXPECT_EQ(ParseError("Service Unavailable").code, "");
}

TEST(XmlTest, KeysAreEscapedInADeleteDocument) {
  const std::string document = DeleteDocument({"a&b<c>", "d\"e'"});
  EXPECT_NE(document.find("<Key>a&amp;b&lt;c&gt;</Key>"), std::string::npos);
  EXPECT_NE(document.find("<Key>d\"e'</Key>"), std::string::npos);
}

TEST(XmlTest, KeysThatXmlCannotCarryAreTold) {
  for (const char* key : {"a\x01", "a\n", "\t", " a", "a ", "\xef\xbf\xbe"}) {
    EXPECT_FALSE(FitsXml(key)) << key;
  }
  for (const char* key : {"a b", "\xef\xbf\xbd", "\xf0\x9f\x98\x80", "a&<>"}) {
    EXPECT_TRUE(FitsXml(key)) << key;
  }
}

TEST(XmlTest, ErrorsOfSingleKeysAreReported) {
  auto errors = ParseDeleteResult(
      "<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>AccessDenied</Code>"
      "<Message>no</Message></Error></DeleteResult>");
  ASSERT_TRUE(errors.ok()) << errors.status();
  ASSERT_EQ(errors->size(), 1u);
  EXPECT_EQ((*errors)[0].key, "b");
  EXPECT_EQ((*errors)[0].code, "AccessDenied");
  EXPECT_EQ(ParseDeleteResult("<DeleteResult>").status().code(), Code::kUnavailable);
}

TEST(XmlTest, H19OnlyACompleteResultCompletesAnUpload) {
  EXPECT_EQ(*ParseCompleteResult("\n \n<?xml version=\"1.0\"?><CompleteMultipartUploadResult>"
                                 "<ETag>&quot;e-2&quot;</ETag></CompleteMultipartUploadResult>"),
            "e-2");
  // As Ceph RGW answers.
  EXPECT_EQ(*ParseCompleteResult("<CompleteMultipartUploadResult><Key>k</Key><ETag></ETag>"
                                 "</CompleteMultipartUploadResult>"),
            "");
  for (const char* text : {"", "<Error><Code>InternalError</Code></Error>",
                           "<CompleteMultipartUploadResult/>", "<CompleteMultipartUploadResult>"}) {
    EXPECT_FALSE(ParseCompleteResult(text).ok()) << text;
  }
}

TEST(XmlTest, EtagsLoseQuotesAndWeakness) {
  EXPECT_EQ(NormalizeEtag("\"abc\""), "abc");
  EXPECT_EQ(NormalizeEtag("W/\"abc\""), "abc");
  EXPECT_EQ(NormalizeEtag("abc"), "abc");
  EXPECT_EQ(NormalizeEtag(""), "");
}

}  // namespace
}  // namespace lakestream::s3

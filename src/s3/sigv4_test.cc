// Against the vectors that AWS publishes: the SigV4 test suite, and the examples of the S3 manual.
#include "s3/sigv4.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "s3/hashes.h"
#include "s3/url.h"

namespace lakestream::s3 {
namespace {

constexpr int64_t k20150830T123600Z = 1440938160000;
constexpr int64_t k20130524T000000Z = 1369353600000;
constexpr char kEmptyHash[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string SignatureOf(const std::string& authorization) {
  return authorization.substr(authorization.find("Signature=") + 10);
}

// A request of the test suite: service "service", host example.amazonaws.com.
std::string SuiteSignature(std::string_view method, std::string_view path,
                           const QueryParameters& query, HttpHeaders headers = {},
                           std::string_view body = "") {
  const Credentials keys{.access_key_id = "AKIDEXAMPLE",
                         .secret_access_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  headers.push_back({"Host", "example.amazonaws.com"});
  headers.push_back({"X-Amz-Date", "20150830T123600Z"});
  return SignatureOf(SignV4({.method = method,
                             .path = path,
                             .query = CanonicalQuery(query),
                             .headers = headers,
                             .payload_hash = ToHex(HashSha256(body))},
                            {k20150830T123600Z, "us-east-1", "service"}, keys));
}

TEST(SigV4Test, TheTestSuitesPlainGetHasItsSignature) {
  EXPECT_EQ(SuiteSignature("GET", "/", {}),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(SigV4Test, TheTestSuitesPlainPostHasItsSignature) {
  EXPECT_EQ(SuiteSignature("POST", "/", {}),
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
}

TEST(SigV4Test, QueryParametersAreSortedByName) {
  EXPECT_EQ(SuiteSignature("GET", "/", {{"Param2", "value2"}, {"Param1", "value1"}}),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

TEST(SigV4Test, APathOfUtf8IsEncodedOnce) {
  EXPECT_EQ(SuiteSignature("GET", UriEncodePath("/\xe1\x88\xb4"), {}),
            "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85");
}

TEST(SigV4Test, ABodyAndItsTypeAreSigned) {
  EXPECT_EQ(SuiteSignature("POST", "/", {}, {{"Content-Type", "application/x-www-form-urlencoded"}},
                           "Param1=value1"),
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
}

class S3ExampleTest : public ::testing::Test {
 protected:
  static std::string Signature(std::string_view method, std::string_view path,
                               const QueryParameters& query, HttpHeaders headers,
                               std::string_view payload_hash) {
    const Credentials keys{.access_key_id = "AKIAIOSFODNN7EXAMPLE",
                           .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
    headers.push_back({"Host", "examplebucket.s3.amazonaws.com"});
    headers.push_back({"x-amz-content-sha256", std::string(payload_hash)});
    headers.push_back({"x-amz-date", "20130524T000000Z"});
    return SignatureOf(SignV4({.method = method,
                               .path = path,
                               .query = CanonicalQuery(query),
                               .headers = headers,
                               .payload_hash = payload_hash},
                              {.time_ms = k20130524T000000Z, .region = "us-east-1"}, keys));
  }
};

TEST_F(S3ExampleTest, GetOfARange) {
  EXPECT_EQ(Signature("GET", "/test.txt", {}, {{"Range", "bytes=0-9"}}, kEmptyHash),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST_F(S3ExampleTest, PutWithADollarInTheKey) {
  EXPECT_EQ(Signature("PUT", UriEncodePath("/test$file.text"), {},
                      {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                       {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                      ToHex(HashSha256("Welcome to Amazon S3."))),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST_F(S3ExampleTest, AParameterWithoutAValue) {
  EXPECT_EQ(Signature("GET", "/", {{"lifecycle", ""}}, {}, kEmptyHash),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST_F(S3ExampleTest, AListing) {
  EXPECT_EQ(Signature("GET", "/", {{"max-keys", "2"}, {"prefix", "J"}}, {}, kEmptyHash),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(SigV4Test, HeadersAreFoldedAndJoined) {
  const Credentials keys{.access_key_id = "A", .secret_access_key = "B"};
  const auto sign = [&](const HttpHeaders& headers) {
    return SignV4({"GET", "/", "", headers, kEmptyHash}, {.time_ms = 0, .region = "r"}, keys);
  };
  EXPECT_EQ(sign({{"X-B", "  a   b "}, {"x-a", "1"}, {"X-A", "2"}}),
            sign({{"x-a", "1,2"}, {"x-b", "a b"}}));
  EXPECT_NE(sign({{"x-b", "a b"}}), sign({{"x-b", "ab"}}));
}

TEST(HashesTest, PiecesHashLikeTheirConcatenation) {
  const ConstBytes pieces[] = {AsBytes("Welcome "), AsBytes(""), AsBytes("to Amazon S3.")};
  EXPECT_EQ(ToHex(HashSha256(pieces)), ToHex(HashSha256("Welcome to Amazon S3.")));
  EXPECT_EQ(ToHex(HashSha256("")), kEmptyHash);
  EXPECT_EQ(Md5Base64(""), "1B2M2Y8AsgTpgAmY7PhCfg==");
}

}  // namespace
}  // namespace lakestream::s3

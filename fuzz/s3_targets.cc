// Parsers of what an S3 server, a user's files or a URI may contain.
#include <algorithm>
#include <string>

#include "fuzz/target.h"
#include "s3/get_object.h"
#include "s3/settings.h"
#include "s3/times.h"
#include "s3/url.h"
#include "s3/xml.h"

namespace lakestream::fuzz {
namespace {

Bytes FromText(std::string_view text) { return {text.begin(), text.end()}; }

// Everything is parsed as everything: servers answer with the wrong document, too.
void RunXml(ConstBytes input) {
  const std::string_view text = AsText(input);
  (void)s3::ParseError(text);
  (void)s3::ParseListResult(text);
  (void)s3::ParseDeleteResult(text);
  (void)s3::ParseUploadId(text);
  (void)s3::ParseCompleteResult(text);
  (void)s3::ParseStsCredentials(text);
}

std::vector<Bytes> XmlSeeds() {
  constexpr std::string_view kHead = R"(<?xml version="1.0" encoding="UTF-8"?>)";
  std::vector<Bytes> seeds;
  for (const std::string_view body :
       {R"(<Error><Code>SlowDown</Code><Message>a &amp; b &#x41;</Message><RequestId>7</RequestId>)"
        R"(<Region>eu-west-1</Region></Error>)",
        R"(<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>)"
        R"(<EncodingType>url</EncodingType><KeyCount>1</KeyCount><IsTruncated>true</IsTruncated>)"
        R"(<Contents><Key>data/a%20b+c</Key><LastModified>2013-05-24T00:00:00.123Z</LastModified>)"
        R"(<ETag>&quot;9b2c&quot;</ETag><Size>18446744073709551615</Size></Contents>)"
        R"(<NextContinuationToken>t</NextContinuationToken></ListBucketResult>)",
        R"(<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code><Message>m</Message></Error>)"
        R"(<Deleted><Key>l</Key></Deleted></DeleteResult>)",
        R"(<InitiateMultipartUploadResult><UploadId>u-1</UploadId>)"
        R"(</InitiateMultipartUploadResult>)",
        R"(<CompleteMultipartUploadResult><ETag>"9b2c-2"</ETag></CompleteMultipartUploadResult>)",
        R"(<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>)"
        R"(<AccessKeyId>a</AccessKeyId><SecretAccessKey>s</SecretAccessKey>)"
        R"(<SessionToken>t</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration>)"
        R"(</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>)",
        R"(<!DOCTYPE a [<!ENTITY x "xx"><!ENTITY y "&x;&x;">]><Error><Code>&y;</Code></Error>)"}) {
    seeds.push_back(FromText(std::string(kHead).append(body)));
  }
  std::string deep;
  for (int i = 0; i < 1500; ++i) deep += "<Error>";
  seeds.push_back(FromText(deep));
  return seeds;
}

void RunS3Text(ConstBytes input) {
  const std::string_view text = AsText(input);
  Require(s3::UriDecode(s3::UriEncode(text)) == text);
  (void)s3::UriDecode(text);
  (void)s3::ParseHttpUrl(text);
  (void)s3::ParseHttpDate(text);
  (void)s3::ParseIsoTime(text);
  (void)s3::ParseIni(text);
  (void)s3::NormalizeEtag(text);
  const std::string printable = s3::Printable(text);
  Require(std::all_of(printable.begin(), printable.end(), [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte >= 0x20 && byte != 0x7f;
  }));
  const std::string value(text);
  (void)s3::ReadObjectHeaders({{"Content-Length", value},
                               {"Content-Range", value},
                               {"ETag", value},
                               {"Last-Modified", value},
                               {"Date", value}});
}

std::vector<Bytes> S3TextSeeds() {
  std::vector<Bytes> seeds;
  for (const std::string_view text :
       {"Fri, 24 May 2013 00:00:00 GMT", "2013-05-24T00:00:00.123Z", "2013-05-24T00:00:00Z",
        "http://127.0.0.1:9000/base/", "https://[::1]:443/x?y#z", "a%20b+c%2F%ff", "bytes 0-63/704",
        "bytes */704", "18446744073709551615", "W/\"9b2c\"",
        "[default]\naws_access_key_id = a\n[profile x]\nregion=eu-west-1 # c\n s3 =\n  a = b\n"}) {
    seeds.push_back(FromText(text));
  }
  return seeds;
}

constexpr Target kTargets[] = {
    {"s3_xml", RunXml, XmlSeeds, 15000},
    {"s3_text", RunS3Text, S3TextSeeds},
};

}  // namespace

std::span<const Target> S3Targets() { return kTargets; }

}  // namespace lakestream::fuzz

#include "s3/endpoint.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/support/scoped_dir.h"

namespace lakestream::s3 {
namespace {

Environment Fake(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto entry = variables.find(name);
    return entry == variables.end() ? std::nullopt : std::optional(entry->second);
  };
}

std::string UrlFor(std::string_view bucket, const S3Settings& settings) {
  auto endpoint = ResolveEndpoint(bucket, settings);
  return endpoint.ok() ? endpoint->UrlOf(endpoint->PathOf("k"), "") : endpoint.status().ToString();
}

TEST(EndpointTest, AwsUsesTheBucketsHost) {
  EXPECT_EQ(UrlFor("bucket", {.region = "eu-west-1"}),
            "https://bucket.s3.eu-west-1.amazonaws.com/k");
  EXPECT_EQ(UrlFor("bucket", {.region = "cn-north-1"}),
            "https://bucket.s3.cn-north-1.amazonaws.com.cn/k");
}

TEST(EndpointTest, D8ADottedBucketUsesPathStyle) {
  EXPECT_EQ(UrlFor("a.b.c", {.region = "us-east-1"}), "https://s3.us-east-1.amazonaws.com/a.b.c/k");
}

TEST(EndpointTest, ACustomEndpointUsesPathStyleUnlessToldOtherwise) {
  S3Settings settings{.endpoint = "http://127.0.0.1:9000", .region = "us-east-1"};
  EXPECT_EQ(UrlFor("bucket", settings), "http://127.0.0.1:9000/bucket/k");
  settings.endpoint = "https://s3.example.com/base/";
  EXPECT_EQ(UrlFor("bucket", settings), "https://s3.example.com/base/bucket/k");
  settings.path_style = false;
  EXPECT_EQ(UrlFor("bucket", settings), "https://bucket.s3.example.com/base/k");
}

TEST(EndpointTest, UnusableBucketsAndEndpointsAreRefused) {
  for (const char* bucket : {"", "ab", "a/b", "prefix[bug]", "a b", ".abc"}) {
    EXPECT_EQ(ResolveEndpoint(bucket, {.region = "us-east-1"}).status().code(),
              Code::kInvalidArgument)
        << bucket;
  }
  EXPECT_FALSE(ResolveEndpoint("bucket", {.endpoint = "host", .region = "r"}).ok());
  EXPECT_FALSE(ResolveEndpoint("bucket", {.region = "us east"}).ok());
  EXPECT_FALSE(ResolveEndpoint(
                   "bucket", {.endpoint = "http://127.0.0.1:1", .region = "r", .path_style = false})
                   .ok());
}

TEST(SettingsTest, OptionsWinOverTheEnvironmentWhichWinsOverTheProfile) {
  ScopedDir dir;
  std::ofstream(dir.path() + "/config") << "[profile p]\nregion = from-profile\n"
                                           "s3 =\n  region = nested\nendpoint_url = http://p\n";
  std::map<std::string, std::string> variables{{"AWS_CONFIG_FILE", dir.path() + "/config"},
                                               {"AWS_PROFILE", "p"}};
  EXPECT_EQ(ResolveSettings({}, Fake(variables)).region, "from-profile");
  EXPECT_EQ(ResolveSettings({}, Fake(variables)).endpoint, "http://p");
  variables["AWS_DEFAULT_REGION"] = "from-environment";
  variables["AWS_ENDPOINT_URL"] = "http://e";
  EXPECT_EQ(ResolveSettings({}, Fake(variables)).region, "from-environment");
  EXPECT_EQ(ResolveSettings({}, Fake(variables)).endpoint, "http://e");
  variables["LAKESTREAM_S3_ENDPOINT"] = "http://l";
  EXPECT_EQ(ResolveSettings({}, Fake(variables)).endpoint, "http://l");
  StoreOptions options;
  options.region = "from-options";
  EXPECT_EQ(ResolveSettings(options, Fake(variables)).region, "from-options");
  EXPECT_EQ(ResolveSettings({}, Fake({})).region, "us-east-1");
}

TEST(SettingsTest, IniFilesAreReadAsAwsDoes) {
  const IniFile file = ParseIni(
      "# comment\r\n[default]\r\nAWS_Access_Key_Id = a=b \r\n; c\n[ profile  two ]\nx=1\n  "
      "y=2\nbad\n");
  EXPECT_EQ(file.at("default").at("aws_access_key_id"), "a=b");
  EXPECT_EQ(file.at("two").at("x"), "1");
  EXPECT_EQ(file.at("two").count("y"), 0u);
}

}  // namespace
}  // namespace lakestream::s3

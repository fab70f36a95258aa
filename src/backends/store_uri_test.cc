#include "backends/store_uri.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace lakestream {
namespace {

using Backend = StoreUri::Backend;

const PathBases kBases{.working_folder = "/work folder", .home = "/home/me"};

TEST(StoreUriTest, LocalPathsOfEveryForm) {
  const struct {
    std::string_view uri;
    std::string_view path;
  } kTable[] = {
      {"file:///x", "/x"},
      {"file:///x/", "/x"},
      {"file:/x/y", "/x/y"},
      {"file://localhost/x", "/x"},
      {"FILE:///x", "/x"},
      {"file:///", "/"},
      {"file:///a%20b/%25/%C3%A9", "/a b/%/\xC3\xA9"},
      {"file:///a b", "/a b"},
      {"/x/y", "/x/y"},
      {"/x//y/./z///", "/x/y/z"},
      {"/x/../y", "/x/../y"},
      {"/", "/"},
      {"/a b", "/a b"},
      {"/a%20b", "/a%20b"},
      {"/a?b#c", "/a?b#c"},
      {"x", "/work folder/x"},
      {"x/y/", "/work folder/x/y"},
      {"./x", "/work folder/x"},
      {"../x", "/work folder/../x"},
      {".", "/work folder"},
      {"my data", "/work folder/my data"},
      {"12:30", "/work folder/12:30"},
      {"a:b/c", "/work folder/a:b/c"},
      {"./s3://b", "/work folder/s3:/b"},
      {"~", "/home/me"},
      {"~/", "/home/me"},
      {"~/x", "/home/me/x"},
      {"~/my data", "/home/me/my data"},
      {"./~x", "/work folder/~x"},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.uri);
    const Result<StoreUri> parsed = ParseStoreUri(row.uri, kBases);
    ASSERT_THAT(parsed, IsOk());
    EXPECT_EQ(parsed->backend, Backend::kLocal);
    EXPECT_EQ(parsed->path, row.path);
  }
}

TEST(StoreUriTest, S3BucketsAndPrefixes) {
  const struct {
    std::string_view uri;
    std::string_view bucket;
    std::string_view prefix;
  } kTable[] = {
      {"s3://b", "b", ""},
      {"s3://b/", "b", ""},
      {"s3://b/p", "b", "p"},
      {"s3://b/p/", "b", "p"},
      {"s3://b/p/q//", "b", "p/q"},
      {"s3://b//p", "b", "/p"},
      {"S3://b/p", "b", "p"},
      {"s3://a.b.c/x", "a.b.c", "x"},
      {"s3://b/a b%20[bug]?x#y", "b", "a b%20[bug]?x#y"},
      {"s3://b/\xC3\xA9", "b", "\xC3\xA9"},
      {"s3://b/~/../x", "b", "~/../x"},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.uri);
    const Result<StoreUri> parsed = ParseStoreUri(row.uri, kBases);
    ASSERT_THAT(parsed, IsOk());
    EXPECT_EQ(parsed->backend, Backend::kS3);
    EXPECT_EQ(parsed->bucket, row.bucket);
    EXPECT_EQ(parsed->prefix, row.prefix);
  }
}

TEST(StoreUriTest, MemoryNames) {
  EXPECT_EQ(ParseStoreUri("memory://a", kBases)->name, "a");
  EXPECT_EQ(ParseStoreUri("memory://a/b/", kBases)->name, "a/b");
  EXPECT_EQ(ParseStoreUri("memory://a", kBases)->backend, Backend::kMemory);
}

TEST(StoreUriTest, RefusesWhatItCannotMean) {
  for (const std::string_view uri : {"",
                                     "file://host/x",
                                     "file://~/x",
                                     "file://./x",
                                     "file:x",
                                     "file:",
                                     "file://",
                                     "file://x",
                                     "file:///a%2",
                                     "file:///a%",
                                     "file:///%zz",
                                     "file:///a%2Fb",
                                     "file:///a%00b",
                                     "file:///a?b",
                                     "file:///a#b",
                                     "s3://",
                                     "s3:///p",
                                     "s3:/b",
                                     "s3:b",
                                     "s3://me@b/p",
                                     "s3://b:9000/p",
                                     "s3://a b/p",
                                     "memory://",
                                     "memory:///",
                                     "memory:x",
                                     "gs://b/p",
                                     "s3a://b/p",
                                     "http://host/b",
                                     "~you/x"}) {
    SCOPED_TRACE(uri);
    EXPECT_THAT(ParseStoreUri(uri, kBases), IsCode(Code::kInvalidArgument));
  }
}

TEST(StoreUriTest, AnUnknownSchemeIsAnsweredWithTheListOfForms) {
  const std::string message = ParseStoreUri("gs://b/p", kBases).status().message();
  for (const char* form : {"s3://", "file://", "memory://", "~/", "'gs'"}) {
    EXPECT_NE(message.find(form), std::string::npos) << message;
  }
}

TEST(StoreUriTest, PathsNeedTheirBase) {
  EXPECT_THAT(ParseStoreUri("x", {}), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(ParseStoreUri("~/x", {}), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(ParseStoreUri("/x", {}), IsOk());
}

}  // namespace
}  // namespace lakestream

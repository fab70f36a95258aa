// The contract of object stores on a real S3 server: Ceph RGW on loopback.
#include <gtest/gtest.h>

#include <atomic>

#include "base/text.h"
#include "runtime/parallel.h"
#include "tests/contract/object_store_contract.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/rgw_server.h"

namespace lakestream {
namespace {

// One server for the whole program; it ends with the program, however that ends.
const RgwServer& Server() {
  static const std::unique_ptr<RgwServer> server = [] {
    auto started = RgwServer::Start();
    EXPECT_TRUE(started.ok()) << started.status();
    if (!started.ok()) std::exit(1);
    (*started)->SetEnvironment();
    return *std::move(started);
  }();
  return *server;
}

// Each test has a prefix of its own.
std::unique_ptr<ObjectStore> NewStore() {
  static std::atomic<int> number{0};
  const std::string uri = Str("s3://", Server().bucket(), "/contract-", number++);
  auto store = OpenStore(uri, {}, RealRuntime());
  EXPECT_TRUE(store.ok()) << store.status();
  return std::make_unique<ForwardingStore>(*store);
}

StoreUnderTest Rgw() {
  StoreUnderTest store;
  store.name = "Ceph RGW";
  store.make = NewStore;
  store.key_bytes_max = 1000;  // the prefix takes the rest
  return store;
}

INSTANTIATE_TEST_SUITE_P(Rgw, ObjectStoreContract, testing::Values(Rgw()));

TEST(RgwTest, AMissingBucketSaysSo) {
  (void)Server();
  auto store = OpenStore("s3://no-such-bucket/x", {}, RealRuntime());
  ASSERT_TRUE(store.ok());
  auto runtime = RealRuntime();
  const Status put =
      PutBytes(**store, "a", AsBytes("b"), {}, After(*runtime, std::chrono::seconds(20))).status();
  EXPECT_FALSE(put.ok());
  EXPECT_NE(put.message().find("no-such-bucket"), std::string::npos) << put;
}

TEST(RgwTest, MoreAbandonedUploadsThanAPageAreAllEnded) {
  auto runtime = RealRuntime();
  auto store = NewStore();
  const Deadline deadline = After(*runtime, std::chrono::seconds(120));
  std::vector<std::unique_ptr<Upload>> left(1003);
  const Status begun = ParallelFor(*runtime, left.size(), 8, [&](size_t i) -> Status {
    // Several of one key, so that a page ends between them.
    LS_ASSIGN_OR_RETURN(left[i], store->StartUpload(Str("data/", i % 7), deadline));
    const ConstBytes piece = AsBytes("part");
    return left[i]->PutPart(1, {&piece, 1}, deadline);
  });
  ASSERT_TRUE(begun.ok()) << begun;
  const auto now = PutBytes(*store, "clock", AsBytes(""), {}, deadline);
  ASSERT_TRUE(now.ok()) << now.status();
  const StaleUploadOptions stale{"data/", now->date_ms + 60'000};
  EXPECT_EQ(store->AbortStaleUploads(stale, deadline).value(), left.size());
  EXPECT_EQ(store->AbortStaleUploads(stale, deadline).value(), 0u);
}

TEST(RgwTest, TheConditionalPutIsAtomic) {
  auto runtime = RealRuntime();
  auto store = NewStore();
  EXPECT_TRUE(
      CheckConditionalPut(*store, *runtime, After(*runtime, std::chrono::seconds(30))).ok());
}

}  // namespace
}  // namespace lakestream

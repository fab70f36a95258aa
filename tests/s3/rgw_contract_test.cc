// The contract of object stores on a real S3 server: Ceph RGW on loopback.
#include <gtest/gtest.h>

#include <atomic>

#include "base/text.h"
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

TEST(RgwTest, TheConditionalPutIsAtomic) {
  auto runtime = RealRuntime();
  auto store = NewStore();
  EXPECT_TRUE(
      CheckConditionalPut(*store, *runtime, After(*runtime, std::chrono::seconds(30))).ok());
}

}  // namespace
}  // namespace lakestream

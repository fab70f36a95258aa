// The contract of ObjectStore as tests that run unchanged on every backend. Each sentence of
// include/lakestream/object_store.h that can be tested has a test here.
//
// A backend's test program links ls_object_store_contract and says:
//   INSTANTIATE_TEST_SUITE_P(Memory, ObjectStoreContract, testing::Values(StoreUnderTest{...}));
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/object_store.h"
#include "tests/support/status_matchers.h"

namespace lakestream {

// How to make a store, and what may differ between stores.
struct StoreUnderTest {
  std::string name;  // for messages
  // An empty store (a fresh prefix, folder, ...), called once by each test.
  std::function<std::unique_ptr<ObjectStore>()> make;
  // Where threads come from.
  std::function<std::shared_ptr<Runtime>()> runtime = [] { return RealRuntime(); };
  // False: no empty components, "." and "..", no object below another one.
  bool holds_any_key = true;
  // Bytes of the longest key: less than 1024 if the store puts something before it.
  size_t key_bytes_max = 1024;
  // False: AbortStaleUploads() cannot tell uploads apart by their keys.
  bool knows_keys_of_uploads = true;
  // Scales the number of objects and rounds where requests are slow.
  bool slow = false;
};

void PrintTo(const StoreUnderTest& store, std::ostream* out);

class ObjectStoreContract : public testing::TestWithParam<StoreUnderTest> {
 protected:
  ObjectStoreContract() : runtime_(GetParam().runtime()), store_(GetParam().make()) {}

  Result<PutResult> Put(const std::string& key, std::string_view content,
                        const PutOptions& options = {}) {
    return PutBytes(*store_, key, AsBytes(content), options, deadline_);
  }
  Result<PutResult> PutIfAbsent(const std::string& key, std::string_view content) {
    PutOptions options;
    options.if_absent = true;
    return Put(key, content, options);
  }
  Result<PutResult> PutIfMatch(const std::string& key, std::string_view content,
                               const std::string& etag) {
    PutOptions options;
    options.if_match = etag;
    return Put(key, content, options);
  }
  // The content, or "<code>" of the failure.
  std::string Read(const std::string& key);
  std::string ReadRange(const std::string& key, uint64_t offset, uint64_t size);
  Status Delete(const std::vector<std::string>& keys) { return store_->Delete(keys, deadline_); }
  bool Exists(const std::string& key) { return store_->Head(key, deadline_).ok(); }
  // All keys by following the pages; checks that each page is sorted and within the limit.
  std::vector<std::string> ListAll(const std::string& prefix = "",
                                   const std::string& start_after = "", uint32_t limit = 1000);
  // Puts many small objects side by side.
  void PutMany(const std::vector<std::string>& keys);
  // body(0) ... body(count - 1), each on a thread of its own, started together.
  void Together(size_t count, const std::function<void(size_t)>& body);
  size_t Scaled(size_t number) const { return GetParam().slow ? (number + 3) / 4 : number; }

  const std::shared_ptr<Runtime> runtime_;
  const std::unique_ptr<ObjectStore> store_;
  const Deadline deadline_ = After(*runtime_, std::chrono::minutes(2));
};

}  // namespace lakestream

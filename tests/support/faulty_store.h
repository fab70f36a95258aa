// FaultyStore: a store whose next puts fail, or are applied without an answer, as a test asks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "tests/support/forwarding_store.h"

namespace lakestream::testing_support {

// Thread-safe.
class FaultyStore final : public ForwardingStore {
 public:
  explicit FaultyStore(std::shared_ptr<ObjectStore> below) : ForwardingStore(std::move(below)) {}

  // The next `count` puts of keys with `prefix` fail with `failure` and are not applied.
  void FailPuts(std::string prefix, Status failure, int count) {
    Add({std::move(prefix), std::move(failure), count, 0, false});
  }
  // The n-th put from now on (0: the next one) fails with `failure`.
  void FailNthPut(int n, Status failure) { Add({"", std::move(failure), 1, n, false}); }
  // The next `count` puts of keys with `prefix` are applied, but answer kUnknownOutcome.
  void LosePutAnswers(std::string prefix, int count) {
    Add({std::move(prefix), UnknownOutcomeError("the answer was lost"), count, 0, true});
  }
  // The next `count` gets of keys with `prefix` give bytes with one bit flipped in the middle.
  void CorruptGets(std::string prefix, int count) {
    MutexLock lock(mutex_);
    corrupt_prefix_ = std::move(prefix);
    corrupt_count_ = count;
  }
  // The next `count` gets of keys with `prefix` fail with `failure`.
  void FailGets(std::string prefix, Status failure, int count) {
    MutexLock lock(mutex_);
    get_faults_.push_back({std::move(prefix), std::move(failure), count, 0, false});
  }
  void Heal() {
    MutexLock lock(mutex_);
    faults_.clear();
    get_faults_.clear();
    corrupt_count_ = 0;
  }
  uint64_t puts() const { return puts_; }
  uint64_t reads() const { return reads_; }

  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override {
    ++puts_;
    const std::optional<Fault> fault = NextFault(faults_, key);
    if (!fault) return ForwardingStore::Put(key, pieces, options, deadline);
    if (fault->applied) (void)ForwardingStore::Put(key, pieces, options, deadline);
    return fault->failure;
  }

  Result<GetResult> Get(const std::string& key, const GetOptions& options,
                        const Deadline& deadline) override {
    ++reads_;
    if (const std::optional<Fault> fault = NextFault(get_faults_, key)) return fault->failure;
    auto result = ForwardingStore::Get(key, options, deadline);
    MutexLock lock(mutex_);
    if (!result.ok() || corrupt_count_ == 0 || !key.starts_with(corrupt_prefix_)) return result;
    --corrupt_count_;
    std::vector<uint8_t> bytes(result->data.bytes().begin(), result->data.bytes().end());
    if (!bytes.empty()) bytes[bytes.size() / 2] ^= 4;
    result->data = Buffer::FromVector(std::move(bytes));
    return result;
  }

  Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) override {
    ++reads_;
    return ForwardingStore::Head(key, deadline);
  }

 private:
  struct Fault {
    std::string prefix;
    Status failure;
    int count = 0;
    int skip = 0;
    bool applied = false;
  };

  void Add(Fault fault) {
    MutexLock lock(mutex_);
    faults_.push_back(std::move(fault));
  }

  std::optional<Fault> NextFault(std::vector<Fault>& faults, const std::string& key) {
    MutexLock lock(mutex_);
    for (Fault& fault : faults) {
      if (fault.count == 0 || !key.starts_with(fault.prefix)) continue;
      if (fault.skip-- > 0) continue;
      --fault.count;
      return fault;
    }
    return std::nullopt;
  }

  Mutex mutex_;
  std::vector<Fault> faults_;      // guarded by mutex_
  std::vector<Fault> get_faults_;  // likewise
  std::string corrupt_prefix_ LS_GUARDED_BY(mutex_);
  int corrupt_count_ LS_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> puts_{0};
  std::atomic<uint64_t> reads_{0};
};

}  // namespace lakestream::testing_support

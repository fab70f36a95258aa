// SimStore: an ObjectStore on simulated objects, whose requests live through three instants: sent,
// applied, answered. The faults of a FaultRates strike between any two of them.
//
// What it promises is object_store.h, faults or not: a condition is checked and the write made at
// one instant; kUnknownOutcome is the only failure of a write that may have been, or may still be,
// applied; a conditional put is sent at most once by each call (duplicates are the network's).
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lakestream/object_store.h"
#include "sim/sim_runtime.h"
#include "sim/store_profile.h"

namespace lakestream::sim {

struct StoredObject {
  Buffer data;
  std::string etag;
  int64_t modified_ms = 0;
  Time first_applied = 0;
  Time last_applied = 0;
};

// One stay of an object in the store: from the write that made it to its deletion, or to the write
// that replaced it by other bytes.
struct Lifetime {
  Buffer data;
  Time written = 0;
  Time gone = kNever;
  uint32_t gone_by = 0;  // the process that deleted it
  bool LivesAt(Time at) const { return written <= at && at < gone; }
};
// All that ever was in the store, by key, oldest first. Hints are left out.
using Archive = std::map<std::string, std::vector<Lifetime>>;

// An upload in parts, as the store sees it.
struct SimPendingUpload {
  std::string key;
  int64_t begun_ms = 0;
  std::map<uint32_t, Buffer> parts;
  bool completed = false;  // kept: a duplicate of the completing request finds it, too
};

// The storage that all processes share, and its weather. Confined to one thread when it has a
// scheduler; without one it has no latency and no faults, and is thread-safe.
class SimStorage {
 public:
  SimStorage(Scheduler* scheduler, uint64_t seed, StoreProfile profile);

  const StoreProfile& profile() const { return profile_; }
  FaultRates& faults() { return faults_; }
  void set_late_max(Time late_max) { late_max_ = late_max; }
  // Nothing goes wrong any more from now on; what is on its way still lands.
  void Heal() { faults_ = FaultRates(); }

  const std::map<std::string, StoredObject>& objects() const LS_NO_THREAD_SAFETY_ANALYSIS {
    return objects_;
  }
  // Places an object from outside of the simulation (an operator, a test).
  void Place(const std::string& key, ConstBytes bytes);
  void Remove(const std::string& key);

  const Archive& archive() const { return archive_; }
  // Uploads that hold parts and were neither completed nor aborted, and when they began.
  std::vector<std::pair<std::string, Time>> unfinished_uploads() const;
  // Keys whose content was replaced by different bytes.
  const std::vector<std::string>& rewritten() const { return rewritten_; }
  using Coverage = std::array<std::array<uint64_t, kStoreOps>, kFaults>;
  const Coverage& coverage() const { return coverage_; }
  uint64_t requests() const { return requests_; }
  // Mutations on their way that have not been applied yet.
  uint64_t in_flight() const { return in_flight_; }
  // Told of each attempt and each application, for the readable history.
  std::function<void(const std::string&)> trace;

 private:
  friend class SimStore;
  friend class SimUpload;
  struct Plan {
    Fault fault = Fault::kNone;
    std::vector<Time> apply_at;
    size_t answered_apply = 0;  // whose result is the answer
    Time answer_at = kNever;    // kNever: none
    Status forced;              // answers this instead of the result
  };
  Plan DrawPlan(StoreOp op, Time now);
  int64_t DateMs() const;

  // The operations, at the instant when they are applied.
  Result<GetResult> ApplyGet(const std::string& key, const GetOptions& options);
  Result<PutResult> ApplyPut(uint32_t process, const std::string& key, const Buffer& data,
                             const PutOptions& options);
  Result<ObjectInfo> ApplyHead(const std::string& key);
  Result<ListPage> ApplyList(const ListOptions& options);
  Status ApplyDelete(uint32_t process, const std::vector<std::string>& keys);
  void Bury(const std::string& key, uint32_t process);
  uint64_t ApplyStartUpload(const std::string& key);
  Result<bool> ApplyPutPart(uint64_t upload, uint32_t number, const Buffer& data);
  Result<PutResult> ApplyComplete(uint32_t process, uint64_t upload, const std::string& key);
  void ApplyAbort(uint64_t upload);
  uint64_t ApplyAbortStale(const StaleUploadOptions& options);
  PutResult Write(const std::string& key, const Buffer& data);
  void FlipBit(GetResult& result);
  void Trace(std::string_view what, uint32_t process, StoreOp op, const std::string& key,
             std::string_view detail);

  Scheduler* scheduler_;
  Random random_;
  StoreProfile profile_;
  FaultRates faults_;
  Time late_max_ = 5 * kMinute;
  mutable Mutex mutex_;
  std::map<std::string, StoredObject> objects_ LS_GUARDED_BY(mutex_);
  uint64_t writes_ LS_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, SimPendingUpload> uploads_ LS_GUARDED_BY(mutex_);
  uint64_t uploads_begun_ LS_GUARDED_BY(mutex_) = 0;
  Archive archive_;
  std::vector<std::string> rewritten_;
  Coverage coverage_ = {};
  uint64_t requests_ = 0;
  uint64_t in_flight_ = 0;
};

// One process's client of the storage.
class SimStore final : public ObjectStore {
 public:
  // In the simulation.
  SimStore(std::shared_ptr<SimStorage> storage, std::shared_ptr<SimRuntime> runtime);
  // Outside of it: each call is applied at once, on the caller's thread.
  explicit SimStore(std::shared_ptr<SimStorage> storage);

  Result<GetResult> Get(const std::string& key, const GetOptions& options,
                        const Deadline& deadline) override;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override;
  Result<std::unique_ptr<Upload>> StartUpload(const std::string& key,
                                              const Deadline& deadline) override;
  Result<ListPage> List(const ListOptions& options, const Deadline& deadline) override;
  Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) override;
  Status Delete(std::span<const std::string> keys, const Deadline& deadline) override;
  Result<uint64_t> AbortStaleUploads(const StaleUploadOptions& options,
                                     const Deadline& deadline) override;
  StoreCapabilities capabilities() const override;
  std::string Describe() const override { return "sim://" + storage_->profile().name; }

 private:
  friend class SimUpload;
  struct Request {
    StoreOp op;
    std::string key;
    bool repeatable = true;  // the client may send it again
    bool reads = false;
  };
  // Sends, and repeats where that is allowed. `apply` may run now, later, twice or never.
  template <typename T>
  Result<T> Call(const Request& request, const Deadline& deadline,
                 std::function<Result<T>()> apply);
  template <typename T>
  Result<T> Attempt(const Request& request, const Deadline& deadline,
                    const std::function<Result<T>()>& apply);
  Status Check(const Deadline& deadline, std::string_view what) const;
  uint32_t process_id() const { return runtime_ ? runtime_->process().id : 0; }

  std::shared_ptr<SimStorage> storage_;
  std::shared_ptr<SimRuntime> runtime_;  // null outside of the simulation
};

}  // namespace lakestream::sim

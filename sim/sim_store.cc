// Long file: every operation goes through the one template that sends a request and lets it fail.
#include "sim/sim_store.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "codec/checksum.h"
#include "store/store_rules.h"

namespace lakestream::sim {
namespace {

constexpr int64_t kStoreEpochMs = 1'800'000'000'000 + 1234;  // its clock is nobody else's
constexpr Time kCancelCheck = 50 * kMillisecond;

Buffer Gather(std::span<const ConstBytes> pieces) {
  std::vector<uint8_t> bytes;
  bytes.reserve(TotalBytes(pieces));
  for (ConstBytes piece : pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return Buffer::FromVector(std::move(bytes));
}

bool IsHint(std::string_view key) { return key.starts_with("head/"); }
// Data, records, snapshots, index pages and branches are written once.
bool IsImmutable(std::string_view key) { return !IsHint(key) && !key.starts_with("boundary/"); }

uint64_t Summary(const Result<GetResult>& result) {
  return result.ok() ? Checksum64(result->data.bytes()) : static_cast<uint64_t>(0);
}
uint64_t Summary(const Result<PutResult>& result) { return result.ok() && result->stored; }
uint64_t Summary(const Result<ObjectInfo>& result) { return result.ok() ? result->size + 1 : 0; }
uint64_t Summary(const Result<ListPage>& result) {
  return result.ok() ? result->objects.size() + 1 : 0;
}
uint64_t Summary(const Result<bool>&) { return 1; }
uint64_t Summary(const Result<uint64_t>& result) { return result.ok() ? *result + 1 : 0; }

std::string Verdict(const Status& status) {
  if (status.ok()) return "ok";
  return Str(CodeName(status.code()), status.reason() == Reason::kNone ? "" : "/",
             ReasonName(status.reason()));
}
template <typename T>
std::string Verdict(const Result<T>& result) {
  return Verdict(result.status());
}
std::string Verdict(const Result<PutResult>& result) {
  if (!result.ok()) return Verdict(result.status());
  return result->stored ? "stored" : "condition not met";
}

}  // namespace

SimStorage::SimStorage(Scheduler* scheduler, uint64_t seed, StoreProfile profile)
    : scheduler_(scheduler), random_(seed, "store"), profile_(std::move(profile)) {}

int64_t SimStorage::DateMs() const {
  return kStoreEpochMs + (scheduler_ ? scheduler_->now() / kMillisecond : 0);
}

void SimStorage::Place(const std::string& key, ConstBytes bytes) {
  MutexLock lock(mutex_);
  Write(key, Buffer::CopyOf(bytes));
}

void SimStorage::Remove(const std::string& key) {
  MutexLock lock(mutex_);
  Bury(key, 0);
  objects_.erase(key);
}

void SimStorage::Bury(const std::string& key, uint32_t process) {
  const auto found = archive_.find(key);
  if (found == archive_.end() || found->second.back().gone != kNever) return;
  found->second.back().gone = scheduler_ ? scheduler_->now() : 0;
  found->second.back().gone_by = process;
}

std::vector<std::pair<std::string, Time>> SimStorage::unfinished_uploads() const {
  MutexLock lock(mutex_);
  std::vector<std::pair<std::string, Time>> found;
  for (const auto& [id, upload] : uploads_) {
    if (upload.completed || upload.parts.empty()) continue;
    found.emplace_back(upload.key, (upload.begun_ms - kStoreEpochMs) * kMillisecond);
  }
  return found;
}

void SimStorage::Trace(std::string_view what, uint32_t process, StoreOp op, const std::string& key,
                       std::string_view detail) {
  if (!trace) return;
  trace(
      Str(what, " p", process, " ", StoreOpName(op), " ", key, detail.empty() ? "" : ": ", detail));
}

SimStorage::Plan SimStorage::DrawPlan(StoreOp op, Time now) {
  Plan plan;
  const bool reads = op == StoreOp::kGet || op == StoreOp::kHead || op == StoreOp::kList;
  const double median =
      static_cast<double>(reads ? profile_.read_latency : profile_.write_latency) / 2;
  const auto hop = [&] {
    return 1 + static_cast<Time>(random_.Lognormal(median, profile_.latency_sigma));
  };
  for (int i = 1; i < kFaults; ++i) {
    const Fault fault = static_cast<Fault>(i);
    if (Applies(fault, op) && random_.Chance(faults_[fault])) {
      plan.fault = fault;
      break;
    }
  }
  Time apply_at = now + hop();
  if (plan.fault == Fault::kStall) apply_at += static_cast<Time>(random_.LogUniform(0.2e9, 60e9));
  const Time answer_at = apply_at + hop();
  const Time late = static_cast<Time>(random_.LogUniform(1e6, static_cast<double>(late_max_)));
  plan.apply_at = {apply_at};
  plan.answer_at = answer_at;
  switch (plan.fault) {
    case Fault::kRequestLost:
      plan.apply_at.clear();
      plan.answer_at = kNever;
      break;
    case Fault::kAnswerLost:  // sometimes the connection breaks at once, sometimes it just hangs
      if (random_.Chance(0.5))
        plan.forced = UnknownOutcomeError("simulated: connection reset");
      else
        plan.answer_at = kNever;
      break;
    case Fault::kLateApply:
      plan.apply_at = {apply_at + late};
      if (random_.Chance(0.5))
        plan.forced = UnknownOutcomeError("simulated: connection reset");
      else
        plan.answer_at = kNever;
      break;
    case Fault::kDuplicate:
      plan.apply_at.push_back(apply_at + late);
      break;
    case Fault::kDuplicateAnswered:
      plan.apply_at.push_back(apply_at + hop());
      plan.answered_apply = 1;
      plan.answer_at = plan.apply_at[1] + hop();
      break;
    case Fault::kConflict:
      plan.apply_at.clear();
      plan.forced = UnavailableError("simulated: 409 conflict", Reason::kConflict);
      break;
    case Fault::kThrottled:
      plan.apply_at.clear();
      plan.forced = UnavailableError("simulated: 503 slow down", Reason::kThrottled);
      break;
    case Fault::kErrorBefore:
      plan.apply_at.clear();
      [[fallthrough]];
    case Fault::kErrorAfter:
      plan.forced =
          reads ? UnavailableError("simulated: 500") : UnknownOutcomeError("simulated: 500");
      break;
    default:
      break;
  }
  return plan;
}

Result<GetResult> SimStorage::ApplyGet(const std::string& key, const GetOptions& options) {
  MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return MissingObject("sim", key);
  const StoredObject& object = found->second;
  if (!options.if_match.empty() && options.if_match != object.etag) {
    return ObjectChanged("sim", key);
  }
  LS_ASSIGN_OR_RETURN(ByteRange range, CutRange(options.range, object.data.size(), key));
  GetResult result;
  result.info = {key, object.data.size(), object.etag, object.modified_ms, DateMs()};
  result.data = object.data.Slice(range.offset, range.size);
  return result;
}

PutResult SimStorage::Write(const std::string& key,
                            const Buffer& data) LS_NO_THREAD_SAFETY_ANALYSIS {
  const Time now = scheduler_ ? scheduler_->now() : 0;
  StoredObject& object = objects_[key];
  if (!object.etag.empty() && IsImmutable(key) &&
      AsText(object.data.bytes()) != AsText(data.bytes())) {
    rewritten_.push_back(key);
  }
  if (object.etag.empty()) object.first_applied = now;
  object.last_applied = now;
  const bool same = !object.etag.empty() && AsText(object.data.bytes()) == AsText(data.bytes());
  if (!same && !IsHint(key)) {
    Bury(key, 0);
    archive_[key].push_back({data, now});
  }
  object.data = data;
  object.etag = Str("e", ++writes_);
  object.modified_ms = DateMs();
  return PutResult{.stored = true, .etag = object.etag, .date_ms = object.modified_ms};
}

Result<PutResult> SimStorage::ApplyPut(uint32_t process, const std::string& key, const Buffer& data,
                                       const PutOptions& options) {
  MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  const bool exists = found != objects_.end();
  if (exists && profile_.name_interval > 0 && scheduler_ &&
      scheduler_->now() < found->second.last_applied + profile_.name_interval) {
    return UnavailableError("simulated: 429, too many writes of one name", Reason::kThrottled);
  }
  const bool unmet =
      (options.if_absent && exists) ||
      (!options.if_match.empty() && (!exists || found->second.etag != options.if_match));
  if (unmet && profile_.condition == Condition::kAtomic) {
    if (options.if_absent && profile_.lost_race_is_409) {
      return UnavailableError("simulated: 409, another write won", Reason::kConflict);
    }
    return PutResult{.stored = false, .etag = "", .date_ms = DateMs()};
  }
  if (options.if_absent && profile_.condition == Condition::kRaced) {
    if (unmet) return PutResult{.stored = false, .etag = "", .date_ms = DateMs()};
    if (scheduler_) {  // checked now, written a little later
      const Time delay = static_cast<Time>(random_.LogUniform(1e5, 50e6));
      scheduler_->At(scheduler_->now() + delay, [this, key, data, process] {
        MutexLock later(mutex_);
        Trace("  written late", process, StoreOp::kPutIfAbsent, key, "");
        Write(key, data);
      });
      return PutResult{.stored = true, .etag = Str("e", writes_), .date_ms = DateMs()};
    }
  }
  return Write(key, data);
}

Result<ObjectInfo> SimStorage::ApplyHead(const std::string& key) {
  MutexLock lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return MissingObject("sim", key);
  return ObjectInfo{key, found->second.data.size(), found->second.etag, found->second.modified_ms,
                    DateMs()};
}

Result<ListPage> SimStorage::ApplyList(const ListOptions& options) {
  MutexLock lock(mutex_);
  ListPage page;
  page.date_ms = DateMs();
  auto next = options.start_after < options.prefix ? objects_.lower_bound(options.prefix)
                                                   : objects_.upper_bound(options.start_after);
  for (; next != objects_.end() && next->first.starts_with(options.prefix); ++next) {
    const auto& [key, object] = *next;
    if (scheduler_ && object.first_applied + profile_.list_lag > scheduler_->now()) continue;
    if (page.objects.size() == options.limit) {
      page.more = true;
      break;
    }
    page.objects.push_back(
        {key, object.data.size(), object.etag, object.modified_ms, page.date_ms});
  }
  return page;
}

Status SimStorage::ApplyDelete(uint32_t process, const std::vector<std::string>& keys) {
  MutexLock lock(mutex_);
  for (const std::string& key : keys) {
    Bury(key, process);
    objects_.erase(key);
  }
  return OkStatus();
}

uint64_t SimStorage::ApplyStartUpload(const std::string& key) {
  MutexLock lock(mutex_);
  uploads_[++uploads_begun_] = {key, DateMs(), {}, false};
  return uploads_begun_;
}

Result<bool> SimStorage::ApplyPutPart(uint64_t upload, uint32_t number, const Buffer& data) {
  MutexLock lock(mutex_);
  const auto found = uploads_.find(upload);
  if (found == uploads_.end()) return NotFoundError("simulated: no such upload");
  found->second.parts[number] = data;
  return true;
}

Result<PutResult> SimStorage::ApplyComplete(uint32_t process, uint64_t upload,
                                            const std::string& key) {
  Buffer whole;
  {
    MutexLock lock(mutex_);
    const auto found = uploads_.find(upload);
    if (found == uploads_.end()) return StaleUploadEnded(key);
    found->second.completed = true;
    std::vector<ConstBytes> pieces;
    for (const auto& [number, data] : found->second.parts) pieces.push_back(data.bytes());
    whole = Gather(pieces);
  }
  return ApplyPut(process, key, whole, {});
}

void SimStorage::ApplyAbort(uint64_t upload) {
  MutexLock lock(mutex_);
  uploads_.erase(upload);
}

uint64_t SimStorage::ApplyAbortStale(const StaleUploadOptions& options) {
  MutexLock lock(mutex_);
  const auto is_stale = [&](const auto& entry) {
    const SimPendingUpload& upload = entry.second;
    return !upload.completed && !upload.parts.empty() && upload.key.starts_with(options.prefix) &&
           upload.begun_ms < options.begun_before_ms;
  };
  if (!options.dry_run) return std::erase_if(uploads_, is_stale);
  return static_cast<uint64_t>(std::count_if(uploads_.begin(), uploads_.end(), is_stale));
}

void SimStorage::FlipBit(GetResult& result) {
  if (result.data.empty()) return;
  std::vector<uint8_t> bytes(result.data.bytes().begin(), result.data.bytes().end());
  bytes[random_.Below(bytes.size())] ^= static_cast<uint8_t>(1u << random_.Below(8));
  result.data = Buffer::FromVector(std::move(bytes));
}

SimStore::SimStore(std::shared_ptr<SimStorage> storage, std::shared_ptr<SimRuntime> runtime)
    : storage_(std::move(storage)), runtime_(std::move(runtime)) {}

SimStore::SimStore(std::shared_ptr<SimStorage> storage) : storage_(std::move(storage)) {}

Status SimStore::Check(const Deadline& deadline, std::string_view what) const {
  if (runtime_) return CheckDeadline(*runtime_, deadline, what);
  if (deadline.cancelled()) return CancelledError(Str(what, ": cancelled by the caller"));
  if (deadline.at < std::chrono::steady_clock::now()) {
    return DeadlineExceededError(Str(what, ": not done within the time allowed"));
  }
  return OkStatus();
}

// What the client and the network share about one attempt.
template <typename T>
struct Exchange {
  Task* waiter = nullptr;
  std::vector<std::optional<Result<T>>> results;
  std::optional<Result<T>> answer;
};

template <typename T>
Result<T> SimStore::Attempt(const Request& request, const Deadline& deadline,
                            const std::function<Result<T>()>& apply) {
  Scheduler& scheduler = runtime_->scheduler();
  SimStorage* storage = storage_.get();
  const uint32_t process = process_id();
  scheduler.Seam();  // a process may die just before it sends
  LS_RETURN_IF_ERROR(Check(deadline, Str(StoreOpName(request.op), " of '", request.key, "'")));
  const Time sent = scheduler.now();
  SimStorage::Plan plan = storage->DrawPlan(request.op, sent);
  ++storage->coverage_[static_cast<size_t>(plan.fault)][static_cast<size_t>(request.op)];
  ++storage->requests_;
  ++runtime_->process().requests;
  runtime_->process().plain_puts += request.op == StoreOp::kPut || request.op == StoreOp::kUpload;
  runtime_->process().faults += plan.fault != Fault::kNone;
  scheduler.Note(request.key);
  storage->Trace("sent", process, request.op, request.key,
                 plan.fault == Fault::kNone ? "" : FaultName(plan.fault));

  auto exchange = std::make_shared<Exchange<T>>();
  exchange->waiter = scheduler.current();
  exchange->results.resize(plan.apply_at.size());
  for (size_t i = 0; i < plan.apply_at.size(); ++i) {
    if (!request.reads) ++storage->in_flight_;
    scheduler.At(plan.apply_at[i], [storage, exchange, apply, request, process, i, &scheduler] {
      if (!request.reads) --storage->in_flight_;
      exchange->results[i] = apply();
      const uint64_t summary = Summary(*exchange->results[i]);
      scheduler.Note(summary);
      if (!request.reads) {
        storage->Trace("applied", process, request.op, request.key, Verdict(*exchange->results[i]));
      }
    });
  }
  if (plan.answer_at != kNever) {
    scheduler.At(plan.answer_at, [exchange, plan, &scheduler] {
      if (exchange->answer) return;
      exchange->answer =
          plan.forced.ok() ? *exchange->results[plan.answered_apply] : Result<T>(plan.forced);
      if (exchange->waiter != nullptr) scheduler.Wake(exchange->waiter);
    });
  }

  const Time timeout = sent + storage->profile().client_timeout;
  const Time give_up = std::min(timeout, runtime_->ToVirtual(deadline.at));
  while (!exchange->answer && scheduler.now() < give_up && !deadline.cancelled()) {
    const Time slice = deadline.cancel ? scheduler.now() + kCancelCheck : kNever;
    scheduler.Block(std::min(give_up, slice), StoreOpName(request.op));
  }
  if (!exchange->answer) {
    exchange->waiter = nullptr;
    storage->Trace("gave up", process, request.op, request.key, "");
    const std::string what = Str(StoreOpName(request.op), " of '", request.key, "'");
    if (!request.reads) return UnknownOutcomeError(what + ": no answer");
    LS_RETURN_IF_ERROR(Check(deadline, what));
    return UnavailableError(what + ": timed out");
  }
  Result<T> answer = std::move(*exchange->answer);
  if constexpr (std::is_same_v<T, GetResult>) {
    if (plan.fault == Fault::kCorruptRead && answer.ok() && request.key.starts_with("data/")) {
      storage->FlipBit(*answer);
    }
  }
  storage->Trace("answered", process, request.op, request.key, Verdict(answer));
  scheduler.Seam();  // ... or just after the answer came
  return answer;
}

template <typename T>
Result<T> SimStore::Call(const Request& request, const Deadline& deadline,
                         std::function<Result<T>()> apply) {
  LS_RETURN_IF_ERROR(Check(deadline, Str(StoreOpName(request.op), " of '", request.key, "'")));
  if (!runtime_) return apply();
  const uint32_t retries = request.repeatable ? storage_->profile().client_retries : 0;
  bool unknown = false;  // an earlier attempt may still be applied
  for (uint32_t i = 0;; ++i) {
    Result<T> result = Attempt<T>(request, deadline, apply);
    const Code code = result.status().code();
    unknown |= code == Code::kUnknownOutcome;
    if (result.ok()) return result;
    const bool transient = code == Code::kUnavailable || code == Code::kUnknownOutcome;
    if (!transient || i >= retries || !Check(deadline, "").ok()) {
      if (unknown && code != Code::kUnknownOutcome) {
        return UnknownOutcomeError(
            Str("an earlier attempt may be applied: ", result.status().message()));
      }
      return result;
    }
    const Duration pause(static_cast<int64_t>(1e6 * static_cast<double>(10u << std::min(i, 8u)) *
                                              RandomUnit(*runtime_)));
    if (!SleepFor(*runtime_, pause, deadline).ok()) continue;
  }
}

Result<GetResult> SimStore::Get(const std::string& key, const GetOptions& options,
                                const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckKey(key));
  GetOptions condition = options;
  condition.allocator = nullptr;
  LS_ASSIGN_OR_RETURN(GetResult result, Call<GetResult>({StoreOp::kGet, key, true, true}, deadline,
                                                        [storage = storage_, key, condition] {
                                                          return storage->ApplyGet(key, condition);
                                                        }));
  if (options.allocator != nullptr) {
    const size_t bytes = result.data.size();
    LS_ASSIGN_OR_RETURN(auto block, AllocateFor(options.allocator, bytes, key));
    if (bytes > 0) std::memcpy(block.data, result.data.data(), bytes);
    result.data = ToBuffer(std::move(block), bytes);
  }
  return result;
}

Result<PutResult> SimStore::Put(const std::string& key, std::span<const ConstBytes> pieces,
                                const PutOptions& options, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckPut(key, options));
  if (!options.if_match.empty() && !storage_->profile().put_if_match) {
    return UnimplementedError("simulated: no put with if_match");
  }
  const bool conditional = options.if_absent || !options.if_match.empty();
  const StoreOp op = conditional ? StoreOp::kPutIfAbsent : StoreOp::kPut;
  return Call<PutResult>(
      {op, key, !conditional, false}, deadline,
      [storage = storage_, process = process_id(), key, options, data = Gather(pieces)] {
        return storage->ApplyPut(process, key, data, options);
      });
}

Result<ObjectInfo> SimStore::Head(const std::string& key, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckKey(key));
  return Call<ObjectInfo>({StoreOp::kHead, key, true, true}, deadline,
                          [storage = storage_, key] { return storage->ApplyHead(key); });
}

Result<ListPage> SimStore::List(const ListOptions& options, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckList(options));
  return Call<ListPage>({StoreOp::kList, options.prefix, true, true}, deadline,
                        [storage = storage_, options] { return storage->ApplyList(options); });
}

Status SimStore::Delete(std::span<const std::string> keys, const Deadline& deadline) {
  LS_RETURN_IF_ERROR(Check(deadline, "delete"));
  for (const std::string& key : keys) LS_RETURN_IF_ERROR(CheckKey(key));
  if (keys.empty()) return OkStatus();
  std::vector<std::string> copy(keys.begin(), keys.end());
  return Call<bool>({StoreOp::kDelete, keys[0], true, false}, deadline,
                    [storage = storage_, process = process_id(), copy]() -> Result<bool> {
                      LS_RETURN_IF_ERROR(storage->ApplyDelete(process, copy));
                      return true;
                    })
      .status();
}

// Parts travel like any request; the object appears when Complete() is applied.
class SimUpload final : public Upload {
 public:
  SimUpload(SimStore store, uint64_t id, std::string key)
      : store_(std::move(store)), id_(id), key_(std::move(key)) {}
  ~SimUpload() override {
    // A process outside of the simulation aborts what it drops; one inside leaves it, as if it had
    // crashed: reclamation has to find it.
    if (!store_.runtime_) (void)Abort(Deadline::Never());
  }

  Status PutPart(uint32_t number, std::span<const ConstBytes> pieces,
                 const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(CheckPartNumber(key_, number, store_.capabilities().upload_parts_max));
    {
      MutexLock lock(mutex_);
      if (over_) return Over();
      if (!sent_.emplace(number, true).second) {
        return InvalidArgumentError(
            Str("upload of '", key_, "': part ", number, " was sent before"));
      }
    }
    return store_
        .Call<bool>({StoreOp::kUpload, key_, true, false}, deadline,
                    [storage = store_.storage_, id = id_, number, data = Gather(pieces)] {
                      return storage->ApplyPutPart(id, number, data);
                    })
        .status();
  }

  Result<PutResult> Complete(const Deadline& deadline) override {
    {
      MutexLock lock(mutex_);
      if (over_) return Over();
      if (sent_.empty() || sent_.rbegin()->first != sent_.size()) {
        return InvalidArgumentError(
            Str("upload of '", key_, "': not all parts 1, 2, ... were sent"));
      }
    }
    Result<PutResult> result =
        store_.Call<PutResult>({StoreOp::kUpload, key_, false, false}, deadline,
                               [storage = store_.storage_, process = store_.process_id(), id = id_,
                                key = key_] { return storage->ApplyComplete(process, id, key); });
    MutexLock lock(mutex_);
    if (result.ok()) over_ = true;
    return result;
  }

  Status Abort(const Deadline& deadline) override {
    {
      MutexLock lock(mutex_);
      if (over_) return OkStatus();
      over_ = true;
    }
    return store_
        .Call<bool>({StoreOp::kDelete, key_, true, false}, deadline,
                    [storage = store_.storage_, id = id_]() -> Result<bool> {
                      storage->ApplyAbort(id);
                      return true;
                    })
        .status();
  }

 private:
  Status Over() const {
    return FailedPreconditionError(Str("upload of '", key_, "' is over; start a new one"));
  }

  SimStore store_;
  const uint64_t id_;
  const std::string key_;
  Mutex mutex_;
  std::map<uint32_t, bool> sent_ LS_GUARDED_BY(mutex_);
  bool over_ LS_GUARDED_BY(mutex_) = false;
};

Result<std::unique_ptr<Upload>> SimStore::StartUpload(const std::string& key,
                                                      const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckKey(key));
  LS_ASSIGN_OR_RETURN(const uint64_t id,
                      Call<uint64_t>({StoreOp::kUpload, key, true, false}, deadline,
                                     [storage = storage_, key]() -> Result<uint64_t> {
                                       return storage->ApplyStartUpload(key);
                                     }));
  SimStore client = runtime_ ? SimStore(storage_, runtime_) : SimStore(storage_);
  return std::unique_ptr<Upload>(std::make_unique<SimUpload>(std::move(client), id, key));
}

Result<uint64_t> SimStore::AbortStaleUploads(const StaleUploadOptions& options,
                                             const Deadline& deadline) {
  return Call<uint64_t>({StoreOp::kDelete, options.prefix, true, false}, deadline,
                        [storage = storage_, options]() -> Result<uint64_t> {
                          return storage->ApplyAbortStale(options);
                        });
}

StoreCapabilities SimStore::capabilities() const {
  StoreCapabilities capabilities;
  capabilities.put_if_match = storage_->profile().put_if_match;
  capabilities.durable = true;
  capabilities.shared = true;
  capabilities.single_put_bytes_max = storage_->profile().single_put_bytes_max;
  capabilities.upload_part_bytes_min = storage_->profile().upload_part_bytes_min;
  return capabilities;
}

}  // namespace lakestream::sim

// What a simulated store is like, and what goes wrong with it: plain data, drawn or chosen per run.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/scheduler.h"

namespace lakestream::sim {

enum class StoreOp : int { kGet, kHead, kPut, kPutIfAbsent, kList, kDelete, kUpload, kCount };
inline constexpr int kStoreOps = static_cast<int>(StoreOp::kCount);
const char* StoreOpName(StoreOp op);

// One thing that can go wrong with one request. At most one happens to each.
enum class Fault : int {
  kNone,
  kRequestLost,        // never arrives; the client times out
  kAnswerLost,         // applied; the client's connection breaks or times out
  kLateApply,          // the client times out; applied up to minutes later
  kDuplicate,          // applied and answered; applied again up to minutes later
  kDuplicateAnswered,  // applied twice; the client sees only the second answer (a hidden resend)
  kConflict,           // 409: not applied, "undecided, try again"
  kThrottled,          // 429 or 503: not applied
  kErrorBefore,        // 500, not applied; the client can't know
  kErrorAfter,         // 500, applied; the client can't know
  kStall,              // slow by seconds to a minute, else right
  kCorruptRead,        // one bit of the answer is flipped (data objects only)
  kCount
};
inline constexpr int kFaults = static_cast<int>(Fault::kCount);
const char* FaultName(Fault fault);
// Whether the fault can happen to such a request.
bool Applies(Fault fault, StoreOp op);

// Probability of each fault for each request that it applies to.
struct FaultRates {
  std::array<double, kFaults> rate = {};
  double& operator[](Fault fault) { return rate[static_cast<size_t>(fault)]; }
  double operator[](Fault fault) const { return rate[static_cast<size_t>(fault)]; }
};

// How the store treats put-if-absent.
enum class Condition : int {
  kAtomic,
  kIgnored,  // the header is ignored: the last writer wins (must be refused)
  kRaced,    // checks, then writes, without a lock (must be refused)
};

struct StoreProfile {
  std::string name = "s3";
  Time read_latency = 15 * kMillisecond;  // median, until the answer
  Time write_latency = 30 * kMillisecond;
  double latency_sigma = 0.4;  // of the logarithm
  bool lost_race_is_409 = false;
  bool put_if_match = true;
  Condition condition = Condition::kAtomic;
  Time list_lag = 0;  // a listing misses what was written in the last so long
  // Two writes of one name within this time: the second is refused by 429.
  Time name_interval = 0;
  uint64_t single_put_bytes_max = UINT64_MAX;
  uint64_t upload_part_bytes_min = 0;
  // The store's client: how it times out, and how often it repeats requests that may be repeated
  // (everything but a conditional put).
  Time client_timeout = 10 * kSecond;
  uint32_t client_retries = 3;
};

// After the status codes, latencies and limits that these document (docs/scenarios.md):
// "s3", "express" (S3 Express: single digits of ms), "gcs" and "r2" (one write a second of one
// name), "azure" (a lost race is 409), "rgw", "409" (that, and no compare-and-swap), "lagging"
// (LIST), "local" (fast).
StoreProfile ProfileNamed(const std::string& name);

}  // namespace lakestream::sim

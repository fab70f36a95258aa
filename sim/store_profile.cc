#include "sim/store_profile.h"

#include <iterator>

namespace lakestream::sim {

const char* StoreOpName(StoreOp op) {
  static constexpr const char* kNames[] = {"get",  "head",   "put",   "put_if_absent",
                                           "list", "delete", "upload"};
  static_assert(std::size(kNames) == kStoreOps);
  return kNames[static_cast<int>(op)];
}

const char* FaultName(Fault fault) {
  static constexpr const char* kNames[] = {
      "none",     "request_lost", "answer_lost",  "late_apply",  "duplicate", "duplicate_answered",
      "conflict", "throttled",    "error_before", "error_after", "stall",     "corrupt_read"};
  static_assert(std::size(kNames) == kFaults);
  return kNames[static_cast<int>(fault)];
}

bool Applies(Fault fault, StoreOp op) {
  const bool reads = op == StoreOp::kGet || op == StoreOp::kHead || op == StoreOp::kList;
  switch (fault) {
    case Fault::kAnswerLost:
    case Fault::kLateApply:
    case Fault::kDuplicate:
    case Fault::kDuplicateAnswered:
    case Fault::kErrorAfter:
      return !reads;
    case Fault::kConflict:
      return op == StoreOp::kPutIfAbsent;
    case Fault::kCorruptRead:
      return op == StoreOp::kGet;
    default:
      return true;
  }
}

StoreProfile ProfileNamed(const std::string& name) {
  StoreProfile profile;
  profile.name = name;
  if (name == "rgw") {
    profile.read_latency = 3 * kMillisecond;
    profile.write_latency = 12 * kMillisecond;
    profile.latency_sigma = 0.7;
  } else if (name == "express") {
    profile.read_latency = 4 * kMillisecond;
    profile.write_latency = 7 * kMillisecond;
  } else if (name == "gcs" || name == "r2") {
    profile.read_latency = 30 * kMillisecond;
    profile.write_latency = 60 * kMillisecond;
    profile.name_interval = kSecond;
  } else if (name == "azure") {
    profile.lost_race_is_409 = true;
  } else if (name == "409") {
    profile.lost_race_is_409 = true;
    profile.put_if_match = false;
  } else if (name == "lagging") {
    profile.list_lag = 20 * kSecond;
    profile.latency_sigma = 1.0;
  } else if (name == "local") {
    profile.read_latency = 50 * kMicrosecond;
    profile.write_latency = 200 * kMicrosecond;
  }
  return profile;
}

}  // namespace lakestream::sim

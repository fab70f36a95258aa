#include "base/text.h"
#include "sim/checkers/checkers.h"

namespace lakestream::sim {
namespace {

constexpr char kName[] = "bounded_cost";
// To open a stream and find its head, beyond the records since the last snapshots. Creating one
// races about 40 requests to check the store, and a hint that is missing costs 2 log2(n) probes.
constexpr uint64_t kOpenRequestsMax = 120;

// Each bound is per unit of work done: nothing in it grows with what lay before.
uint64_t ProducerBound(const ProcessCost& cost, uint64_t snapshot_interval) {
  return kOpenRequestsMax + 2 * snapshot_interval + 4 * cost.commit_attempts + 3 * cost.versions +
         2 * cost.objects + static_cast<uint64_t>(4 * cost.seconds);
}

uint64_t ConsumerBound(const ProcessCost& cost, uint64_t snapshot_interval) {
  // A waiting reader looks at the manifest at most once in its shortest poll time (5 ms).
  return kOpenRequestsMax + 2 * snapshot_interval + 3 * cost.versions + 3 * cost.steps +
         static_cast<uint64_t>(200 * cost.seconds);
}

}  // namespace

std::vector<Violation> CheckBoundedCost(const Evidence& evidence) {
  std::vector<Violation> violations;
  for (const ProcessCost& cost : evidence.history.costs) {
    if (cost.disturbed) continue;
    const uint64_t bound = cost.producer ? ProducerBound(cost, evidence.snapshot_interval)
                                         : ConsumerBound(cost, evidence.snapshot_interval);
    if (cost.requests <= bound) continue;
    violations.push_back(
        {kName,
         Str(cost.process, " sent ", cost.requests, " requests; ", bound, " would do for ",
             cost.versions, " versions, ", cost.commit_attempts, " attempts, ", cost.objects,
             " objects, ", cost.steps, " steps in ", static_cast<uint64_t>(cost.seconds), " s")});
  }
  return violations;
}

std::vector<Violation> CheckAll(const Evidence& evidence) {
  std::vector<Violation> all;
  for (const auto check :
       {CheckAtomicVisibility, CheckOneOrder, CheckExactlyOnce, CheckNoZombie, CheckBoundedCost}) {
    for (Violation& violation : check(evidence)) all.push_back(std::move(violation));
  }
  return all;
}

}  // namespace lakestream::sim

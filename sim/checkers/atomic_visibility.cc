#include "base/text.h"
#include "sim/checkers/checkers.h"

namespace lakestream::sim {
namespace {

constexpr char kName[] = "atomic_visibility";

}  // namespace

std::vector<Violation> CheckAtomicVisibility(const Evidence& evidence) {
  std::vector<Violation> violations;
  for (const Violation& damage : evidence.log.damage) {
    if (damage.checker == kName) violations.push_back(damage);
  }
  const std::vector<ViewStep> steps = evidence.log.Steps();
  for (const SliceRead& read : evidence.history.reads) {
    const ReaderOpened& reader = evidence.history.readers[read.reader];
    const std::string who =
        Str("reader ", read.reader, " (dp ", reader.dp, ", cp ", reader.cp, "), step ", read.step);
    if (read.step >= steps.size() || steps[read.step].applied_at > read.at) {
      violations.push_back({kName, who + ": read before it was committed"});
    } else if (!read.intact) {
      violations.push_back({kName, who + ": the bytes are not the slice of this rank"});
    }
  }
  return violations;
}

}  // namespace lakestream::sim

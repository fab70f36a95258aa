#include "base/text.h"
#include "sim/checkers/checkers.h"

namespace lakestream::sim {
namespace {

constexpr char kName[] = "one_order";

void CheckSteps(const Evidence& evidence, std::vector<Violation>& violations) {
  Step next = evidence.log.fork_step;
  Version version = 0;
  bool sealed = false;
  for (const ViewRecord& record : evidence.log.records) {
    const std::string where = Str("record ", record.version);
    if (record.version != ++version)
      violations.push_back({kName, where + ": a version is missing"});
    if (record.first_step != next) {
      violations.push_back(
          {kName, Str(where, ": begins at step ", record.first_step, ", not ", next)});
    }
    for (const ViewEntry& entry : record.entries) {
      if (entry.first_step != next) {
        violations.push_back(
            {kName, Str(where, ": entry at step ", entry.first_step, ", not ", next)});
      }
      next += entry.tgbs;
    }
    if (record.next_step != next) {
      violations.push_back(
          {kName, Str(where, ": ends at step ", record.next_step, ", not ", next)});
    }
    if (sealed && (!record.entries.empty() || !record.opens.empty())) {
      violations.push_back({kName, where + ": adds to a sealed stream"});
    }
    sealed |= record.seals;
  }
  for (const StreamEnded& end : evidence.history.ends) {
    if (!sealed || end.end != next) {
      violations.push_back(
          {kName, Str("reader ", end.reader, ": was told that the stream ends at step ", end.end,
                      ", the log says ", next, sealed ? "" : ", not sealed")});
    }
  }
}

// What each step is, by the log; then every reader must have seen just that.
void CheckReads(const Evidence& evidence, std::vector<Violation>& violations) {
  const std::vector<ViewStep> steps = evidence.log.Steps();
  for (const SliceRead& read : evidence.history.reads) {
    if (!read.item || read.step >= steps.size() || !steps[read.step].item) continue;
    const ItemId meaning = *steps[read.step].item;
    if (meaning == *read.item) continue;
    violations.push_back(
        {kName, Str("reader ", read.reader, ", step ", read.step, ": read item ", read.item->item,
                    " of producer ", read.item->producer, ", the log says item ", meaning.item,
                    " of producer ", meaning.producer)});
  }
}

}  // namespace

std::vector<Violation> CheckOneOrder(const Evidence& evidence) {
  std::vector<Violation> violations;
  for (const Violation& damage : evidence.log.damage) {
    if (damage.checker == kName) violations.push_back(damage);
  }
  for (const std::string& key : evidence.rewritten) {
    violations.push_back({kName, Str("'", key, "' was replaced by other bytes")});
  }
  CheckSteps(evidence, violations);
  CheckReads(evidence, violations);
  return violations;
}

}  // namespace lakestream::sim

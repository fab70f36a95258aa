// RetentionModel: who needs what, and when, by the logs alone.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/checkers/retention.h"

namespace lakestream::sim {

// A published data object: where its steps lie.
struct ModelObject {
  Time published = 0;
  Step first = 0;
  Step end = 0;
};

// One branch through time. Times are of the records that say so.
struct ModelLine {
  std::string name;
  std::string parent;
  Step fork_step = 0;
  Time born = 0;
  std::vector<std::pair<Time, Step>> trims;  // ascending
  Time closed = kNever;
  Time sealed = kNever;
  std::map<std::pair<SessionId, uint32_t>, ModelObject> objects;
  // Of each session: until when it is its producer's current one, and the objects it published.
  std::map<SessionId, std::pair<Time, Time>> sessions;
  std::map<SessionId, std::vector<std::pair<Time, uint32_t>>> published;
  // (from, until) that a producer's row refers to a state in this object.
  std::map<std::pair<SessionId, uint32_t>, std::pair<Time, Time>> states;
  std::vector<Step> end_of_version;         // [v]: next step after version v
  std::set<Version> pending_begins;         // checkpoints that are pending at the end
  std::map<std::string, std::string> runs;  // attached at the end

  Step TrimAt(Time at) const;
};

class RetentionModel {
 public:
  explicit RetentionModel(const RetentionEvidence& evidence);

  const std::vector<ModelLine>& lines() const { return lines_; }
  const ModelLine* Find(const std::string& branch) const;
  // Whether anyone on any branch may read step `step`, published on `line`, as of that time.
  bool Needed(const ModelLine& line, Step step, Time at) const;
  bool AnyNeeded(const ModelLine& line, Step first, Step end, Time at) const;
  // What is wrong with the trims themselves.
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  void Fold(const LineEvidence& evidence);
  void CheckTrim(const ModelLine& line, const LineEvidence& evidence, const ViewRecord& record,
                 Step step, const std::map<std::string, std::pair<Step, Version>>& checkpoints,
                 const std::map<std::string, AttachChange>& runs);

  std::vector<ModelLine> lines_;
  std::vector<Violation> violations_;
};

}  // namespace lakestream::sim

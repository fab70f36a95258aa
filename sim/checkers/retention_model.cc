#include "sim/checkers/retention_model.h"

#include <algorithm>

#include "base/text.h"

namespace lakestream::sim {
namespace {

// The step below which all ranks of a run had given up everything at that time.
Step DurableAt(const History& history, const AttachChange& run, Time at) {
  std::map<uint32_t, Step> ranks;
  for (const DurableDeclared& durable : history.durables) {
    if (durable.at > at || durable.job != run.job || durable.run != run.run) continue;
    Step& step = ranks[durable.rank];
    step = std::max(step, durable.step);
  }
  if (ranks.size() < run.ranks) return run.start;
  Step least = UINT64_MAX;
  for (const auto& [rank, step] : ranks) least = std::min(least, step);
  return std::max(least, run.start);
}

}  // namespace

Step ModelLine::TrimAt(Time at) const {
  Step trim = 0;
  for (const auto& [when, step] : trims) {
    if (when <= at) trim = step;
  }
  return trim;
}

RetentionModel::RetentionModel(const RetentionEvidence& evidence) {
  for (const LineEvidence& line : evidence.lines) Fold(line);
}

const ModelLine* RetentionModel::Find(const std::string& branch) const {
  for (const ModelLine& line : lines_) {
    if (line.name == branch) return &line;
  }
  return nullptr;
}

void RetentionModel::CheckTrim(const ModelLine& line, const LineEvidence& evidence,
                               const ViewRecord& record, Step step,
                               const std::map<std::string, std::pair<Step, Version>>& checkpoints,
                               const std::map<std::string, AttachChange>& runs) {
  const std::string where = Str(line.name, ", record ", record.version, ": trims to step ", step);
  if (step < line.TrimAt(record.applied_at)) {
    violations_.push_back({"nothing_lost", where + ", below the trim point before"});
  }
  for (const auto& [name, row] : checkpoints) {
    if (row.first >= step) continue;
    violations_.push_back(
        {"nothing_lost", Str(where, ", but checkpoint ", name, " needs step ", row.first)});
  }
  for (const auto& [job, run] : runs) {
    const Step durable = DurableAt(evidence.history, run, record.applied_at);
    if (durable >= step) continue;
    violations_.push_back({"nothing_lost", Str(where, ", but run ", run.run, " of job ", job,
                                               " would restart at step ", durable)});
  }
}

void RetentionModel::Fold(const LineEvidence& evidence) {
  ModelLine& line = lines_.emplace_back();
  const LogView& log = evidence.log;
  line.name = log.branch;
  line.parent = evidence.parent;
  line.fork_step = log.fork_step;
  line.born = evidence.described_at;
  line.trims.emplace_back(line.born, evidence.first_trim);
  line.end_of_version.push_back(log.fork_step);
  std::map<std::string, std::pair<Step, Version>> checkpoints;
  std::set<Version> pending;
  std::map<std::string, AttachChange> runs;
  std::map<std::string, SessionId> current;
  std::map<SessionId, std::string> owner;
  std::map<std::string, std::pair<SessionId, uint32_t>> state_of;
  for (const ViewRecord& record : log.records) {
    const Time at = record.applied_at;
    for (const ViewOpen& open : record.opens) {
      if (SessionId& before = current[open.producer]; before != 0) {
        line.sessions[before].second = at;
      }
      current[open.producer] = open.session;
      owner[open.session] = open.producer;
      line.sessions[open.session] = {at, kNever};
    }
    for (const ViewEntry& entry : record.entries) {
      const std::pair<SessionId, uint32_t> id{entry.session, entry.object};
      line.objects[id] = {at, entry.first_step, entry.first_step + entry.tgbs};
      line.published[entry.session].emplace_back(at, entry.object);
      const std::string& producer = owner[entry.session];
      if (const auto old = state_of.find(producer); old != state_of.end()) {
        line.states[old->second].second = at;
        state_of.erase(old);
      }
      if (!entry.state_in_object) continue;
      state_of[producer] = id;
      line.states[id] = {at, kNever};
    }
    if (record.seals) line.sealed = std::min(line.sealed, at);
    for (const Change& change : record.lifecycle) {
      if (const auto* begin = std::get_if<BeginCheckpointChange>(&change)) {
        pending.erase(checkpoints[begin->name].second);
        checkpoints[begin->name] = {begin->step, record.version};
        if (begin->parts > 0) pending.insert(record.version);
      } else if (const auto* complete = std::get_if<CompleteCheckpointChange>(&change)) {
        pending.erase(complete->begun);
      } else if (const auto* drop = std::get_if<DropCheckpointChange>(&change)) {
        pending.erase(drop->begun);
        checkpoints.erase(drop->name);
      } else if (const auto* attach = std::get_if<AttachChange>(&change)) {
        runs[attach->job] = *attach;
      } else if (const auto* detach = std::get_if<DetachChange>(&change)) {
        runs.erase(detach->job);
      } else if (const auto* trim = std::get_if<TrimChange>(&change)) {
        CheckTrim(line, evidence, record, trim->step, checkpoints, runs);
        line.trims.emplace_back(at, trim->step);
      } else if (std::holds_alternative<CloseChange>(change)) {
        line.closed = at;
      }
    }
    line.end_of_version.push_back(record.next_step);
  }
  line.pending_begins = std::move(pending);
  for (const auto& [job, run] : runs) line.runs[job] = run.run;
}

bool RetentionModel::Needed(const ModelLine& line, Step step, Time at) const {
  if (line.closed > at && step >= line.TrimAt(at)) return true;
  for (const ModelLine& child : lines_) {
    if (child.parent != line.name || child.born > at || step >= child.fork_step) continue;
    if (Needed(child, step, at)) return true;
  }
  return false;
}

bool RetentionModel::AnyNeeded(const ModelLine& line, Step first, Step end, Time at) const {
  for (Step step = first; step < end; ++step) {
    if (Needed(line, step, at)) return true;
  }
  return false;
}

}  // namespace lakestream::sim

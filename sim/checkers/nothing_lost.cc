#include <algorithm>
#include <optional>

#include "base/text.h"
#include "manifest/keys.h"
#include "manifest/state.h"
#include "sim/checkers/retention_model.h"

namespace lakestream::sim {
namespace {

constexpr char kName[] = "nothing_lost";
// The store's dates are in whole milliseconds.
constexpr Time kDateError = 2 * kMillisecond;

class LossJudge {
 public:
  explicit LossJudge(const RetentionEvidence& evidence)
      : evidence_(evidence),
        model_(evidence),
        grace_(evidence.info.spec.reclaim_grace.count() * kMillisecond - kDateError),
        page_steps_(evidence.info.spec.index_page_steps) {}

  std::vector<Violation> Run() {
    violations_ = model_.violations();
    for (const ModelLine& line : model_.lines()) CheckBoundary(line);
    for (const auto& [key, lifetimes] : evidence_.archive) {
      for (const Lifetime& life : lifetimes) {
        if (life.gone != kNever) CheckDeletion(key, life);
      }
    }
    for (const LineEvidence& line : evidence_.lines) CheckRefusals(line);
    return std::move(violations_);
  }

 private:
  void Report(std::string detail) { violations_.push_back({kName, std::move(detail)}); }

  void CheckDeletion(const std::string& key, const Lifetime& life) {
    if (key == kStreamKey || key.starts_with("branch/")) return Report(key + " was removed");
    for (const ModelLine& line : model_.lines()) {
      if (const auto id = ParseDataKey(key, line.name)) return CheckData(line, key, *id, life);
      if (const auto v = ParseNumberedKey(key, LogPrefix(line.name))) {
        return CheckRecord(line, key, *v, life.gone);
      }
      if (const auto v = ParseNumberedKey(key, SnapshotPrefix(line.name))) {
        const std::optional<Boundary> released = BoundaryAt(line, life.gone - grace_);
        if (!Closed(line, life.gone) && (!released || *v >= released->snapshot)) {
          Report(Str(key, " was removed at ", TimeText(life.gone), " and is not released"));
        }
        return;
      }
      if (const auto page = ParseNumberedKey(key, IndexPrefix(line.name))) {
        if (model_.AnyNeeded(line, *page * page_steps_, (*page + 1) * page_steps_,
                             life.gone - grace_)) {
          Report(Str(key, " was removed at ", TimeText(life.gone), ", but its steps are needed"));
        }
        return;
      }
    }
  }

  bool Closed(const ModelLine& line, Time at) const { return line.closed <= at - grace_; }

  void CheckData(const ModelLine& line, const std::string& key, const DataObjectId& id,
                 const Lifetime& life) {
    const Time at = life.gone;
    const std::string what = Str(key, " was removed at ", TimeText(at));
    const auto object = line.objects.find({id.session, id.object});
    const bool known = object != line.objects.end() && object->second.published <= at;
    if (known) {
      const ModelObject& steps = object->second;
      if (model_.AnyNeeded(line, steps.first, steps.end, at - grace_)) {
        Report(Str(what, ", but steps of ", steps.first, " to ", steps.end, " are needed"));
      }
    } else if (line.sealed > at && !Closed(line, at)) {
      CheckUnpublished(line, what, id, at);
    }
    const auto state = line.states.find({id.session, id.object});
    if (state != line.states.end() && state->second.first <= at && at < state->second.second &&
        !Closed(line, at)) {
      Report(what + ", but it holds the newest state of its producer");
    }
  }

  // An object that no record names may still be published while its session is the current one.
  void CheckUnpublished(const ModelLine& line, const std::string& what, const DataObjectId& id,
                        Time at) {
    const auto session = line.sessions.find(id.session);
    if (session == line.sessions.end()) return Report(what + ", but its session is unknown");
    if (session->second.second <= at) return;  // superseded
    const auto published = line.published.find(id.session);
    if (published != line.published.end()) {
      for (const auto& [when, object] : published->second) {
        if (when <= at && object > id.object) return;  // passed over: never published
      }
    }
    Report(what + ", but its session is current and may still publish it");
  }

  // What the boundary said then.
  std::optional<Boundary> BoundaryAt(const ModelLine& line, Time at) const {
    const auto found = evidence_.archive.find(BoundaryKey(line.name));
    if (found == evidence_.archive.end()) return std::nullopt;
    std::optional<Boundary> newest;
    for (const Lifetime& life : found->second) {
      if (life.written > at) break;
      Result<Boundary> boundary = DecodeBoundary(evidence_.info, life.data.bytes());
      if (boundary.ok()) newest = *boundary;
    }
    return newest;
  }

  bool Exists(const std::string& key, Time at) const {
    const auto found = evidence_.archive.find(key);
    return found != evidence_.archive.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [&](const Lifetime& life) { return life.LivesAt(at); });
  }

  void CheckRecord(const ModelLine& line, const std::string& key, Version version, Time at) {
    if (Closed(line, at)) return;
    const std::optional<Boundary> released = BoundaryAt(line, at - grace_);
    const std::string what = Str(key, " was removed at ", TimeText(at));
    if (!released || version > released->snapshot) return Report(what + " and is not released");
    if (version >= line.end_of_version.size()) return;  // a void one, that came back
    // Its needed steps are in index pages, or in the tail of the snapshot.
    const Step open_page = line.end_of_version.at(released->snapshot) / page_steps_;
    for (Step step = line.end_of_version[version - 1]; step < line.end_of_version[version];
         ++step) {
      if (step / page_steps_ >= open_page || !model_.Needed(line, step, at)) continue;
      if (Exists(IndexKey(line.name, step / page_steps_), at)) continue;
      return Report(Str(what, ", but step ", step, " is in no index page"));
    }
  }

  // It moves only upward, and what it names is there.
  void CheckBoundary(const ModelLine& line) {
    const auto found = evidence_.archive.find(BoundaryKey(line.name));
    if (found == evidence_.archive.end()) return;
    Boundary last;
    for (const Lifetime& life : found->second) {
      const std::string what = Str("boundary of ", line.name, " at ", TimeText(life.written));
      Result<Boundary> boundary = DecodeBoundary(evidence_.info, life.data.bytes());
      if (!boundary.ok()) return Report(Str(what, ": ", boundary.status().ToString()));
      if (boundary->closed) {
        if (line.closed > life.written) Report(what + ": closed, but the branch is not");
        return;
      }
      if (boundary->snapshot < last.snapshot || boundary->first_step < last.first_step ||
          boundary->decided_at < last.decided_at || last.closed) {
        Report(what + ": moved down");
      }
      if (boundary->first_step > std::max(line.TrimAt(life.written), line.trims.front().second)) {
        Report(Str(what, ": releases steps below ", boundary->first_step,
                   ", trimmed are those below ", line.TrimAt(life.written)));
      }
      if (boundary->snapshot > 0 &&
          !Exists(SnapshotKey(line.name, boundary->snapshot), life.written)) {
        Report(Str(what, ": names snapshot ", boundary->snapshot, ", which is not there"));
      }
      last = *boundary;
    }
  }

  void CheckRefusals(const LineEvidence& evidence) {
    const ModelLine& line = *model_.Find(evidence.log.branch);
    for (const ReaderRefused& refusal : evidence.history.refusals) {
      const std::string who = Str("reader ", refusal.reader, " of ", line.name, " at ",
                                  TimeText(refusal.at), ", step ", refusal.step);
      if (refusal.reason == Reason::kStepTrimmed && line.TrimAt(refusal.at) <= refusal.step) {
        Report(who + ": was told that it is trimmed, which it is not");
      } else if (refusal.reason == Reason::kBranchClosed && line.closed > refusal.at) {
        Report(who + ": was told that the branch is closed, which it is not");
      } else if (refusal.reason == Reason::kRunOver && RunNeverEnded(evidence, refusal)) {
        Report(Str(who, ": was told that run ", refusal.run, " is over, which it is not"));
      }
    }
  }

  // Whether the run was the job's current one all the while that the reader read.
  static bool RunNeverEnded(const LineEvidence& line, const ReaderRefused& refusal) {
    const Time opened = line.history.readers[refusal.reader].at;
    bool attached = false;
    for (const ViewRecord& record : line.log.records) {
      if (record.applied_at > refusal.at) break;
      bool ended = false;
      for (const Change& change : record.lifecycle) {
        if (const auto* attach = std::get_if<AttachChange>(&change)) {
          if (attach->job != refusal.job) continue;
          ended = attached && attach->run != refusal.run;
          attached = attach->run == refusal.run;
        } else if (const auto* detach = std::get_if<DetachChange>(&change)) {
          if (detach->job != refusal.job) continue;
          ended = attached;
          attached = false;
        }
      }
      if (ended && record.applied_at > opened) return false;
    }
    return attached;
  }

  const RetentionEvidence& evidence_;
  RetentionModel model_;
  const Time grace_;
  const Step page_steps_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> CheckNothingLost(const RetentionEvidence& evidence) {
  return LossJudge(evidence).Run();
}

}  // namespace lakestream::sim

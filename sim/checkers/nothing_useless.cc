#include "base/text.h"
#include "manifest/keys.h"
#include "manifest/state.h"
#include "sim/checkers/retention_model.h"

namespace lakestream::sim {
namespace {

constexpr char kName[] = "nothing_useless";
// Records that a branch keeps at most once all is quiet, in snapshot intervals and beyond them.
constexpr Version kIntervalsMax = 4;
constexpr Version kRecordsMore = 8;

class WasteJudge {
 public:
  explicit WasteJudge(const RetentionEvidence& evidence)
      : evidence_(evidence),
        model_(evidence),
        page_steps_(evidence.info.spec.index_page_steps),
        records_max_(kIntervalsMax * evidence.info.spec.snapshot_interval + kRecordsMore) {}

  std::vector<Violation> Run() {
    for (const auto& [key, lifetimes] : evidence_.archive) {
      if (lifetimes.back().gone != kNever) continue;
      const std::string why = WhyUseless(key);
      if (!why.empty()) violations_.push_back({kName, Str(key, " is still there: ", why)});
    }
    for (const auto& [key, begun] : evidence_.unfinished_uploads) {
      violations_.push_back({kName, Str("an upload of ", key, " of ", TimeText(begun),
                                        " is neither done nor ended")});
    }
    return std::move(violations_);
  }

 private:
  // "": it is of use.
  std::string WhyUseless(const std::string& key) const {
    if (key == kStreamKey || key.starts_with("branch/") || key.starts_with("boundary/")) return "";
    for (const ModelLine& line : model_.lines()) {
      if (const auto id = ParseDataKey(key, line.name)) return WhyUselessData(line, *id);
      if (key.starts_with(LogPrefix(line.name))) return WhyUselessRecord(line, key);
      if (key.starts_with(SnapshotPrefix(line.name))) return WhyUselessSnapshot(line, key);
      if (key.starts_with(IndexPrefix(line.name))) return WhyUselessPage(line, key);
      if (key.starts_with(PartsPrefix(line.name))) {
        const auto begun = ParsePartKey(key, line.name);
        return begun && line.pending_begins.contains(*begun) ? "" : "no pending checkpoint's part";
      }
      if (key.starts_with(WatermarksPrefix(line.name))) {
        for (const auto& [job, run] : line.runs) {
          if (key.starts_with(WatermarksPrefix(line.name, job, run))) return "";
        }
        return "its run is over";
      }
    }
    return "nobody's";
  }

  bool IsClosed(const ModelLine& line) const { return line.closed != kNever; }

  std::string WhyUselessData(const ModelLine& line, const DataObjectId& id) const {
    const auto state = line.states.find({id.session, id.object});
    if (state != line.states.end() && state->second.second == kNever && !IsClosed(line)) return "";
    const auto object = line.objects.find({id.session, id.object});
    if (object == line.objects.end()) return "no record names it";
    const auto& [published, first, end] = object->second;
    return model_.AnyNeeded(line, first, end, evidence_.now) ? "" : "nobody needs its steps";
  }

  std::string WhyUselessRecord(const ModelLine& line, const std::string& key) const {
    if (IsClosed(line)) return "its branch is deleted";
    const auto version = ParseNumberedKey(key, LogPrefix(line.name));
    if (!version) return "no record";
    const Version newest = line.end_of_version.size() - 1;
    return newest - *version > records_max_ ? Str("the newest is ", newest) : "";
  }

  std::string WhyUselessSnapshot(const ModelLine& line, const std::string& key) const {
    if (IsClosed(line)) return "its branch is deleted";
    const auto version = ParseNumberedKey(key, SnapshotPrefix(line.name));
    if (!version) return "no snapshot";
    const Version newest = line.end_of_version.size() - 1;
    return newest - std::min(newest, *version) > records_max_
               ? Str("the newest version is ", newest)
               : "";
  }

  std::string WhyUselessPage(const ModelLine& line, const std::string& key) const {
    const auto page = ParseNumberedKey(key, IndexPrefix(line.name));
    if (!page) return "no page";
    return model_.AnyNeeded(line, *page * page_steps_, (*page + 1) * page_steps_, evidence_.now)
               ? ""
               : "nobody needs its steps";
  }

  const RetentionEvidence& evidence_;
  RetentionModel model_;
  const Step page_steps_;
  const Version records_max_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> CheckNothingUseless(const RetentionEvidence& evidence) {
  if (!evidence.settled) return {};
  return WasteJudge(evidence).Run();
}

}  // namespace lakestream::sim

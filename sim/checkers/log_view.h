// LogView: all that was ever committed on one branch, decoded but not judged. It is read from the
// archive of the store, so it knows what reclamation has removed since.
//
// Records are decoded by manifest/record (syntax only); nothing of manifest/apply, ledger/ or the
// readers is used: sessions are counted, steps added up and data objects cut up here, by the format
// pages. Checkers and the run's supervisors work on this.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lakestream/stream.h"
#include "manifest/record.h"
#include "sim/history.h"
#include "sim/sim_store.h"

namespace lakestream::sim {

struct ViewOpen {
  std::string producer;
  SessionId session = 0;   // by counting opens and fences
  SessionId expected = 0;  // that it replaces
  bool fence = false;      // nobody's session: it ends the one before
};

// One published data object.
struct ViewEntry {
  SessionId session = 0;
  uint32_t object = 0;
  uint64_t first_sequence = 0;
  uint32_t tgbs = 0;
  Step first_step = 0;                       // by adding up
  std::vector<std::optional<ItemId>> items;  // of each TGB; nullopt: its slices are not one item
  std::string state;                         // as text, wherever it was stored
  bool state_in_object = false;
  bool state_intact = true;
};

// What one step is.
struct ViewStep {
  std::optional<ItemId> item;
  Time applied_at = 0;  // the record that published it
};

struct ViewRecord {
  Version version = 0;
  Time applied_at = 0;
  Step first_step = 0;  // as the record says
  Step next_step = 0;
  std::vector<ViewOpen> opens;
  std::vector<ViewEntry> entries;
  std::vector<SessionId> finishes;
  bool seals = false;
  std::vector<Change> lifecycle;  // checkpoints, trims, runs, branches
};

struct LogView {
  std::string branch = "main";
  Step fork_step = 0;
  Step first_trim = 0;           // its trim point when it was forked
  std::vector<ViewStep> shared;  // the steps below the fork
  std::vector<ViewRecord> records;
  // What could not be decoded, by the checker that it concerns.
  std::vector<Violation> damage;

  // All steps, shared ones first.
  std::vector<ViewStep> Steps() const;
};

// Reads the log as it grows. Confined to one thread.
class LogReader {
 public:
  LogReader(const SimStorage* storage, ItemLaw law) : storage_(storage), law_(law) {}
  // Of a branch; `shared` are the steps below its fork.
  LogReader(const SimStorage* storage, ItemLaw law, const BranchInfo& branch,
            std::vector<ViewStep> shared);
  // Decodes what was appended since. Stops at the first slot that is empty.
  void Refresh();
  const LogView& view() const { return view_; }
  bool created() const { return info_.has_value(); }
  const std::optional<StreamInfo>& info() const { return info_; }

  // What the log says by now, for supervisors.
  bool sealed() const { return sealed_; }
  bool closed() const { return closed_; }
  Step next_step() const { return next_step_; }
  Step trim_step() const { return trim_step_; }
  // Steps that live checkpoints name.
  std::vector<Step> CheckpointSteps() const;
  // Branches that it forked and did not forget, and at which step.
  const std::map<std::string, Step>& forks() const { return forks_; }
  const std::map<std::string, std::string>& runs() const { return runs_; }  // of each job
  bool Finished(const std::string& producer) const;

 private:
  void Decode(const Lifetime& object, Version version);
  void DecodeChange(const Change& change, ViewRecord& record);
  void DecodeLifecycle(const Change& change);
  void BeginSession(const std::string& producer, SessionId expected, bool fence,
                    ViewRecord& record);
  ViewEntry DecodeEntry(const Entry& entry, Time applied_at);
  std::optional<ItemId> DecodeTgb(const Entry& entry, const Buffer& object, uint32_t ordinal);
  void Damage(const char* checker, std::string detail) {
    view_.damage.push_back({checker, std::move(detail)});
  }

  const SimStorage* storage_;
  ItemLaw law_;
  std::optional<StreamInfo> info_;
  LogView view_;
  Hash128 hash_{};
  uint64_t sessions_opened_ = 0;
  Step next_step_ = 0;
  Step trim_step_ = 0;
  bool sealed_ = false;
  bool closed_ = false;
  std::map<std::string, std::pair<Step, bool>> checkpoints_;  // step, live
  std::map<std::string, Step> forks_;
  std::map<std::string, std::string> runs_;
  std::map<std::string, std::pair<SessionId, bool>> finished_;  // producer -> session, finished
};

// "producer-3" -> 3
std::string ProducerName(uint32_t producer);
std::optional<uint32_t> ProducerIndex(const std::string& name);

}  // namespace lakestream::sim

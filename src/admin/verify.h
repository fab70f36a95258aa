// The parts of Verify(): the manifest, the retained steps, what leads nowhere, what lies around.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lakestream/admin.h"
#include "ledger/follower.h"
#include "lifecycle/step_ranges.h"

namespace lakestream {

// Collects findings under a store's name.
class Findings {
 public:
  Findings(const ObjectStore& store, VerifyReport& report) : store_(store), report_(report) {}
  void Error(std::string kind, const std::string& key, std::optional<Step> step,
             std::string detail);
  void Warning(std::string kind, const std::string& key, std::string detail);
  VerifyReport& report() { return report_; }

 private:
  const ObjectStore& store_;
  VerifyReport& report_;
};

// What is known of a branch. Its address does not change: contexts and needs point to it.
struct BranchCheck {
  LedgerContext Context(const Stream& stream) const {
    return {stream.store(), stream.runtime(), info, ancestors};
  }
  const std::string& name() const { return info.branch.name; }

  StreamInfo info;                    // on this branch
  std::vector<BranchInfo> ancestors;  // its parent first
  // An ancestor of the branch that was asked for: only what that one reads of it counts.
  bool is_ancestor = false;

  // From the log (verify_manifest.cc).
  Boundary boundary;
  bool closed = false;  // deleted: nothing of it is needed
  bool whole = true;    // false: the log ends in damage; what lies behind is not known
  State state;
  std::map<uint64_t, Hash128> pages;  // of the bytes that the log says each sealed page has

  // Steps of this branch that it, or one that descends from it, keeps.
  struct Need {
    const BranchCheck* by = nullptr;
    StepRange range;
  };
  std::vector<Need> needs;

  // From the steps (verify_steps.cc).
  bool found_all = true;  // false: some retained steps cannot be found
  std::vector<StepRange> lost;
  std::set<DataObjectId> referred;  // by retained steps and producers' rows
  std::set<DataObjectId> given_up;  // published, and not needed any more
};
using Branches = std::deque<BranchCheck>;

// Walks the log of one branch from its boundary on and checks every record, snapshot and index
// page; notes what it says. At a record that is missing or damaged (a finding) it goes on from the
// next snapshot, if there is one. Failures of the store itself are returned.
Status VerifyManifest(const Stream& stream, BranchCheck& branch, Findings& findings,
                      const Deadline& deadline);

// Finds every retained step through the index pages, and checks the data objects that hold them.
// `on_steps` is told how many steps were looked at.
Status VerifySteps(const Stream& stream, BranchCheck& branch, bool read_data, Findings& findings,
                   const std::function<void(uint64_t)>& on_steps, const Deadline& deadline);

// What the log says about a data object.
struct ExpectedObject {
  Step first_step = 0;
  Entry entry;
  std::string producer;
};
// Checks one data object against its entry: presence, size, header, footer, state and, with
// `read_data`, every slice. False if it is not there, or not all of it. `still_needed` is asked
// before a missing object is called a fault.
Result<bool> VerifyObject(const LedgerContext& context, const ExpectedObject& expected,
                          bool read_data, const std::function<Result<bool>()>& still_needed,
                          Findings& findings, const Deadline& deadline);

// Lists what is there, and finds what nothing leads to. `all`: the whole stream, else the
// branches' own prefixes.
Status VerifyLeftovers(const Stream& stream, const Branches& branches, bool all, Findings& findings,
                       const Deadline& deadline);

}  // namespace lakestream

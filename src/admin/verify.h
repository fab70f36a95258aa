// The two halves of Verify().
#pragma once

#include <functional>
#include <map>

#include "lakestream/admin.h"
#include "ledger/boundary_guard.h"
#include "ledger/follower.h"

namespace lakestream {

// What the log says about a data object.
struct ExpectedObject {
  Step first_step = 0;
  Entry entry;
  std::string producer;  // "": not known
  std::string branch;    // that published it
  Step end_step() const { return first_step + entry.tgb_count(); }
};

// Collects findings under a store's name.
class Findings {
 public:
  Findings(const ObjectStore& store, VerifyReport& report) : store_(store), report_(report) {}
  void Error(std::string kind, const std::string& key, std::optional<Step> step,
             std::string detail);
  void Warning(std::string kind, const std::string& key, std::string detail);

 private:
  const ObjectStore& store_;
  VerifyReport& report_;
};

// Where a branch's retained part begins.
struct RetainedPart {
  Boundary boundary;
  Step first_step = 0;  // steps below it are given up
};

// Walks the log from the boundary's snapshot (or from version 1) and checks every record, snapshot
// and index page. Calls `on_object` for each published data object that holds a retained step or is
// in the walked records. The walk ends at a record that is missing or damaged (a finding). `state`:
// as of its end. Failures of the store itself are returned.
Status VerifyManifest(const LedgerContext& context, const RetainedPart& retained,
                      Findings& findings, VerifyReport& report,
                      const std::function<void(ExpectedObject)>& on_object, State& state,
                      const Deadline& deadline);

// Checks one data object against its entry: presence, size, header, footer, state and, with
// `read_data`, every slice.
Status VerifyObject(const LedgerContext& context, const ExpectedObject& expected, bool read_data,
                    Findings& findings, VerifyReport& report, const Deadline& deadline);

}  // namespace lakestream

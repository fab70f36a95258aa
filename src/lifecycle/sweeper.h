// Sweeper: removes objects in bulk and counts them. In a dry run it counts only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lakestream/lifecycle.h"
#include "ledger/context.h"

namespace lakestream {

class Sweeper {
 public:
  Sweeper(const LedgerContext& context, const ReclaimOptions& options, ReclaimReport& report)
      : context_(context), options_(options), report_(report) {}

  // Lists `prefix` up to `before` (empty: to its end), and removes what `is_dead` says, adding to
  // `counter`. Keys are removed page by page, so memory does not grow with their number.
  using IsDead = std::function<bool(const ObjectInfo&)>;
  Status Sweep(const std::string& prefix, const std::string& before, uint64_t& counter,
               const IsDead& is_dead, const Deadline& deadline);

 private:
  Status Remove(const std::vector<std::string>& keys, uint64_t& counter, const Deadline& deadline);

  const LedgerContext& context_;
  const ReclaimOptions& options_;
  ReclaimReport& report_;
};

}  // namespace lakestream

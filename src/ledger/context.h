// What every part of the ledger needs: where the stream is, and which branch of it.
#pragma once

#include <span>
#include <string>

#include "lakestream/object_store.h"
#include "lakestream/stream.h"

namespace lakestream {

// Borrowed; must outlive the parts.
struct LedgerContext {
  ObjectStore& store;
  Runtime& runtime;
  const StreamInfo& info;
  // The branches that this one comes from, its parent first: what lies below a fork is read there.
  std::span<const BranchInfo> ancestors = {};

  const std::string& branch() const { return info.branch.name; }
};

}  // namespace lakestream

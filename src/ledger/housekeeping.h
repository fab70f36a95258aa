// Housekeeping: writes the snapshots, index pages and hint that keep every reader's cost bounded.
//
// All of them are pure functions of the log, so anyone may write them, late or twice:
// put-if-absent, and equal bytes mean success. Who writes: whoever commits the version that
// completes a snapshot or page, right after its commit was acknowledged. What a crash leaves out,
// the committer of the next one finds missing and writes too.
//
// Failures are logged, never returned: the log alone is the truth, and a missing snapshot or page
// costs readers time, not correctness. Confined to the committer's thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ledger/follower.h"

namespace lakestream {

class Housekeeping {
 public:
  explicit Housekeeping(const Follower& follower)
      : context_(follower.context()), follower_(follower) {}

  // To be called for each folded record (see Follower::Observer). Pure; keeps what may have to be
  // written.
  void OnFolded(const State& state, const std::vector<IndexPage>& sealed_pages);
  // To be called after own commits of `versions`: writes what they completed. Does I/O.
  void AfterCommits(std::span<const Version> versions, const Deadline& deadline);
  // Writes the hint to the newest version, unless it was written less than a second ago and not
  // `force`.
  void WriteHint(Version version, bool force, const Deadline& deadline);

 private:
  struct SealedPage {
    Version sealed_by = 0;
    IndexPage page;
  };

  Status WriteSnapshots(const Deadline& deadline);
  Status WritePages(Version version, const Deadline& deadline);
  Status WriteMissingPagesBefore(uint64_t page, const Deadline& deadline);
  // OK if the object is there afterwards with these bytes. Different ones are kDataLoss, and stay.
  Status PutPure(const std::string& key, const std::vector<uint8_t>& bytes,
                 const Deadline& deadline);
  Result<bool> Exists(const std::string& key, const Deadline& deadline);
  void Report(const Status& status);

  LedgerContext context_;
  const Follower& follower_;
  // Made while folding and not known to be stored; the oldest go first.
  std::map<Version, std::vector<uint8_t>> snapshots_;
  std::map<uint64_t, SealedPage> pages_;
  TimePoint hint_written_{};
  Version hint_version_ = 0;
};

}  // namespace lakestream

// Watermarks: how far the ranks of a run have come, kept in the names of empty objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lakestream/lifecycle.h"
#include "ledger/context.h"
#include "manifest/keys.h"
#include "manifest/state.h"

namespace lakestream {

// What a listing of a run's watermarks says.
struct RunProgress {
  std::vector<RankProgress> ranks;  // that have reported
  // Of the slowest rank; the run's start until all have reported.
  Step read = 0;
  Step durable = 0;
  int64_t quiet_ms = 0;  // since its attach or the last watermark of any rank, by the store's clock
};
// One LIST for each thousand ranks.
Result<RunProgress> ReadProgress(const LedgerContext& context, const std::string& job,
                                 const RunRow& row, const Deadline& deadline);

// One rank's own watermark. Confined to one thread.
class WatermarkWriter {
 public:
  WatermarkWriter(const LedgerContext& context, std::string job, std::string run, uint32_t rank)
      : context_(context), job_(std::move(job)), run_(std::move(run)), rank_(rank) {}

  // Puts the new name, then deletes the old one. Positions never go back.
  Status Write(Step read, Step durable, const Deadline& deadline);

 private:
  LedgerContext context_;
  const std::string job_;
  const std::string run_;
  const uint32_t rank_;
  Watermark last_;
  std::string last_key_;
};

}  // namespace lakestream

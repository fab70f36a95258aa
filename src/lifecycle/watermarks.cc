#include "lifecycle/watermarks.h"

#include <algorithm>
#include <map>

namespace lakestream {

Result<RunProgress> ReadProgress(const LedgerContext& context, const std::string& job,
                                 const RunRow& row, const Deadline& deadline) {
  const std::string prefix = WatermarksPrefix(context.branch(), job, row.run);
  ListOptions options{.prefix = prefix};
  RunProgress progress;
  int64_t last_sign_ms = row.attached_ms;
  std::map<uint32_t, RankProgress> ranks;
  while (true) {
    LS_ASSIGN_OR_RETURN(const ListPage page, context.store.List(options, deadline));
    for (const ObjectInfo& object : page.objects) {
      const auto found = ParseWatermarkKey(object.key, prefix);
      if (!found || found->rank >= row.ranks) continue;
      last_sign_ms = std::max(last_sign_ms, object.modified_ms);
      // A rank that died between its put and its delete has left two: positions only grow.
      const int64_t quiet_ms = std::max<int64_t>(page.date_ms - object.modified_ms, 0);
      RankProgress& rank =
          ranks.try_emplace(found->rank, RankProgress{found->rank, row.start, row.start, quiet_ms})
              .first->second;
      rank.read = std::max(rank.read, found->read);
      rank.durable = std::max(rank.durable, found->durable);
      rank.quiet_ms = std::min(rank.quiet_ms, quiet_ms);
    }
    progress.quiet_ms = std::max<int64_t>(page.date_ms - last_sign_ms, 0);
    if (!page.more || page.objects.empty()) break;
    options.start_after = page.objects.back().key;
  }
  progress.read = progress.durable = row.start;
  const bool all_reported = ranks.size() == row.ranks;
  if (all_reported) progress.read = progress.durable = UINT64_MAX;
  for (const auto& [number, rank] : ranks) {
    progress.ranks.push_back(rank);
    if (!all_reported) continue;
    progress.read = std::min(progress.read, rank.read);
    progress.durable = std::min(progress.durable, rank.durable);
  }
  return progress;
}

Status WatermarkWriter::Write(Step read, Step durable, const Deadline& deadline) {
  const Watermark watermark{rank_, std::max(read, last_.read), std::max(durable, last_.durable)};
  const std::string key = WatermarkKey(context_.branch(), job_, run_, watermark);
  LS_RETURN_IF_ERROR(PutBytes(context_.store, key, {}, {}, deadline).status());
  const std::string old_key = std::exchange(last_key_, key);
  last_ = watermark;
  if (old_key.empty() || old_key == key) return OkStatus();
  return context_.store.Delete({&old_key, 1}, deadline);
}

}  // namespace lakestream

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
  std::map<uint32_t, Watermark> ranks;
  while (true) {
    LS_ASSIGN_OR_RETURN(const ListPage page, context.store.List(options, deadline));
    for (const ObjectInfo& object : page.objects) {
      const auto found = ParseWatermarkKey(object.key, prefix);
      if (!found || found->rank >= row.ranks) continue;
      last_sign_ms = std::max(last_sign_ms, object.modified_ms);
      // A rank that died between its put and its delete has left two: positions only grow.
      Watermark& watermark = ranks[found->rank];
      watermark.read = std::max(watermark.read, found->read);
      watermark.durable = std::max(watermark.durable, found->durable);
    }
    progress.quiet_ms = std::max<int64_t>(page.date_ms - last_sign_ms, 0);
    if (!page.more || page.objects.empty()) break;
    options.start_after = page.objects.back().key;
  }
  progress.ranks_reporting = static_cast<uint32_t>(ranks.size());
  progress.read = progress.durable = row.start;
  if (ranks.size() < row.ranks) return progress;
  progress.read = progress.durable = UINT64_MAX;
  for (const auto& [rank, watermark] : ranks) {
    progress.read = std::min(progress.read, std::max(watermark.read, row.start));
    progress.durable = std::min(progress.durable, std::max(watermark.durable, row.start));
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

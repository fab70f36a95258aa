#include <algorithm>

#include "base/text.h"
#include "lakestream/admin.h"
#include "ledger/step_index.h"
#include "manifest/keys.h"
#include "stream/ledger_context.h"
#include "tgb/slice_frame.h"

namespace lakestream {
namespace {

StepInfo Describe(const StepPlace& place, const Mesh& mesh) {
  StepInfo info;
  info.step = place.step;
  info.session = place.entry->session;
  info.object = DataKey(place.branch, place.entry->session, place.entry->object);
  info.slices.resize(mesh.slice_count());
  const FrameTable table(place.entry->layout, mesh);
  for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
    for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
      ByteRange& range = info.slices[mesh.SliceIndex(dp, cp)];
      range = table.FrameRange(place.tgb_ordinal, dp, cp);
      info.bytes += range.size;
    }
  }
  return info;
}

Result<SliceView> ReadOnce(Stream& stream, const StepPlace& place, uint32_t dp, uint32_t cp,
                           const Deadline& deadline) {
  const Entry& entry = *place.entry;
  const ByteRange range =
      entry.layout.FrameRange(stream.info().spec.mesh, place.tgb_ordinal, dp, cp);
  const std::string key = DataKey(place.branch, entry.session, entry.object);
  LS_ASSIGN_OR_RETURN(const GetResult read, stream.store().Get(key, {.range = range}, deadline));
  auto payload =
      OpenSliceFrame(read.data, {entry.session, entry.object, place.tgb_ordinal, dp, cp});
  if (!payload.ok()) {
    return payload.status().WithContext(
        Str("step ", place.step, " in ", stream.store().Describe(), "/", key));
  }
  return DecodeSlice(*std::move(payload));
}

}  // namespace

Result<std::vector<StepInfo>> ListSteps(Stream& stream, Step first, uint64_t count,
                                        const Deadline& deadline) {
  Follower follower(ContextOf(stream));
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  StepIndex index(follower);
  std::vector<StepInfo> steps;
  const Step next_step = follower.state().next_step;
  const Step end = first >= next_step ? first : first + std::min(count, next_step - first);
  first = std::max(first, follower.state().trim_step);
  for (Step step = first; step < end; ++step) {
    LS_ASSIGN_OR_RETURN(const StepPlace place, index.Locate(step, deadline));
    steps.push_back(Describe(place, stream.info().spec.mesh));
  }
  return steps;
}

Result<SliceView> ReadSlice(Stream& stream, Step step, uint32_t dp, uint32_t cp,
                            const Deadline& deadline) {
  const Mesh& mesh = stream.info().spec.mesh;
  if (dp >= mesh.dp || cp >= mesh.cp) {
    return InvalidArgumentError(
        Str("position (dp ", dp, ", cp ", cp, ") is outside the stream's mesh of dp ", mesh.dp,
            " x cp ", mesh.cp, "; positions count from 0"),
        Reason::kMeshMismatch);
  }
  Follower follower(ContextOf(stream));
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  StepIndex index(follower);
  LS_ASSIGN_OR_RETURN(const StepPlace place, index.Locate(step, deadline));
  auto slice = ReadOnce(stream, place, dp, cp, deadline);
  if (slice.ok() || slice.status().code() != Code::kDataLoss) return slice;
  return ReadOnce(stream, place, dp, cp, deadline);  // damaged on the way, or in the store?
}

}  // namespace lakestream

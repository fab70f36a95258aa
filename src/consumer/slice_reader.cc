#include "consumer/slice_reader.h"

#include "base/text.h"
#include "manifest/keys.h"
#include "tgb/slice_frame.h"

namespace lakestream {
namespace {

std::string KeyOf(const SlicePlace& slice) {
  return DataKey(slice.place.branch, slice.place.entry->session, slice.place.entry->object);
}

std::string Where(const LedgerContext& context, const SlicePlace& slice) {
  return Str("step ", slice.place.step, " in ", context.store.Describe(), "/", KeyOf(slice),
             ", bytes ", slice.range.offset, " to ", slice.range.end());
}

}  // namespace

SlicePlace SliceReader::Find(const StepPlace& place) const {
  return {place,
          place.entry->layout.FrameRange(context_.info.spec.mesh, place.tgb_ordinal, dp_, cp_)};
}

Result<std::vector<SliceView>> SliceReader::Read(std::span<const SlicePlace> slices,
                                                 const Deadline& deadline) {
  const ByteRange all{slices.front().range.offset,
                      slices.back().range.end() - slices.front().range.offset};
  auto read =
      context_.store.Get(KeyOf(slices.front()), {.range = all, .allocator = allocator_}, deadline);
  if (!read.ok()) {
    if (read.status().code() == Code::kNotFound) {
      return NotFoundError(Str(Where(context_, slices.front()),
                               ": the data object is missing; run 'lakestream verify'"));
    }
    if (read.status().code() == Code::kInvalidArgument) {
      return DataLossError(Str(Where(context_, slices.front()), ": the data object is too short (",
                               read.status().message(), "); run 'lakestream verify'"));
    }
    return read.status();
  }
  std::vector<SliceView> opened;
  for (const SlicePlace& slice : slices) {
    const uint64_t offset = slice.range.offset - all.offset;
    Result<SliceView> view = DataLossError("the object is shorter than the manifest says");
    if (offset + slice.range.size <= read->data.size()) {
      view = Open(read->data.Slice(offset, slice.range.size), slice);
    }
    if (!view.ok() && view.status().code() == Code::kDataLoss) {
      view = ReadAgain(slice, view.status(), deadline);
    }
    if (!view.ok()) return view.status();
    opened.push_back(*std::move(view));
  }
  return opened;
}

Result<SliceView> SliceReader::Open(const Buffer& frame, const SlicePlace& slice) const {
  const Entry& entry = *slice.place.entry;
  LS_ASSIGN_OR_RETURN(
      Buffer payload,
      OpenSliceFrame(frame, {entry.session, entry.object, slice.place.tgb_ordinal, dp_, cp_},
                     allocator_));
  return DecodeSlice(std::move(payload));
}

Result<SliceView> SliceReader::ReadAgain(const SlicePlace& slice, const Status& first_failure,
                                         const Deadline& deadline) {
  ++rereads_;
  context_.runtime.Log(LogLevel::kWarning, Str(Where(context_, slice), ": ",
                                               first_failure.message(), "; reading it once more"));
  LS_ASSIGN_OR_RETURN(
      const GetResult read,
      context_.store.Get(KeyOf(slice), {.range = slice.range, .allocator = allocator_}, deadline));
  auto view = Open(read.data, slice);
  if (view.ok() || view.status().code() != Code::kDataLoss) return view;
  return DataLossError(Str(Where(context_, slice), ": ", view.status().message(),
                           ", also when read again; the stored object is damaged: run 'lakestream "
                           "verify' and restore "
                           "the object, or write the data anew"),
                       view.status().reason());
}

}  // namespace lakestream

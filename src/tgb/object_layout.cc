#include "tgb/object_layout.h"

#include <algorithm>
#include <cassert>

#include "base/text.h"

namespace lakestream {
namespace {

constexpr uint64_t kUnitsLimit = kFrameBytesLimit / kFrameUnit;

uint64_t FrameCount(const Mesh& mesh, uint32_t tgb_count) {
  return uint64_t{mesh.slice_count()} * tgb_count;
}

uint64_t FrameIndex(const Mesh& mesh, uint32_t tgb_count, uint32_t tgb_ordinal, uint32_t dp,
                    uint32_t cp) {
  assert(dp < mesh.dp && cp < mesh.cp && tgb_ordinal <= tgb_count);
  return uint64_t{mesh.SliceIndex(dp, cp)} * tgb_count + tgb_ordinal;
}

uint64_t OffsetOf(const std::vector<FrameRun>& runs, uint64_t frame) {
  uint64_t offset = kObjectHeaderBytes;
  for (const FrameRun& run : runs) {
    const uint64_t here = std::min(frame, run.count);
    offset += here * run.units * kFrameUnit;
    frame -= here;
    if (frame == 0) break;
  }
  return offset;
}

size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++bytes;
  }
  return bytes;
}

}  // namespace

Status CheckMesh(const Mesh& mesh) {
  const uint64_t slices = uint64_t{mesh.dp} * mesh.cp;
  if (slices >= 1 && slices <= kMeshSlicesMax) return OkStatus();
  return InvalidArgumentError(
      Str("mesh of dp ", mesh.dp, " x cp ", mesh.cp, " cannot be used: it must have 1 to ",
          kMeshSlicesMax, " positions"),
      Reason::kMeshMismatch);
}

Result<ObjectLayout> ObjectLayout::FromFrameSizes(const Mesh& mesh, uint32_t tgb_count,
                                                  std::span<const uint64_t> frame_bytes) {
  LS_RETURN_IF_ERROR(CheckMesh(mesh));
  if (tgb_count < 1 || tgb_count > kTgbsPerObjectMax) {
    return InvalidArgumentError(
        Str("a data object holds 1 to ", kTgbsPerObjectMax, " TGBs, not ", tgb_count),
        Reason::kTooLarge);
  }
  if (frame_bytes.size() != FrameCount(mesh, tgb_count)) {
    return InvalidArgumentError(Str(frame_bytes.size(), " frame sizes for ", tgb_count, " TGBs of ",
                                    mesh.slice_count(), " slices"));
  }
  ObjectLayout layout;
  layout.tgb_count = tgb_count;
  uint64_t total = 0;
  for (const uint64_t bytes : frame_bytes) {
    if (bytes == 0 || bytes % kFrameUnit != 0) {
      return InvalidArgumentError(Str("frame size ", bytes, " is not a positive multiple of 64"));
    }
    if (bytes >= kFrameBytesLimit - total) {
      return InvalidArgumentError(Str("the slices of a data object must stay below ",
                                      kFrameBytesLimit, " bytes; put fewer or smaller TGBs in it"),
                                  Reason::kTooLarge);
    }
    total += bytes;
    const uint64_t units = bytes / kFrameUnit;
    if (layout.runs.empty() || layout.runs.back().units != units) {
      layout.runs.push_back({0, units});
    }
    ++layout.runs.back().count;
  }
  return layout;
}

uint64_t ObjectLayout::FrameBytes() const {
  uint64_t units = 0;
  for (const FrameRun& run : runs) units += run.count * run.units;
  return units * kFrameUnit;
}

ByteRange ObjectLayout::FrameRange(const Mesh& mesh, uint32_t tgb_ordinal, uint32_t dp,
                                   uint32_t cp) const {
  assert(tgb_ordinal < tgb_count);
  const uint64_t frame = FrameIndex(mesh, tgb_count, tgb_ordinal, dp, cp);
  const uint64_t offset = OffsetOf(runs, frame);
  return {offset, OffsetOf(runs, frame + 1) - offset};
}

ByteRange ObjectLayout::RankRange(const Mesh& mesh, uint32_t dp, uint32_t cp) const {
  const uint64_t frame = FrameIndex(mesh, tgb_count, 0, dp, cp);
  const uint64_t offset = OffsetOf(runs, frame);
  return {offset, OffsetOf(runs, frame + tgb_count) - offset};
}

void ObjectLayout::Encode(ByteWriter& writer) const {
  writer.Varint(tgb_count);
  writer.Varint(runs.size());
  for (const FrameRun& run : runs) {
    writer.Varint(run.count);
    writer.Varint(run.units);
  }
}

size_t ObjectLayout::EncodedBytes() const {
  size_t bytes = VarintBytes(tgb_count) + VarintBytes(runs.size());
  for (const FrameRun& run : runs) bytes += VarintBytes(run.count) + VarintBytes(run.units);
  return bytes;
}

std::optional<ObjectLayout> ObjectLayout::Decode(ByteReader& reader, const Mesh& mesh) {
  const auto fail = [&reader] {
    reader.Fail();
    return std::nullopt;
  };
  const uint64_t tgb_count = reader.Varint();
  const uint64_t run_count = reader.Count(2);
  if (!reader.ok() || !CheckMesh(mesh).ok() || tgb_count < 1 || tgb_count > kTgbsPerObjectMax) {
    return fail();
  }
  ObjectLayout layout;
  layout.tgb_count = static_cast<uint32_t>(tgb_count);
  layout.runs.reserve(run_count);
  uint64_t frames_left = FrameCount(mesh, layout.tgb_count);
  uint64_t units_left = kUnitsLimit - 1;
  for (uint64_t i = 0; i < run_count; ++i) {
    const FrameRun run{reader.Varint(), reader.Varint()};
    if (!reader.ok() || run.count < 1 || run.count > frames_left || run.units < 1 ||
        run.units > units_left / run.count) {
      return fail();
    }
    if (!layout.runs.empty() && layout.runs.back().units == run.units) return fail();
    frames_left -= run.count;
    units_left -= run.count * run.units;
    layout.runs.push_back(run);
  }
  if (frames_left != 0) return fail();
  return layout;
}

FrameTable::FrameTable(const ObjectLayout& layout, const Mesh& mesh)
    : mesh_(mesh), tgb_count_(layout.tgb_count) {
  starts_.reserve(layout.runs.size());
  uint64_t frame = 0;
  for (const FrameRun& run : layout.runs) {
    starts_.push_back({frame, end_, run.units * kFrameUnit});
    frame += run.count;
    end_ += run.count * run.units * kFrameUnit;
  }
}

uint64_t FrameTable::OffsetOf(uint64_t frame) const {
  const auto after =
      std::upper_bound(starts_.begin(), starts_.end(), frame,
                       [](uint64_t index, const Start& start) { return index < start.frame; });
  assert(after != starts_.begin());
  const Start& start = *(after - 1);
  return start.offset + (frame - start.frame) * start.bytes;
}

ByteRange FrameTable::FrameRange(uint32_t tgb_ordinal, uint32_t dp, uint32_t cp) const {
  return FramesRange(tgb_ordinal, 1, dp, cp);
}

ByteRange FrameTable::FramesRange(uint32_t tgb_ordinal, uint32_t count, uint32_t dp,
                                  uint32_t cp) const {
  assert(count <= tgb_count_ && tgb_ordinal <= tgb_count_ - count);
  const uint64_t frame = FrameIndex(mesh_, tgb_count_, tgb_ordinal, dp, cp);
  const uint64_t offset = OffsetOf(frame);
  return {offset, OffsetOf(frame + count) - offset};
}

uint64_t FrameTable::StepBytes(uint32_t tgb_ordinal) const {
  uint64_t bytes = 0;
  for (uint32_t cp = 0; cp < mesh_.cp; ++cp) {
    for (uint32_t dp = 0; dp < mesh_.dp; ++dp) bytes += FrameRange(tgb_ordinal, dp, cp).size;
  }
  return bytes;
}

}  // namespace lakestream

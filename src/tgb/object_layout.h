// ObjectLayout: where each slice frame of a data object lies.
//
// A data object of G TGBs over a mesh of dp x cp positions holds G * dp * cp slice frames, ordered
// by (cp, dp, TGB ordinal): all G frames of one position lie side by side, and so do the dp
// positions of one cp. Frame sizes are multiples of 64 bytes and often equal, so the layout is the
// run-length coded list of sizes; offsets are prefix sums that start at 64, behind the object's
// header. It travels in the manifest entry of the object, and once more in the object's footer.
//
// Pure values; thread-compatible. Positions must lie inside the mesh and ordinals below tgb_count
// (asserted): whoever takes them from outside checks first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {

// All parts of a data object start at multiples of this; also the unit of frame sizes.
inline constexpr uint64_t kFrameUnit = 64;
inline constexpr uint64_t kObjectHeaderBytes = 64;
inline constexpr uint32_t kTgbsPerObjectMax = 4096;
// Positions in a mesh.
inline constexpr uint64_t kMeshSlicesMax = 1u << 20;
// The bytes of all frames of an object stay below this (64 TiB), so that sums never overflow.
inline constexpr uint64_t kFrameBytesLimit = uint64_t{1} << 46;

// `bytes` rounded up to a multiple of 64. `bytes` must be below 2^63.
constexpr uint64_t PaddedToUnit(uint64_t bytes) {
  return (bytes + kFrameUnit - 1) / kFrameUnit * kFrameUnit;
}

// OK if dp and cp are at least 1 and there are at most kMeshSlicesMax positions; kInvalidArgument
// (kMeshMismatch) otherwise.
Status CheckMesh(const Mesh& mesh);

// `count` frames in a row, of `units` * 64 bytes each.
struct FrameRun {
  uint64_t count = 0;
  uint64_t units = 0;
  bool operator==(const FrameRun&) const = default;
};

struct ObjectLayout {
  uint32_t tgb_count = 0;      // 1..kTgbsPerObjectMax
  std::vector<FrameRun> runs;  // canonical: neighbours differ in units

  // From the size in bytes of each frame, in frame order. kInvalidArgument (kTooLarge) over a
  // limit; kInvalidArgument if the number of sizes does not fit or a size is zero or not a multiple
  // of 64.
  static Result<ObjectLayout> FromFrameSizes(const Mesh& mesh, uint32_t tgb_count,
                                             std::span<const uint64_t> frame_bytes);

  // Of all frames. O(runs).
  uint64_t FrameBytes() const;
  // One frame, as a range of the object. O(runs); for many look-ups use FrameTable.
  ByteRange FrameRange(const Mesh& mesh, uint32_t tgb_ordinal, uint32_t dp, uint32_t cp) const;
  // All tgb_count frames of one position, which are contiguous. O(runs).
  ByteRange RankRange(const Mesh& mesh, uint32_t dp, uint32_t cp) const;

  // varint tgb_count, varint number of runs, then each run's count and units as varints. So an
  // encoded layout carries its own TGB count.
  void Encode(ByteWriter& writer) const;
  size_t EncodedBytes() const;
  // nullopt (and a failed reader) unless the bytes are a canonical layout that fits `mesh`: counts
  // sum up to the number of frames, neighbours differ, every size is at least one unit, all limits
  // hold. Memory is bounded by the bytes left in the reader.
  static std::optional<ObjectLayout> Decode(ByteReader& reader, const Mesh& mesh);

  bool operator==(const ObjectLayout&) const = default;
};

// A layout with prefix sums: O(log runs) per look-up. Immutable, thread-safe.
class FrameTable {
 public:
  FrameTable() = default;
  // `layout` must be valid for `mesh` (made by FromFrameSizes or Decode).
  FrameTable(const ObjectLayout& layout, const Mesh& mesh);

  const Mesh& mesh() const { return mesh_; }
  uint32_t tgb_count() const { return tgb_count_; }
  // Of all frames.
  uint64_t frame_bytes() const { return end_ - kObjectHeaderBytes; }
  ByteRange FrameRange(uint32_t tgb_ordinal, uint32_t dp, uint32_t cp) const;
  // `count` TGBs from `tgb_ordinal` on, of one position: contiguous, so one ranged GET reads them.
  ByteRange FramesRange(uint32_t tgb_ordinal, uint32_t count, uint32_t dp, uint32_t cp) const;
  ByteRange RankRange(uint32_t dp, uint32_t cp) const { return FramesRange(0, tgb_count_, dp, cp); }
  // The frames of all positions of one TGB. O(positions * log runs).
  uint64_t StepBytes(uint32_t tgb_ordinal) const;

 private:
  struct Start {
    uint64_t frame = 0;   // index of the run's first frame
    uint64_t offset = 0;  // of that frame in the object
    uint64_t bytes = 0;   // of each frame
  };
  uint64_t OffsetOf(uint64_t frame) const;

  Mesh mesh_;
  uint32_t tgb_count_ = 0;
  std::vector<Start> starts_;
  uint64_t end_ = kObjectHeaderBytes;
};

}  // namespace lakestream

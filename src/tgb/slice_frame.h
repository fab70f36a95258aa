// Slice frames: one slice as it lies in a data object. Self-identifying and self-verifying, so that
// one ranged GET is all that a rank needs.
//
// 64 bytes of header, the payload as stored (raw safetensors, or one zstd frame of it), zeros up to
// the next multiple of 64. docs/format/tgb.md has the bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "lakestream/object_store.h"
#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {

inline constexpr uint64_t kSliceHeaderBytes = 64;
inline constexpr uint16_t kSliceFormat = 1;
// A zstd payload may expand to this many bytes for each stored one, plus a constant: else a few
// damaged or hostile bytes could ask for all memory. Slices that compress better stay raw.
inline constexpr uint64_t kExpansionMax = 4096;
inline constexpr uint64_t kExpansionFree = 1u << 20;

enum class SliceCodec : uint16_t { kRaw = 0, kZstd = 1 };

// Which slice a frame must be. Every field is compared.
struct SliceId {
  SessionId session = 0;
  uint32_t object = 0;       // number of the data object in its session
  uint32_t tgb_ordinal = 0;  // in the data object
  uint32_t dp = 0;
  uint32_t cp = 0;
  bool operator==(const SliceId&) const = default;
};
// "slice (dp 1, cp 0) of TGB 3 in object 12 of session 4"
std::string Describe(const SliceId& id);

struct SliceFrameHeader {
  SliceCodec codec = SliceCodec::kRaw;
  SliceId id;
  uint64_t stored_bytes = 0;
  uint64_t raw_bytes = 0;
  uint64_t payload_checksum = 0;  // XXH3-64 of the stored payload

  // Of the whole frame: header, payload, padding.
  uint64_t FrameBytes() const;
  bool operator==(const SliceFrameHeader&) const = default;
};

std::array<uint8_t, kSliceHeaderBytes> EncodeSliceFrameHeader(const SliceFrameHeader& header);

// The first 64 bytes of `frame`. kDataLoss (kChecksum) if they are not an intact header,
// kFailedPrecondition (kFormatTooNew) if they are one of a newer format.
Result<SliceFrameHeader> DecodeSliceFrameHeader(ConstBytes frame);

// Verifies a whole frame (exactly the bytes of ObjectLayout::FrameRange) and gives the safetensors
// payload: memory shared with `frame` if it is stored raw, else decompressed into 64-byte aligned
// memory of `allocator` (null: the heap). Padding is not looked at. kDataLoss (kChecksum) naming
// what differs: damaged header or payload, another slice, wrong length, invalid compression.
// kFailedPrecondition (kFormatTooNew); kResourceExhausted if there is no memory.
Result<Buffer> OpenSliceFrame(const Buffer& frame, const SliceId& expected,
                              BufferAllocator* allocator = nullptr);

}  // namespace lakestream

// StateRef: a producer's state behind a data object, or where to find it.
//
// Small states travel in the manifest entry itself; larger ones lie in the data object, in the
// state block behind the slice frames, and the entry says where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {

inline constexpr uint64_t kInlineStateBytesMax = 1024;
inline constexpr uint64_t kStateBytesMax = 1u << 20;

// A value. Exactly one form fits a state: none if it is empty, inline up to kInlineStateBytesMax,
// an extent above.
struct StateRef {
  enum class Kind : uint8_t { kNone = 0, kInline = 1, kExtent = 2 };

  Kind kind = Kind::kNone;
  std::string inline_bytes;  // kInline
  uint64_t offset = 0;       // kExtent: in the data object, a multiple of 64
  uint64_t size = 0;         // kExtent: of the state, without padding
  uint64_t checksum = 0;     // kExtent: XXH3-64 of the state

  // `offset`: where the state lies if it is too large to be inline. The state must be within
  // kStateBytesMax.
  static StateRef Of(std::string_view state, uint64_t offset);

  ByteRange range() const { return {offset, size}; }
  uint64_t StateBytes() const { return kind == Kind::kInline ? inline_bytes.size() : size; }

  // u8 kind; inline: varint size, bytes; extent: varint offset, varint size, u64 checksum.
  void Encode(ByteWriter& writer) const;
  // nullopt (and a failed reader) unless canonical and within the limits.
  static std::optional<StateRef> Decode(ByteReader& reader);

  bool operator==(const StateRef&) const = default;
};

// kDataLoss (kChecksum) unless `bytes`, read from state.range(), are the state.
Status CheckStateBytes(const StateRef& state, ConstBytes bytes);

}  // namespace lakestream

// The deterministic source of each simulated producer: what its k-th TGB holds, and what its state
// says. So anyone can tell from bytes alone which item they are, and whether they are intact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lakestream/tgb.h"

namespace lakestream::sim {

// Sizes are drawn from the seed too, but only from it and the item.
struct ItemLaw {
  uint64_t seed = 0;
  uint64_t payload_bytes_max = 200;
  uint64_t state_bytes_max = 40;
};

struct ItemId {
  uint32_t producer = 0;
  uint64_t item = 0;
  auto operator<=>(const ItemId&) const = default;
};

// The safetensors payload of one slice of one item.
Buffer SlicePayload(const ItemLaw& law, ItemId id, uint32_t dp, uint32_t cp);
Tgb ItemTgb(const ItemLaw& law, ItemId id, const Mesh& mesh);
// Which item a payload claims to be; nullopt if it is none.
std::optional<ItemId> IdentifySlice(const Buffer& payload);

// The producer state right before item `next` (behind next - 1).
std::string StateBefore(const ItemLaw& law, uint32_t producer, uint64_t next);
// The `next` of such a state, 0 for the empty one; nullopt if it is not one of this producer.
std::optional<uint64_t> ParseState(const ItemLaw& law, uint32_t producer, std::string_view state);

}  // namespace lakestream::sim

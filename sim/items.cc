#include "sim/items.h"

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "sim/random.h"

namespace lakestream::sim {
namespace {

Random ItemRandom(const ItemLaw& law, ItemId id, uint64_t part) {
  return Random(Random::Mix(law.seed ^ (uint64_t{id.producer} << 48) ^ (id.item << 16) ^ part));
}

}  // namespace

Buffer SlicePayload(const ItemLaw& law, ItemId id, uint32_t dp, uint32_t cp) {
  Random random = ItemRandom(law, id, (uint64_t{dp} << 8 | cp) + 1);
  const uint64_t name[4] = {id.producer, id.item, dp, cp};
  std::vector<uint8_t> fill(random.Below(law.payload_bytes_max + 1));
  for (uint8_t& byte : fill) byte = static_cast<uint8_t>(random.Next());
  std::vector<TensorView> tensors(2);
  tensors[0] = {"item", DType::kU64, {4}, {reinterpret_cast<const uint8_t*>(name), sizeof name}};
  tensors[1] = {"fill", DType::kU8, {fill.size()}, fill};
  Result<Buffer> payload = EncodeSlice(tensors);
  assert(payload.ok());
  return *std::move(payload);
}

Tgb ItemTgb(const ItemLaw& law, ItemId id, const Mesh& mesh) {
  Tgb tgb(mesh);
  for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
    for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
      const Status status = tgb.SetSlice(dp, cp, SlicePayload(law, id, dp, cp));
      assert(status.ok());
      (void)status;
    }
  }
  return tgb;
}

std::optional<ItemId> IdentifySlice(const Buffer& payload) {
  const Result<SliceView> slice = DecodeSlice(payload);
  if (!slice.ok()) return std::nullopt;
  const TensorView* name = slice->Find("item");
  if (name == nullptr || name->data.size() != 4 * sizeof(uint64_t)) return std::nullopt;
  uint64_t words[4];
  std::memcpy(words, name->data.data(), sizeof words);
  return ItemId{static_cast<uint32_t>(words[0]), words[1]};
}

std::string StateBefore(const ItemLaw& law, uint32_t producer, uint64_t next) {
  Random random = ItemRandom(law, {producer, next}, 0);
  std::string state = Str(producer, ":", next, ":");
  state.resize(state.size() + random.Below(law.state_bytes_max + 1),
               static_cast<char>('a' + random.Below(26)));
  return state;
}

std::optional<uint64_t> ParseState(const ItemLaw& law, uint32_t producer, std::string_view state) {
  if (state.empty()) return 0;
  const size_t colon = state.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const uint64_t next = std::strtoull(std::string(state.substr(colon + 1)).c_str(), nullptr, 10);
  if (state != StateBefore(law, producer, next)) return std::nullopt;
  return next;
}

}  // namespace lakestream::sim

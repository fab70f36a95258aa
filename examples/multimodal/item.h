// Items: the samples that the three producers make, and how one is cut over context parallelism.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/types.h"

namespace multimodal {

// Numbers are part of item ids.
enum class Kind : uint64_t { kVideo = 1, kImage = 2, kText = 3 };

std::string_view KindName(Kind kind);  // "video"
std::optional<Kind> KindFromName(std::string_view name);

// Unique over all producers; item k of a kind is the same item in every run with the same seed.
inline uint64_t ItemId(Kind kind, uint64_t k) { return (static_cast<uint64_t>(kind) << 48) | k; }

// One decoded sample: a sequence of `units`, each of the same size.
//   text:  a unit is one token (I32, 4 bytes)
//   image: a unit is one row of 224 RGB pixels (672 bytes), 224 rows
//   video: a unit is one frame of 160 x 90 RGB pixels (43,200 bytes), 4 to 16 frames
struct Item {
  uint64_t id = 0;
  std::string identity;  // JSON object: epoch, source and what was drawn for it
  uint64_t units = 0;
  std::vector<uint8_t> content;  // units * UnitBytes(kind)
};

uint64_t UnitBytes(Kind kind);

// Context parallelism splits every sequence along its length: position 0 of 2 gets units
// [0, ceil(units / 2)), position 1 the rest; in general position p gets
// [CpStart(p), CpStart(p + 1)), the longer parts first.
inline uint64_t CpStart(uint64_t units, uint32_t cp, uint32_t position) {
  const uint64_t rest = units % cp;
  return (units / cp) * position + (position < rest ? position : rest);
}

// XXH3-64 of decoded bytes: what travels with each part of an item and is checked at the far end.
uint64_t ContentHash(lakestream::ConstBytes bytes);
std::string Hex64(uint64_t value);  // 16 lower-case digits
// A JSON string literal.
std::string Quoted(std::string_view text);

// A deterministic endless sequence of items: item k is a pure function of (data folder, seed, k).
// Confined to one thread.
class ItemSource {
 public:
  virtual ~ItemSource() = default;
  // Decodes item k. kNotFound, kDataLoss: a file of the data folder is missing or damaged.
  virtual lakestream::Result<Item> Load(uint64_t k) = 0;
};

// Opens the source of a kind over a prepared data folder (see README.md).
lakestream::Result<std::unique_ptr<ItemSource>> OpenSource(Kind kind, const std::string& data,
                                                           uint64_t seed);

// Reads a whole file.
lakestream::Result<std::vector<uint8_t>> ReadFile(const std::string& path);
// Replaces a file atomically; with `durable`, its content survives a power loss once it returns.
lakestream::Status WriteFile(const std::string& path, std::string_view content, bool durable);

}  // namespace multimodal

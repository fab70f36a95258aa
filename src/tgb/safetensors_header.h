// The JSON header of a safetensors payload, apart from the tensors' bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/tgb.h"

namespace lakestream {

inline constexpr uint64_t kSafetensorsHeaderBytesMax = 100'000'000;  // as safetensors itself
inline constexpr size_t kTensorRankMax = 64;                         // dimensions; as NumPy
inline constexpr std::string_view kMetadataKey = "__metadata__";

// One tensor's description. begin and end count from the start of the tensor area.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kU8;
  std::vector<uint64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;
  SliceMetadata metadata;
};

// The JSON text, without padding. Names and metadata must be UTF-8.
std::string FormatSafetensorsHeader(const SafetensorsHeader& header);

// Parses the JSON text and its padding: an object of exactly the published form, without duplicate
// keys. Tensors in textual order; their ranges are not checked yet. kDataLoss with the reason;
// kUnimplemented for an element type that this version does not know.
Result<SafetensorsHeader> ParseSafetensorsHeader(std::string_view text);

// product(shape) * element size; nullopt if that overflows or the type is unknown.
std::optional<uint64_t> TensorBytes(DType dtype, const std::vector<uint64_t>& shape);

bool IsUtf8(std::string_view text);

}  // namespace lakestream

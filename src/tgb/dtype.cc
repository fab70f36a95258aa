#include <array>
#include <utility>

#include "lakestream/tgb.h"

namespace lakestream {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  uint32_t bytes;
};

// In the order of the enumeration.
constexpr std::array<DTypeRow, 16> kDTypes = {{
    {DType::kBool, "BOOL", 1},
    {DType::kU8, "U8", 1},
    {DType::kI8, "I8", 1},
    {DType::kF8E4M3, "F8_E4M3", 1},
    {DType::kF8E5M2, "F8_E5M2", 1},
    {DType::kI16, "I16", 2},
    {DType::kU16, "U16", 2},
    {DType::kF16, "F16", 2},
    {DType::kBF16, "BF16", 2},
    {DType::kI32, "I32", 4},
    {DType::kU32, "U32", 4},
    {DType::kF32, "F32", 4},
    {DType::kI64, "I64", 8},
    {DType::kU64, "U64", 8},
    {DType::kF64, "F64", 8},
    {DType::kC64, "C64", 8},
}};

constexpr bool IsInOrder() {
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (static_cast<size_t>(kDTypes[i].dtype) != i) return false;
  }
  return true;
}
static_assert(IsInOrder());

// Callers may have cast any number to DType.
const DTypeRow* FindRow(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  return index < kDTypes.size() ? &kDTypes[index] : nullptr;
}

}  // namespace

uint32_t DTypeBytes(DType dtype) {
  const DTypeRow* row = FindRow(dtype);
  return row != nullptr ? row->bytes : 0;
}

std::string_view DTypeName(DType dtype) {
  const DTypeRow* row = FindRow(dtype);
  return row != nullptr ? row->name : std::string_view();
}

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace lakestream

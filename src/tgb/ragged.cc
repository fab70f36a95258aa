#include "tgb/ragged.h"

#include <cstring>
#include <utility>

#include "base/text.h"
#include "lakestream/tgb.h"

namespace lakestream {
namespace {

ConstBytes BytesOf(const std::vector<int64_t>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(int64_t)};
}

// By copy: in a foreign payload the offsets may lie anywhere.
std::vector<int64_t> ReadInt64s(ConstBytes bytes) {
  std::vector<int64_t> values(bytes.size() / sizeof(int64_t));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

std::vector<TensorView> StringTensors(const std::string& name, std::span<const std::string> strings,
                                      RaggedStorage& storage) {
  storage.values.clear();
  storage.offsets.assign(1, 0);
  for (const std::string& text : strings) {
    storage.values.insert(storage.values.end(), text.begin(), text.end());
    storage.offsets.push_back(static_cast<int64_t>(storage.values.size()));
  }
  return {
      {name, DType::kU8, {storage.values.size()}, storage.values},
      {RaggedOffsetsName(name), DType::kI64, {storage.offsets.size()}, BytesOf(storage.offsets)}};
}

Result<std::vector<std::string>> ReadStrings(const SliceView& slice, std::string_view name) {
  const TensorView* values = slice.Find(name);
  const TensorView* ends = slice.Find(RaggedOffsetsName(name));
  if (values == nullptr || ends == nullptr) {
    return NotFoundError(Str("the slice has no string field '", name, "'"));
  }
  if (values->dtype != DType::kU8 || values->shape.size() != 1 || ends->dtype != DType::kI64 ||
      ends->shape.size() != 1 || ends->shape[0] < 1) {
    return DataLossError(Str("field '", name,
                             "' does not hold strings: it needs U8 values and I64 ",
                             "offsets, both of one dimension"));
  }
  const std::vector<int64_t> offsets = ReadInt64s(ends->data);
  const auto total = static_cast<int64_t>(values->data.size());
  if (offsets.front() != 0 || offsets.back() != total) {
    return DataLossError(
        Str("the offsets of field '", name, "' do not cover its ", total, " bytes"));
  }
  std::vector<std::string> strings;
  strings.reserve(offsets.size() - 1);
  const std::string_view text = AsText(values->data);
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    if (offsets[i] > offsets[i + 1] || offsets[i + 1] > total) {
      return DataLossError(Str("the offsets of field '", name, "' do not ascend at value ", i));
    }
    strings.emplace_back(text.substr(offsets[i], offsets[i + 1] - offsets[i]));
  }
  return strings;
}

}  // namespace lakestream

#include "multimodal/slices.h"

#include <cstring>
#include <string>

#include "multimodal/image_source.h"
#include "multimodal/video_source.h"

namespace multimodal {

using lakestream::ConstBytes;
using lakestream::DataLossError;
using lakestream::DType;
using lakestream::Mesh;
using lakestream::Result;
using lakestream::SliceView;
using lakestream::TensorView;
using lakestream::Tgb;

namespace {

struct Field {
  const char* name;
  DType dtype;
  std::vector<uint64_t> unit_shape;
};

Field FieldOf(Kind kind) {
  switch (kind) {
    case Kind::kVideo:
      return {"frames", DType::kU8, {kFrameHeight, kFrameWidth, 3}};
    case Kind::kImage:
      return {"pixels", DType::kU8, {kImageSide, 3}};
    case Kind::kText:
      break;
  }
  return {"tokens", DType::kI32, {}};
}

template <typename T>
TensorView VectorTensor(std::string name, DType dtype, const std::vector<T>& values) {
  return {std::move(name),
          dtype,
          {values.size()},
          ConstBytes(reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T))};
}

// What one slice is made of, before it is encoded.
struct SliceColumns {
  std::vector<uint64_t> ids;
  std::vector<int64_t> starts;
  std::vector<int64_t> lengths;
  std::vector<uint64_t> hashes;
  std::vector<int64_t> offsets{0};
  std::vector<uint8_t> values;

  void Add(const Item& item, Kind kind, uint32_t cp, uint32_t position) {
    const uint64_t begin = CpStart(item.units, cp, position);
    const uint64_t end = CpStart(item.units, cp, position + 1);
    const uint64_t unit = UnitBytes(kind);
    const ConstBytes part = ConstBytes(item.content).subspan(begin * unit, (end - begin) * unit);
    ids.push_back(item.id);
    starts.push_back(static_cast<int64_t>(begin));
    lengths.push_back(static_cast<int64_t>(item.units));
    hashes.push_back(ContentHash(part));
    offsets.push_back(offsets.back() + static_cast<int64_t>(end - begin));
    values.insert(values.end(), part.begin(), part.end());
  }
};

// Values of a tensor of 8-byte elements; empty if it is missing or of another type.
template <typename T>
Result<std::vector<T>> Column(const SliceView& slice, const std::string& name, DType dtype) {
  const TensorView* tensor = slice.Find(name);
  if (tensor == nullptr || tensor->dtype != dtype || tensor->shape.size() != 1) {
    return DataLossError("the slice has no tensor '" + name + "' of the expected type");
  }
  std::vector<T> values(tensor->data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor->data.data(), tensor->data.size());
  return values;
}

}  // namespace

Result<Tgb> BuildTgb(const PackedStep& step, Kind kind, const Mesh& mesh) {
  const Field field = FieldOf(kind);
  Tgb tgb(mesh);
  for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
    for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
      SliceColumns columns;
      for (size_t i : step.rows[dp]) columns.Add(step.items[i], kind, mesh.cp, cp);
      std::vector<uint64_t> shape{static_cast<uint64_t>(columns.offsets.back())};
      shape.insert(shape.end(), field.unit_shape.begin(), field.unit_shape.end());
      const std::vector<TensorView> tensors = {
          VectorTensor("item_ids", DType::kU64, columns.ids),
          VectorTensor("starts", DType::kI64, columns.starts),
          VectorTensor("lengths", DType::kI64, columns.lengths),
          VectorTensor("hashes", DType::kU64, columns.hashes),
          VectorTensor(std::string(field.name) + "#offsets", DType::kI64, columns.offsets),
          TensorView{field.name, field.dtype, std::move(shape), columns.values},
      };
      LS_RETURN_IF_ERROR(tgb.SetSlice(dp, cp, tensors, {{"kind", std::string(KindName(kind))}}));
    }
  }
  return tgb;
}

Result<SliceParts> ReadParts(const SliceView& slice) {
  const auto kind_text = slice.metadata.find("kind");
  const auto kind =
      kind_text == slice.metadata.end() ? std::nullopt : KindFromName(kind_text->second);
  if (!kind) return DataLossError("the slice's metadata names no known kind");
  const Field field = FieldOf(*kind);
  LS_ASSIGN_OR_RETURN(auto ids, Column<uint64_t>(slice, "item_ids", DType::kU64));
  LS_ASSIGN_OR_RETURN(auto starts, Column<int64_t>(slice, "starts", DType::kI64));
  LS_ASSIGN_OR_RETURN(auto lengths, Column<int64_t>(slice, "lengths", DType::kI64));
  LS_ASSIGN_OR_RETURN(auto hashes, Column<uint64_t>(slice, "hashes", DType::kU64));
  LS_ASSIGN_OR_RETURN(auto offsets,
                      Column<int64_t>(slice, std::string(field.name) + "#offsets", DType::kI64));
  const TensorView* values = slice.Find(field.name);
  const size_t n = ids.size();
  if (values == nullptr || values->dtype != field.dtype || starts.size() != n ||
      lengths.size() != n || hashes.size() != n || offsets.size() != n + 1 || offsets[0] != 0) {
    return DataLossError("the slice's tensors do not fit together");
  }
  const uint64_t unit = UnitBytes(*kind);
  SliceParts out{*kind, {}};
  for (size_t i = 0; i < n; ++i) {
    if (starts[i] < 0 || lengths[i] < 0 || offsets[i + 1] < offsets[i] ||
        static_cast<uint64_t>(offsets[i + 1]) * unit > values->data.size()) {
      return DataLossError("the slice's offsets do not fit its values");
    }
    const auto begin = static_cast<uint64_t>(offsets[i]) * unit;
    const auto end = static_cast<uint64_t>(offsets[i + 1]) * unit;
    out.parts.push_back({ids[i], static_cast<uint64_t>(starts[i]),
                         static_cast<uint64_t>(lengths[i]), hashes[i],
                         values->data.subspan(begin, end - begin)});
  }
  return out;
}

}  // namespace multimodal

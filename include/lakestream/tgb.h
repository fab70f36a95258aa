// Tensors, slices and Transactional Global Batches (TGBs), as values.
//
// A slice is what one (dp, cp) position consumes in one step: named tensors, stored as a valid
// safetensors payload. Little-endian, row-major (C order). A TGB is the grid of all slices of a
// step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {

// Element types, named as in safetensors. Numbers are stable (they are not stored, names are).
enum class DType : int {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kI64,
  kU64,
  kF64,
  kC64,
};

uint32_t DTypeBytes(DType dtype);         // element size in bytes
std::string_view DTypeName(DType dtype);  // "BF16"
std::optional<DType> DTypeFromName(std::string_view name);

// A named tensor over borrowed bytes. data.size() == product(shape) * DTypeBytes(dtype); a 0-d
// scalar has an empty shape and one element. Zero-length dimensions are allowed.
struct TensorView {
  std::string name;
  DType dtype = DType::kU8;
  std::vector<uint64_t> shape;
  ConstBytes data;
};

// Free-form text attached to a slice (safetensors' __metadata__). Keys starting with "lakestream."
// are ours.
using SliceMetadata = std::map<std::string, std::string>;

// Encodes tensors as one safetensors payload: tensors sorted by (element size descending, name), so
// that each is aligned to its element size; the tensor area starts at a multiple of 64 bytes. One
// copy of the data. kInvalidArgument: duplicate or reserved name, size that does not match the
// shape. Pure, thread-safe.
Result<Buffer> EncodeSlice(std::span<const TensorView> tensors, const SliceMetadata& metadata = {});

// A decoded slice. Tensors point into the payload, which they keep alive through `payload`.
struct SliceView {
  Buffer payload;
  std::vector<TensorView> tensors;  // in the order of their bytes
  SliceMetadata metadata;
  Buffer derived;  // memory of tensors that are not in the payload: offsets of a part of a slice
  const TensorView* Find(std::string_view name) const;  // null if there is none
};
// Checks every length and offset; kDataLoss with the reason if the payload is not valid
// safetensors, kUnimplemented for an element type that is not in DType.
Result<SliceView> DecodeSlice(Buffer payload);

// Ragged and string fields, on top of plain tensors: a field "x" of n values of uneven length is
// the tensor "x" (all values end to end, first dimension) and the tensor "x#offsets" (I64, n + 1
// values, from 0). Strings are U8 with metadata "lakestream.type.x" = "utf8" (or "bytes"). Returned
// views borrow from `storage`, which must outlive them.
struct RaggedStorage {
  std::vector<uint8_t> values;
  std::vector<int64_t> offsets;
};
std::vector<TensorView> StringTensors(const std::string& name, std::span<const std::string> strings,
                                      RaggedStorage& storage);
// The values of a string field; kNotFound or kDataLoss otherwise.
Result<std::vector<std::string>> ReadStrings(const SliceView& slice, std::string_view name);

// One step's grid of encoded slices. A value; moving is cheap.
class Tgb {
 public:
  explicit Tgb(Mesh mesh) : mesh_(mesh), slices_(mesh.slice_count()) {}

  const Mesh& mesh() const { return mesh_; }
  // Sets the slice of a position to an encoded payload (see EncodeSlice). kInvalidArgument if (dp,
  // cp) is outside the mesh or was set before, or if the payload is not a slice: what no rank could
  // read must not become a step. The check parses the payload's header, not its data.
  Status SetSlice(uint32_t dp, uint32_t cp, Buffer payload);
  // As above, encoding the tensors.
  Status SetSlice(uint32_t dp, uint32_t cp, std::span<const TensorView> tensors,
                  const SliceMetadata& metadata = {});
  // kInvalidArgument naming the first missing position, if any. A slice may be an empty payload of
  // no tensors.
  Status CheckComplete() const;
  uint64_t payload_bytes() const;
  // By Mesh::SliceIndex; all set once CheckComplete() is OK.
  const std::vector<std::optional<Buffer>>& slices() const { return slices_; }

 private:
  Mesh mesh_;
  std::vector<std::optional<Buffer>> slices_;
};

}  // namespace lakestream

#include "tgb/samples.h"

#include <charconv>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "tgb/aligned_block.h"
#include "tgb/ragged.h"

namespace lakestream {
namespace {

constexpr std::string_view kSamplesKey = "lakestream.samples";
constexpr std::string_view kWholePrefix = "lakestream.whole.";

// How a tensor takes part in the samples.
enum class Rows { kOnePerSample, kRaggedValues, kRaggedOffsets, kWhole };

Result<uint64_t> DeclaredSamples(const SliceView& slice) {
  const auto found = slice.metadata.find(std::string(kSamplesKey));
  if (found == slice.metadata.end()) {
    return InvalidArgumentError(Str("the slice declares no samples: set metadata '", kSamplesKey,
                                    "', since the stream's slices can be shared out"));
  }
  uint64_t samples = 0;
  const std::string& text = found->second;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), samples);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) return samples;
  return InvalidArgumentError(Str("metadata '", kSamplesKey, "' is '", text, "', not a number"));
}

int64_t OffsetAt(const TensorView& offsets, uint64_t index) {
  int64_t value = 0;
  std::memcpy(&value, offsets.data.data() + index * sizeof value, sizeof value);
  return value;
}

bool IsWhole(const SliceView& slice, std::string_view name) {
  return slice.metadata.contains(Str(kWholePrefix, name));
}

Rows RowsOf(const SliceView& slice, const TensorView& tensor) {
  if (const auto values = RaggedValuesName(tensor.name); values && slice.Find(*values) != nullptr)
    return IsWhole(slice, *values) ? Rows::kWhole : Rows::kRaggedOffsets;
  if (IsWhole(slice, tensor.name)) return Rows::kWhole;
  const bool ragged = slice.Find(RaggedOffsetsName(tensor.name)) != nullptr;
  return ragged ? Rows::kRaggedValues : Rows::kOnePerSample;
}

// Offsets ascend from 0 to the rows of their values.
Status CheckOffsets(const TensorView& offsets, const TensorView& values, uint64_t samples) {
  const bool fits = offsets.dtype == DType::kI64 && offsets.shape.size() == 1 &&
                    offsets.shape[0] == samples + 1 && !values.shape.empty();
  if (!fits) {
    return InvalidArgumentError(Str("tensor '", offsets.name, "' must be I64 of ", samples + 1,
                                    " values, since the slice declares ", samples, " samples"));
  }
  int64_t before = 0;
  bool ascends = OffsetAt(offsets, 0) == 0;
  for (uint64_t i = 0; i <= samples; ++i) {
    const int64_t offset = OffsetAt(offsets, i);
    ascends = ascends && offset >= before;
    before = offset;
  }
  if (ascends && static_cast<uint64_t>(before) == values.shape[0]) return OkStatus();
  return InvalidArgumentError(
      Str("tensor '", offsets.name, "' does not ascend from 0 to ", values.shape[0]));
}

Status CheckTensor(const SliceView& slice, const TensorView& tensor, uint64_t samples) {
  switch (RowsOf(slice, tensor)) {
    case Rows::kWhole:
    case Rows::kRaggedValues:  // checked with its offsets
      return OkStatus();
    case Rows::kRaggedOffsets:
      return CheckOffsets(tensor, *slice.Find(*RaggedValuesName(tensor.name)), samples);
    case Rows::kOnePerSample:
      break;
  }
  if (!tensor.shape.empty() && tensor.shape[0] == samples) return OkStatus();
  return InvalidArgumentError(
      Str("tensor '", tensor.name, "' has ", tensor.shape.empty() ? 0 : tensor.shape[0],
          " rows, but the slice declares ", samples, " samples; if it belongs to all of them, set ",
          "metadata '", kWholePrefix, tensor.name, "'"));
}

void SelectRows(TensorView& tensor, uint64_t first, uint64_t end) {
  const uint64_t rows = tensor.shape[0];
  const uint64_t row_bytes = rows == 0 ? 0 : tensor.data.size() / rows;
  tensor.data = tensor.data.subspan(first * row_bytes, (end - first) * row_bytes);
  tensor.shape[0] = end - first;
}

}  // namespace

Status CheckSamples(const SliceView& slice, uint32_t multiple) {
  LS_ASSIGN_OR_RETURN(const uint64_t samples, DeclaredSamples(slice));
  if (samples % multiple != 0) {
    return InvalidArgumentError(
        Str("the slice declares ", samples, " samples, which is not a multiple of ", multiple));
  }
  for (const TensorView& tensor : slice.tensors) {
    LS_RETURN_IF_ERROR(CheckTensor(slice, tensor, samples));
  }
  return OkStatus();
}

Result<SliceView> SelectSamples(SliceView slice, uint32_t part, uint32_t parts) {
  if (const Status valid = CheckSamples(slice, parts); !valid.ok()) {
    return DataLossError(Str("a slice cannot be shared out: ", valid.message()));
  }
  const uint64_t samples = *DeclaredSamples(slice);
  const uint64_t first = samples / parts * part;
  const uint64_t end = first + samples / parts;
  const uint64_t offsets_bytes = (end - first + 1) * sizeof(int64_t);
  uint64_t derived_bytes = 0;
  for (const TensorView& tensor : slice.tensors) {
    if (RowsOf(slice, tensor) == Rows::kRaggedOffsets) derived_bytes += offsets_bytes;
  }
  const BufferAllocator::Block block = AllocateAligned(derived_bytes);
  if (block.data == nullptr) return ResourceExhaustedError("no memory for a slice's offsets");
  uint8_t* out = block.data;
  std::vector<TensorView> selected = slice.tensors;
  for (TensorView& tensor : selected) {
    const Rows rows = RowsOf(slice, tensor);
    if (rows == Rows::kOnePerSample) SelectRows(tensor, first, end);
    if (rows == Rows::kRaggedValues) {
      const TensorView& offsets = *slice.Find(RaggedOffsetsName(tensor.name));
      SelectRows(tensor, static_cast<uint64_t>(OffsetAt(offsets, first)),
                 static_cast<uint64_t>(OffsetAt(offsets, end)));
    }
    if (rows == Rows::kRaggedOffsets) {
      const ConstBytes made(out, offsets_bytes);
      for (uint64_t i = first; i <= end; ++i, out += sizeof(int64_t)) {
        const int64_t offset = OffsetAt(tensor, i) - OffsetAt(tensor, first);
        std::memcpy(out, &offset, sizeof offset);
      }
      tensor.data = made;
      tensor.shape[0] = end - first + 1;
    }
  }
  slice.tensors = std::move(selected);
  slice.derived = Buffer(block.owner, {block.data, derived_bytes});
  slice.metadata[std::string(kSamplesKey)] = std::to_string(samples / parts);
  return slice;
}

}  // namespace lakestream

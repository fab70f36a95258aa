#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "lakestream/tgb.h"
#include "tgb/aligned_block.h"
#include "tgb/object_layout.h"
#include "tgb/safetensors_header.h"

namespace lakestream {
namespace {

constexpr size_t kLengthBytes = sizeof(uint64_t);  // the payload starts with the header's length

Status CheckTensor(const TensorView& tensor) {
  if (tensor.name == kMetadataKey) {
    return InvalidArgumentError(Str("a tensor cannot be named '", kMetadataKey, "'"));
  }
  if (!IsUtf8(tensor.name)) {
    return InvalidArgumentError(
        Str("tensor name (in hex) ", ToHex(AsBytes(tensor.name)), " is not UTF-8"));
  }
  if (tensor.shape.size() > kTensorRankMax) {
    return InvalidArgumentError(
        Str("tensor '", tensor.name, "' has more than ", kTensorRankMax, " dimensions"),
        Reason::kTooLarge);
  }
  const std::optional<uint64_t> bytes = TensorBytes(tensor.dtype, tensor.shape);
  if (!bytes) {
    return InvalidArgumentError(
        Str("tensor '", tensor.name, "' has a shape too large to count, or no element type"),
        Reason::kTooLarge);
  }
  if (*bytes != tensor.data.size()) {
    return InvalidArgumentError(Str("tensor '", tensor.name, "' takes ", *bytes,
                                    " bytes by its shape, but ", tensor.data.size(),
                                    " were given"));
  }
  return OkStatus();
}

// Checked, in the order in which they are stored: elements of the larger size first, so that each
// tensor is aligned to its element size without gaps.
Result<std::vector<const TensorView*>> OrderTensors(std::span<const TensorView> tensors) {
  std::vector<const TensorView*> order;
  order.reserve(tensors.size());
  for (const TensorView& tensor : tensors) {
    LS_RETURN_IF_ERROR(CheckTensor(tensor));
    order.push_back(&tensor);
  }
  const auto by_name = [](const TensorView* a, const TensorView* b) { return a->name < b->name; };
  std::sort(order.begin(), order.end(), by_name);
  const auto twin = std::adjacent_find(
      order.begin(), order.end(),
      [](const TensorView* a, const TensorView* b) { return a->name == b->name; });
  if (twin != order.end()) {
    return InvalidArgumentError(Str("two tensors are named '", (*twin)->name, "'"));
  }
  std::stable_sort(order.begin(), order.end(), [](const TensorView* a, const TensorView* b) {
    return DTypeBytes(a->dtype) > DTypeBytes(b->dtype);
  });
  return order;
}

Status CheckMetadata(const SliceMetadata& metadata) {
  for (const auto& [key, value] : metadata) {
    if (!IsUtf8(key) || !IsUtf8(value)) {
      return InvalidArgumentError(
          Str("metadata with the key (in hex) ", ToHex(AsBytes(key)), " is not UTF-8"));
    }
  }
  return OkStatus();
}

// Sorts by position and checks that the tensors fill the tensor area without overlap or hole.
Status CheckRanges(std::vector<TensorInfo>& tensors, uint64_t area_bytes) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t expected = 0;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin != expected || tensor.end < tensor.begin || tensor.end > area_bytes) {
      return DataLossError(Str("tensor '", tensor.name, "' claims bytes ", tensor.begin, " to ",
                               tensor.end, " where ", expected, " must follow, of ", area_bytes));
    }
    const std::optional<uint64_t> bytes = TensorBytes(tensor.dtype, tensor.shape);
    if (!bytes || *bytes != tensor.end - tensor.begin) {
      return DataLossError(Str("tensor '", tensor.name, "' has ", tensor.end - tensor.begin,
                               " bytes, which is not what its shape needs"));
    }
    expected = tensor.end;
  }
  if (expected == area_bytes) return OkStatus();
  return DataLossError(
      Str("the tensors cover ", expected, " bytes of a tensor area of ", area_bytes));
}

}  // namespace

Result<Buffer> EncodeSlice(std::span<const TensorView> tensors, const SliceMetadata& metadata) {
  LS_RETURN_IF_ERROR(CheckMetadata(metadata));
  LS_ASSIGN_OR_RETURN(const std::vector<const TensorView*> order, OrderTensors(tensors));
  SafetensorsHeader header{{}, metadata};
  header.tensors.reserve(order.size());
  uint64_t end = 0;
  for (const TensorView* tensor : order) {
    const uint64_t begin = end;
    end += tensor->data.size();
    header.tensors.push_back({tensor->name, tensor->dtype, tensor->shape, begin, end});
  }
  std::string text = FormatSafetensorsHeader(header);
  text.resize(PaddedToUnit(kLengthBytes + text.size()) - kLengthBytes, ' ');
  if (text.size() > kSafetensorsHeaderBytesMax) {
    return InvalidArgumentError(Str("names, shapes and metadata of a slice take ", text.size(),
                                    " bytes; the limit is ", kSafetensorsHeaderBytesMax),
                                Reason::kTooLarge);
  }
  const uint64_t total = kLengthBytes + text.size() + end;
  const BufferAllocator::Block block = AllocateAligned(total);
  if (block.data == nullptr) {
    return ResourceExhaustedError(Str("no memory for a slice of ", total, " bytes"));
  }
  const uint64_t text_bytes = text.size();
  std::memcpy(block.data, &text_bytes, kLengthBytes);
  std::memcpy(block.data + kLengthBytes, text.data(), text.size());
  uint8_t* out = block.data + kLengthBytes + text.size();
  for (const TensorView* tensor : order) {
    out = std::copy(tensor->data.begin(), tensor->data.end(), out);
  }
  return Buffer(block.owner, {block.data, total});
}

const TensorView* SliceView::Find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [name](const TensorView& t) { return t.name == name; });
  return found != tensors.end() ? &*found : nullptr;
}

Result<SliceView> DecodeSlice(Buffer payload) {
  const ConstBytes bytes = payload.bytes();
  if (bytes.size() < kLengthBytes) {
    return DataLossError(Str("safetensors payload is cut off after ", bytes.size(), " bytes"));
  }
  uint64_t text_bytes = 0;
  std::memcpy(&text_bytes, bytes.data(), kLengthBytes);
  if (text_bytes > kSafetensorsHeaderBytesMax || text_bytes > bytes.size() - kLengthBytes) {
    return DataLossError(
        Str("safetensors header claims ", text_bytes, " bytes in a payload of ", bytes.size()));
  }
  LS_ASSIGN_OR_RETURN(SafetensorsHeader header,
                      ParseSafetensorsHeader(AsText(bytes.subspan(kLengthBytes, text_bytes))));
  const ConstBytes area = bytes.subspan(kLengthBytes + text_bytes);
  LS_RETURN_IF_ERROR(CheckRanges(header.tensors, area.size()));
  SliceView slice;
  slice.payload = std::move(payload);
  slice.metadata = std::move(header.metadata);
  slice.tensors.reserve(header.tensors.size());
  for (TensorInfo& tensor : header.tensors) {
    const ConstBytes data = area.subspan(tensor.begin, tensor.end - tensor.begin);
    slice.tensors.push_back({std::move(tensor.name), tensor.dtype, std::move(tensor.shape), data});
  }
  return slice;
}

}  // namespace lakestream

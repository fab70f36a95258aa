#include "tests/golden/sample_objects.h"

#include <cstdlib>
#include <numeric>
#include <utility>

#include "tgb/object_layout.h"
#include "tgb/slice_frame.h"

namespace lakestream {
namespace {

StreamUuid SampleUuid() {
  StreamUuid uuid;
  std::iota(uuid.begin(), uuid.end(), uint8_t{0xa0});
  return uuid;
}

void Must(const Status& status) {
  if (!status.ok()) std::abort();
}

template <typename T>
ConstBytes BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
}

// The slice of position (dp, cp) of the g-th TGB. Each has other tensors.
Buffer MixedSlice(uint32_t g, uint32_t dp, uint32_t cp) {
  if (g == 1 && dp == 1 && cp == 0) return *EncodeSlice({});
  std::vector<int32_t> tokens(3 + 50 * g + 10 * dp + cp);
  std::iota(tokens.begin(), tokens.end(), static_cast<int32_t>(100 * g));
  const std::vector<double> loss_scale = {0.5 + g};
  const std::vector<uint8_t> mask(5 + dp, 1);
  const std::vector<std::string> captions = {"a lake", "", "jezero \xc4\x8d\xc5\xa1"};
  RaggedStorage storage;
  std::vector<TensorView> tensors = StringTensors("caption", captions, storage);
  tensors.push_back({"tokens", DType::kI32, {tokens.size()}, BytesOf(tokens)});
  tensors.push_back({"loss_scale", DType::kF64, {}, BytesOf(loss_scale)});
  tensors.push_back({"mask", DType::kBool, {1, mask.size()}, mask});
  tensors.push_back({"no_images", DType::kBF16, {0, 3, 224, 224}, {}});
  return *EncodeSlice(tensors, {{"lakestream.type.caption", "utf8"}, {"source", "sample\n\"1\""}});
}

}  // namespace

SampleObject WorkedExample() {
  SampleObject sample;
  sample.spec = {.stream_uuid = SampleUuid(),
                 .session = 3,
                 .object = 7,
                 .mesh = {2, 1},
                 .producer = "text-0",
                 .first_sequence = 41,
                 .zstd_level = 0};
  sample.state = "row 1234";
  sample.tgbs.emplace_back(sample.spec.mesh);
  const std::vector<uint16_t> first = {1, 2, 3};
  const std::vector<uint16_t> second = {500, 600};
  const TensorView tokens[] = {{"tokens", DType::kU16, {3}, BytesOf(first)},
                               {"tokens", DType::kU16, {2}, BytesOf(second)}};
  Must(sample.tgbs[0].SetSlice(0, 0, std::span(&tokens[0], 1)));
  Must(sample.tgbs[0].SetSlice(1, 0, std::span(&tokens[1], 1)));
  return sample;
}

SampleObject MixedSample() {
  SampleObject sample;
  sample.spec = {.stream_uuid = SampleUuid(),
                 .session = uint64_t{1} << 40,
                 .object = 4294967295u,
                 .mesh = {2, 2},
                 .producer = "video.eu-west_1",
                 .first_sequence = uint64_t{1} << 33,
                 .zstd_level = 0};
  for (uint32_t g = 0; g < 3; ++g) {
    Tgb& tgb = sample.tgbs.emplace_back(sample.spec.mesh);
    for (uint32_t cp = 0; cp < 2; ++cp) {
      for (uint32_t dp = 0; dp < 2; ++dp) Must(tgb.SetSlice(dp, cp, MixedSlice(g, dp, cp)));
    }
  }
  return sample;
}

SampleObject CompressedSample() {
  SampleObject sample;
  sample.spec = {.stream_uuid = SampleUuid(),
                 .session = 12,
                 .object = 0,
                 .mesh = {1, 1},
                 .producer = "image-0",
                 .first_sequence = 0,
                 .zstd_level = 3};
  sample.state = std::string(1500, 's') + "end of the state";
  Tgb& tgb = sample.tgbs.emplace_back(sample.spec.mesh);
  std::vector<float> pixels(1000);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i % 7);
  const TensorView image = {"pixels", DType::kF32, {10, 100}, BytesOf(pixels)};
  Must(tgb.SetSlice(0, 0, std::span(&image, 1)));
  return sample;
}

std::vector<uint8_t> ObjectBytes(const SampleObject& sample) {
  const Result<EncodedDataObject> object = EncodeDataObject(sample.spec, sample.tgbs, sample.state);
  Must(object.status());
  std::vector<uint8_t> bytes;
  for (const ConstBytes piece : object->pieces)
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  if (bytes.size() != object->object_bytes) std::abort();
  return bytes;
}

Result<ObjectContent> ReadObject(ConstBytes object) {
  ObjectContent content;
  LS_ASSIGN_OR_RETURN(content.header, DecodeObjectHeader(object));
  LS_ASSIGN_OR_RETURN(content.footer, DecodeFooter(object, content.header));
  const ObjectHeader& header = content.header;
  const FrameTable table(content.footer.layout, header.mesh);
  const auto bytes_of = [object](ByteRange r) { return object.subspan(r.offset, r.size); };
  for (uint32_t cp = 0; cp < header.mesh.cp; ++cp) {
    for (uint32_t dp = 0; dp < header.mesh.dp; ++dp) {
      for (uint32_t g = 0; g < header.tgb_count; ++g) {
        const Buffer frame = Buffer::CopyOf(bytes_of(table.FrameRange(g, dp, cp)));
        LS_ASSIGN_OR_RETURN(Buffer payload,
                            OpenSliceFrame(frame, {header.session, header.object, g, dp, cp}));
        content.payloads.push_back(std::move(payload));
      }
    }
  }
  const StateRef& state = content.footer.state;
  content.state = state.inline_bytes;
  if (state.kind == StateRef::Kind::kExtent) {
    const ConstBytes bytes = bytes_of(state.range());
    LS_RETURN_IF_ERROR(CheckStateBytes(state, bytes));
    content.state = AsText(bytes);
  }
  return content;
}

SampleObject Rebuild(const ObjectContent& content, int zstd_level) {
  const ObjectHeader& header = content.header;
  SampleObject sample;
  sample.spec = {.stream_uuid = header.stream_uuid,
                 .session = header.session,
                 .object = header.object,
                 .mesh = header.mesh,
                 .producer = content.footer.producer,
                 .first_sequence = content.footer.first_sequence,
                 .zstd_level = zstd_level};
  sample.state = content.state;
  for (uint32_t g = 0; g < header.tgb_count; ++g) {
    Tgb& tgb = sample.tgbs.emplace_back(header.mesh);
    for (uint32_t cp = 0; cp < header.mesh.cp; ++cp) {
      for (uint32_t dp = 0; dp < header.mesh.dp; ++dp) {
        const uint64_t frame = uint64_t{header.mesh.SliceIndex(dp, cp)} * header.tgb_count + g;
        Must(tgb.SetSlice(dp, cp, content.payloads[frame]));
      }
    }
  }
  return sample;
}

}  // namespace lakestream

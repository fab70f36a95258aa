// Parsers of the tgb room.
#include <cstring>

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/checksum.h"
#include "fuzz/target.h"
#include "tests/golden/sample_objects.h"
#include "tgb/object_layout.h"
#include "tgb/slice_frame.h"
#include "tgb/state_ref.h"

namespace lakestream::fuzz {
namespace {

// Puts the checksum of bytes [at, at + 56) behind them, so that mutations get past it.
void RepairBlock(Bytes& bytes, size_t at) {
  if (at > bytes.size() || bytes.size() - at < 64) return;
  const uint64_t checksum = Checksum64(ConstBytes(bytes).subspan(at, 56));
  std::memcpy(bytes.data() + at + 56, &checksum, sizeof checksum);
}

uint64_t U64At(ConstBytes bytes, size_t at) { return ByteReader(bytes.subspan(at)).U64(); }

void RepairPayload(Bytes& bytes, size_t at) {
  if (at > bytes.size() || bytes.size() - at < kSliceHeaderBytes) return;
  const uint64_t stored = U64At(bytes, at + 32);
  if (stored > bytes.size() - at - kSliceHeaderBytes) return;
  const uint64_t checksum = Checksum64(ConstBytes(bytes).subspan(at + kSliceHeaderBytes, stored));
  std::memcpy(bytes.data() + at + 48, &checksum, sizeof checksum);
}

void RunSafetensors(ConstBytes input) {
  const auto slice = DecodeSlice(Buffer::CopyOf(input));
  if (!slice.ok()) return;
  // Side by side from the header's end to the payload's: no overlap, no hole.
  size_t at = 8 + U64At(input, 0);
  for (const TensorView& tensor : slice->tensors) {
    Require(tensor.data.data() == slice->payload.data() + at);
    at += tensor.data.size();
    (void)ReadStrings(*slice, tensor.name);
  }
  Require(at == input.size());
  const auto payload = EncodeSlice(slice->tensors, slice->metadata);
  // Whatever can be read can be written.
  Require(payload.ok());
  const auto again = DecodeSlice(*payload);
  Require(again.ok() && again->metadata == slice->metadata);
  Require(again->tensors.size() == slice->tensors.size());
  for (const TensorView& tensor : slice->tensors) {
    const TensorView* twin = again->Find(tensor.name);
    Require(twin != nullptr && twin->dtype == tensor.dtype && twin->shape == tensor.shape);
    Require(AsText(twin->data) == AsText(tensor.data));
  }
}

Bytes AsVector(ConstBytes bytes) { return {bytes.begin(), bytes.end()}; }
Bytes TextSeed(std::string_view json, size_t area = 0) {
  ByteWriter writer;
  writer.U64(json.size());
  writer.Raw(AsBytes(json));
  Bytes bytes = writer.Take();
  bytes.resize(bytes.size() + area);
  return bytes;
}

std::vector<Bytes> SafetensorsSeeds() {
  const SampleObject sample = MixedSample();
  std::vector<Bytes> seeds;
  for (const Tgb& tgb : sample.tgbs) {
    for (const auto& payload : tgb.slices()) seeds.push_back(AsVector(payload->bytes()));
  }
  seeds.push_back(TextSeed(R"({"__metadata__":{"a":"b"},)"
                           R"("x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                           R"("y":{"dtype":"F32","shape":[],"data_offsets":[2,6]}} )",
                           6));
  seeds.push_back(TextSeed("{\"a\":" + std::string(3000, '[')));
  seeds.push_back(TextSeed("{\"__metadata__\":" + std::string(3000, '{')));
  return seeds;
}

void OpenFrame(const Bytes& bytes) {
  const auto header = DecodeSliceFrameHeader(bytes);
  const SliceId id = header.ok() ? header->id : SliceId{3, 7, 0, 0, 0};
  const auto payload = OpenSliceFrame(Buffer::CopyOf(bytes), id);
  if (!payload.ok()) return;
  Require(header.ok() && payload->size() == header->raw_bytes);
  Require(header->FrameBytes() == bytes.size());
}

void RunSliceFrame(ConstBytes input) {
  Bytes bytes = AsVector(input);
  OpenFrame(bytes);
  RepairPayload(bytes, 0);
  RepairBlock(bytes, 0);
  OpenFrame(bytes);
}

std::vector<Bytes> SliceFrameSeeds() {
  std::vector<Bytes> seeds;
  for (const SampleObject& sample : {WorkedExample(), CompressedSample()}) {
    const Bytes object = ObjectBytes(sample);
    const auto content = ReadObject(object);
    const ByteRange range = content->footer.layout.FrameRange(sample.spec.mesh, 0, 0, 0);
    seeds.push_back(AsVector(ConstBytes(object).subspan(range.offset, range.size)));
  }
  return seeds;
}

// Two bytes of mesh, then a layout.
void RunLayout(ConstBytes input) {
  if (input.size() < 2) return;
  const Mesh mesh{input[0], input[1]};
  const ConstBytes bytes = input.subspan(2);
  ByteReader reader(bytes);
  const auto layout = ObjectLayout::Decode(reader, mesh);
  Require(layout.has_value() == reader.ok());
  if (!layout) return;
  ByteWriter writer;
  layout->Encode(writer);
  Require(writer.size() == layout->EncodedBytes());
  Require(AsText(writer.bytes()) == AsText(bytes.first(bytes.size() - reader.remaining())));
  const FrameTable table(*layout, mesh);
  const uint32_t last = layout->tgb_count - 1;
  for (const uint32_t dp : {0u, mesh.dp - 1}) {
    const ByteRange rank = layout->RankRange(mesh, dp, mesh.cp - 1);
    Require(rank == table.RankRange(dp, mesh.cp - 1));
    for (const uint32_t g : {0u, last / 2, last}) {
      const ByteRange frame = layout->FrameRange(mesh, g, dp, mesh.cp - 1);
      Require(frame == table.FrameRange(g, dp, mesh.cp - 1));
      Require(frame.size >= kFrameUnit && frame.offset >= rank.offset && frame.end() <= rank.end());
    }
  }
  const ByteRange end = layout->FrameRange(mesh, last, mesh.dp - 1, mesh.cp - 1);
  Require(end.end() == kObjectHeaderBytes + layout->FrameBytes());
}

std::vector<Bytes> LayoutSeeds() {
  std::vector<Bytes> seeds;
  const auto add = [&seeds](Mesh mesh, uint32_t tgbs, std::vector<uint64_t> sizes) {
    ByteWriter writer;
    writer.U8(static_cast<uint8_t>(mesh.dp));
    writer.U8(static_cast<uint8_t>(mesh.cp));
    ObjectLayout::FromFrameSizes(mesh, tgbs, sizes)->Encode(writer);
    seeds.push_back(writer.Take());
  };
  add({1, 1}, 1, {64});
  add({2, 2}, 2, {64, 128, 128, 192, 64, 64, 64, 1 << 20});
  add({4, 2}, 100, std::vector<uint64_t>(800, 65536));
  return seeds;
}

void RunStateRef(ConstBytes input) {
  ByteReader reader(input);
  const auto state = StateRef::Decode(reader);
  Require(state.has_value() == reader.ok());
  if (!state) return;
  ByteWriter writer;
  state->Encode(writer);
  Require(AsText(writer.bytes()) == AsText(input.first(input.size() - reader.remaining())));
  Require(state->StateBytes() <= kStateBytesMax);
}

std::vector<Bytes> StateRefSeeds() {
  std::vector<Bytes> seeds;
  for (const size_t size : {0, 10, 1024, 1025, 1 << 20}) {
    ByteWriter writer;
    StateRef::Of(std::string(size, 's'), 6400).Encode(writer);
    seeds.push_back(writer.Take());
  }
  return seeds;
}

void ReadWhole(const Bytes& object) {
  const auto content = ReadObject(object);
  if (!content.ok()) return;
  Require(content->payloads.size() ==
          uint64_t{content->header.mesh.slice_count()} * content->header.tgb_count);
}

void RunDataObject(ConstBytes input) {
  Bytes object = AsVector(input);
  ReadWhole(object);
  if (object.size() < kObjectHeaderBytes + kFooterTailBytes) return;
  const size_t tail = object.size() - kFooterTailBytes;
  const uint64_t body = U64At(object, tail + 8);
  const uint64_t body_bytes = U64At(object, tail + 16);
  if (body <= tail && body_bytes <= tail - body) {
    const uint64_t checksum = Checksum64(ConstBytes(object).subspan(body, body_bytes));
    std::memcpy(object.data() + tail + 24, &checksum, sizeof checksum);
  }
  RepairBlock(object, 0);
  RepairBlock(object, tail);
  ReadWhole(object);
}

std::vector<Bytes> DataObjectSeeds() {
  return {ObjectBytes(WorkedExample()), ObjectBytes(CompressedSample()),
          ObjectBytes(MixedSample())};
}

constexpr Target kTargets[] = {
    {"safetensors", RunSafetensors, SafetensorsSeeds},
    {"slice_frame", RunSliceFrame, SliceFrameSeeds},
    {"layout", RunLayout, LayoutSeeds, 100000},
    {"state_ref", RunStateRef, StateRefSeeds, 100000},
    {"data_object", RunDataObject, DataObjectSeeds, 20000},
};

}  // namespace

std::span<const Target> TgbTargets() { return kTargets; }

}  // namespace lakestream::fuzz

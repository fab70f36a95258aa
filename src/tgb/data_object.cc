#include "tgb/data_object.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/checksum.h"
#include "codec/zstd_codec.h"
#include "tgb/slice_frame.h"

namespace lakestream {
namespace {

constexpr std::string_view kHeaderMagic = "LSDATA01";
constexpr std::string_view kTailMagic = "LSDATAFT";
constexpr size_t kChecksummedBytes = 56;  // of the header and of the tail: all before the checksum
constexpr std::array<uint8_t, kFrameUnit> kZeros = {};

Status Damaged(std::string message) { return DataLossError(std::move(message), Reason::kChecksum); }

Status TooNew(std::string what) {
  return FailedPreconditionError(
      Str(what, " is newer than this reader understands; upgrade the reader"),
      Reason::kFormatTooNew);
}

Status CheckInput(const DataObjectSpec& spec, std::span<const Tgb> tgbs, std::string_view state) {
  LS_RETURN_IF_ERROR(CheckMesh(spec.mesh));
  if (tgbs.empty() || tgbs.size() > kTgbsPerObjectMax) {
    return InvalidArgumentError(
        Str("a data object holds 1 to ", kTgbsPerObjectMax, " TGBs, not ", tgbs.size()),
        Reason::kTooLarge);
  }
  if (spec.producer.size() > kProducerNameBytesMax) {
    return InvalidArgumentError(
        Str("the producer's name is longer than ", kProducerNameBytesMax, " bytes"),
        Reason::kTooLarge);
  }
  if (state.size() > kStateBytesMax) {
    return InvalidArgumentError(
        Str("the producer's state has ", state.size(), " bytes; the limit is ", kStateBytesMax,
            ": keep a position there, not data"),
        Reason::kTooLarge);
  }
  for (size_t g = 0; g < tgbs.size(); ++g) {
    if (tgbs[g].mesh() != spec.mesh) {
      return InvalidArgumentError(
          Str("TGB ", g, " has a mesh of dp ", tgbs[g].mesh().dp, " x cp ", tgbs[g].mesh().cp,
              ", the stream of dp ", spec.mesh.dp, " x cp ", spec.mesh.cp),
          Reason::kMeshMismatch);
    }
    if (Status status = tgbs[g].CheckComplete(); !status.ok()) {
      return status.WithContext(Str("TGB ", g));
    }
  }
  return OkStatus();
}

// The bytes to store for a payload: itself, or a compressed copy if that is smaller and a reader
// may expand it.
struct StoredPayload {
  SliceCodec codec = SliceCodec::kRaw;
  Buffer bytes;
};

Result<StoredPayload> ChooseStorage(const Buffer& payload, int zstd_level) {
  if (zstd_level <= 0) return StoredPayload{SliceCodec::kRaw, payload};
  LS_ASSIGN_OR_RETURN(std::vector<uint8_t> packed, ZstdCompress(payload.bytes(), zstd_level));
  const bool smaller = PaddedToUnit(kSliceHeaderBytes + packed.size()) <
                       PaddedToUnit(kSliceHeaderBytes + payload.size());
  const bool expandable = payload.size() <= packed.size() * kExpansionMax + kExpansionFree;
  if (!smaller || !expandable) return StoredPayload{SliceCodec::kRaw, payload};
  packed.shrink_to_fit();
  return StoredPayload{SliceCodec::kZstd, Buffer::FromVector(std::move(packed))};
}

// Collects an object's pieces, and its size so far.
class Assembler {
 public:
  void Add(const Buffer& bytes) {
    object_.storage.push_back(bytes);
    AddPiece(bytes.bytes());
  }
  void AddOwned(ConstBytes bytes) { Add(Buffer::CopyOf(bytes)); }
  void Pad() { AddPiece(ConstBytes(kZeros).first(PaddedToUnit(size_) - size_)); }
  uint64_t size() const { return size_; }
  EncodedDataObject Take(ObjectLayout layout, StateRef state) && {
    object_.layout = std::move(layout);
    object_.state = std::move(state);
    object_.object_bytes = size_;
    return std::move(object_);
  }

 private:
  void AddPiece(ConstBytes bytes) {
    if (bytes.empty()) return;
    object_.pieces.push_back(bytes);
    size_ += bytes.size();
  }
  EncodedDataObject object_;
  uint64_t size_ = 0;
};

std::vector<uint8_t> EncodeHeader(const ObjectHeader& header) {
  ByteWriter writer;
  writer.Raw(AsBytes(kHeaderMagic));
  writer.U32(kDataObjectFormat);
  writer.U32(0);
  writer.Raw(header.stream_uuid);
  writer.U64(header.session);
  writer.U32(header.object);
  writer.U32(header.mesh.dp);
  writer.U32(header.mesh.cp);
  writer.U32(header.tgb_count);
  writer.U64(Checksum64(writer.bytes()));
  return writer.Take();
}

Status AddFrames(const DataObjectSpec& spec, std::span<const Tgb> tgbs, Assembler& out,
                 std::vector<uint64_t>& frame_bytes) {
  const auto frame = [&](uint32_t g, uint32_t dp, uint32_t cp) -> Status {
    const Buffer& payload = *tgbs[g].slices()[spec.mesh.SliceIndex(dp, cp)];
    LS_ASSIGN_OR_RETURN(const StoredPayload stored, ChooseStorage(payload, spec.zstd_level));
    const SliceFrameHeader header = {.codec = stored.codec,
                                     .id = {spec.session, spec.object, g, dp, cp},
                                     .stored_bytes = stored.bytes.size(),
                                     .raw_bytes = payload.size(),
                                     .payload_checksum = Checksum64(stored.bytes.bytes())};
    out.AddOwned(EncodeSliceFrameHeader(header));
    out.Add(stored.bytes);
    out.Pad();
    frame_bytes.push_back(header.FrameBytes());
    return OkStatus();
  };
  for (uint32_t cp = 0; cp < spec.mesh.cp; ++cp) {
    for (uint32_t dp = 0; dp < spec.mesh.dp; ++dp) {
      for (uint32_t g = 0; g < tgbs.size(); ++g) LS_RETURN_IF_ERROR(frame(g, dp, cp));
    }
  }
  return OkStatus();
}

void AddFooter(const DataObjectFooter& footer, Assembler& out) {
  ByteWriter body;
  body.String(footer.producer);
  body.Varint(footer.first_sequence);
  footer.layout.Encode(body);
  footer.state.Encode(body);
  const uint64_t body_offset = out.size();
  out.AddOwned(body.bytes());
  out.Pad();

  ByteWriter tail;
  tail.Raw(AsBytes(kTailMagic));
  tail.U64(body_offset);
  tail.U64(body.size());
  tail.U64(Checksum64(body.bytes()));
  tail.U64(out.size() + kFooterTailBytes);
  tail.Raw(ConstBytes(kZeros).first(16));
  tail.U64(Checksum64(tail.bytes()));
  out.AddOwned(tail.bytes());
}

bool AllZero(ConstBytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

bool MatchesChecksum(ConstBytes block) {
  ByteReader reader(block.subspan(kChecksummedBytes));
  return reader.U64() == Checksum64(block.first(kChecksummedBytes));
}

}  // namespace

Result<EncodedDataObject> EncodeDataObject(const DataObjectSpec& spec, std::span<const Tgb> tgbs,
                                           std::string_view state) {
  LS_RETURN_IF_ERROR(CheckInput(spec, tgbs, state));
  const auto tgb_count = static_cast<uint32_t>(tgbs.size());
  Assembler out;
  out.AddOwned(EncodeHeader({spec.stream_uuid, spec.session, spec.object, spec.mesh, tgb_count}));
  std::vector<uint64_t> frame_bytes;
  LS_RETURN_IF_ERROR(AddFrames(spec, tgbs, out, frame_bytes));
  LS_ASSIGN_OR_RETURN(ObjectLayout layout,
                      ObjectLayout::FromFrameSizes(spec.mesh, tgb_count, frame_bytes));
  const StateRef state_ref = StateRef::Of(state, out.size());
  if (state_ref.kind == StateRef::Kind::kExtent) {
    out.AddOwned(AsBytes(state));
    out.Pad();
  }
  AddFooter({spec.producer, spec.first_sequence, layout, state_ref}, out);
  return std::move(out).Take(std::move(layout), state_ref);
}

Result<ObjectHeader> DecodeObjectHeader(ConstBytes bytes) {
  if (bytes.size() < kObjectHeaderBytes) {
    return Damaged(Str("data object is cut off after ", bytes.size(), " bytes"));
  }
  const ConstBytes block = bytes.first(kObjectHeaderBytes);
  ByteReader reader(block);
  if (AsText(reader.Raw(kHeaderMagic.size())) != kHeaderMagic) {
    return Damaged("this is not a data object");
  }
  if (!MatchesChecksum(block)) return Damaged("data object's header does not match its checksum");
  const uint32_t format = reader.U32();
  if (format > kDataObjectFormat) return TooNew(Str("data object format ", format));
  if (format < kDataObjectFormat) {
    return Damaged(Str("data object format ", format, " never existed"));
  }
  if (reader.U32() != 0) return TooNew("a feature of this data object");
  ObjectHeader header;
  const ConstBytes uuid = reader.Raw(header.stream_uuid.size());
  std::copy(uuid.begin(), uuid.end(), header.stream_uuid.begin());
  header.session = reader.U64();
  header.object = reader.U32();
  header.mesh.dp = reader.U32();
  header.mesh.cp = reader.U32();
  header.tgb_count = reader.U32();
  if (!CheckMesh(header.mesh).ok() || header.tgb_count < 1 ||
      header.tgb_count > kTgbsPerObjectMax) {
    return Damaged(Str("data object claims ", header.tgb_count, " TGBs of dp ", header.mesh.dp,
                       " x cp ", header.mesh.cp));
  }
  return header;
}

Result<FooterTail> DecodeFooterTail(ConstBytes last_bytes, uint64_t object_bytes) {
  if (last_bytes.size() < kFooterTailBytes || object_bytes < last_bytes.size()) {
    return Damaged(Str("data object of ", object_bytes, " bytes is too short for a footer"));
  }
  const ConstBytes block = last_bytes.last(kFooterTailBytes);
  ByteReader reader(block);
  if (AsText(reader.Raw(kTailMagic.size())) != kTailMagic) {
    return Damaged("data object does not end with a footer; it may be cut off");
  }
  if (!MatchesChecksum(block)) return Damaged("footer tail does not match its checksum");
  FooterTail tail;
  tail.body.offset = reader.U64();
  tail.body.size = reader.U64();
  tail.body_checksum = reader.U64();
  tail.object_bytes = reader.U64();
  if (!AllZero(reader.Raw(16))) return TooNew("a feature of this data object's footer");
  if (tail.object_bytes != object_bytes) {
    return Damaged(Str("data object is ", object_bytes, " bytes long, but was written with ",
                       tail.object_bytes));
  }
  const uint64_t body_end = object_bytes - kFooterTailBytes;
  if (tail.body.offset % kFrameUnit != 0 || tail.body.offset > body_end ||
      tail.body.size > body_end - tail.body.offset ||
      PaddedToUnit(tail.body.size) != body_end - tail.body.offset) {
    return Damaged(Str("footer claims to lie at byte ", tail.body.offset, " with ", tail.body.size,
                       " bytes in an object of ", object_bytes));
  }
  return tail;
}

Result<DataObjectFooter> DecodeFooterBody(ConstBytes body, const FooterTail& tail,
                                          const ObjectHeader& header) {
  if (body.size() != tail.body.size) {
    return Damaged(Str("footer has ", tail.body.size, " bytes, but ", body.size(), " were read"));
  }
  if (Checksum64(body) != tail.body_checksum) return Damaged("footer does not match its checksum");
  ByteReader reader(body);
  DataObjectFooter footer;
  footer.producer = reader.String(kProducerNameBytesMax);
  footer.first_sequence = reader.Varint();
  std::optional<ObjectLayout> layout = ObjectLayout::Decode(reader, header.mesh);
  std::optional<StateRef> state = StateRef::Decode(reader);
  if (!layout || !state || !reader.AtEnd()) return Damaged("footer is not well formed");
  if (layout->tgb_count != header.tgb_count) {
    return Damaged(Str("footer lists ", layout->tgb_count, " TGBs, the header ", header.tgb_count));
  }
  uint64_t end = kObjectHeaderBytes + layout->FrameBytes();
  if (state->kind == StateRef::Kind::kExtent) {
    if (state->offset != end) return Damaged("state block is not right behind the slice frames");
    end += PaddedToUnit(state->size);
  }
  if (tail.body.offset != end) {
    return Damaged(
        Str("footer lies at byte ", tail.body.offset, ", but the parts before it end at ", end));
  }
  footer.layout = *std::move(layout);
  footer.state = *std::move(state);
  return footer;
}

Result<DataObjectFooter> DecodeFooter(ConstBytes object, const ObjectHeader& header) {
  LS_ASSIGN_OR_RETURN(const FooterTail tail, DecodeFooterTail(object, object.size()));
  return DecodeFooterBody(object.subspan(tail.body.offset, tail.body.size), tail, header);
}

}  // namespace lakestream

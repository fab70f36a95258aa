#include "tgb/slice_frame.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/checksum.h"
#include "codec/zstd_codec.h"
#include "tgb/aligned_block.h"
#include "tgb/object_layout.h"

namespace lakestream {
namespace {

constexpr std::string_view kMagic = "LSSL";
constexpr size_t kChecksummedBytes = kSliceHeaderBytes - sizeof(uint64_t);

Status Damaged(std::string message) { return DataLossError(std::move(message), Reason::kChecksum); }

Status TooNew(std::string what) {
  return FailedPreconditionError(
      Str(what, " is newer than this reader understands; upgrade the reader"),
      Reason::kFormatTooNew);
}

// What a frame header says about sizes must hold together before anything is allocated for it.
Status CheckSizes(const SliceFrameHeader& header) {
  if (header.stored_bytes >= kFrameBytesLimit) {
    return Damaged(Str("slice header claims ", header.stored_bytes, " stored bytes"));
  }
  if (header.codec == SliceCodec::kRaw) {
    if (header.raw_bytes == header.stored_bytes) return OkStatus();
    return Damaged(Str("slice header claims ", header.raw_bytes, " raw bytes in ",
                       header.stored_bytes, " uncompressed ones"));
  }
  if (header.raw_bytes <= header.stored_bytes * kExpansionMax + kExpansionFree) return OkStatus();
  return Damaged(Str("slice header claims that ", header.stored_bytes, " bytes expand to ",
                     header.raw_bytes, ", over the limit"));
}

Result<Buffer> Decompress(ConstBytes stored, size_t raw_bytes, BufferAllocator* allocator) {
  const BufferAllocator::Block block =
      allocator != nullptr ? allocator->Allocate(raw_bytes) : AllocateAligned(raw_bytes);
  if (block.data == nullptr) {
    return ResourceExhaustedError(Str("no memory for a slice of ", raw_bytes, " bytes"));
  }
  const MutableBytes raw(block.data, raw_bytes);
  if (Status status = ZstdDecompress(stored, raw); !status.ok()) return Damaged(status.message());
  return Buffer(block.owner, raw);
}

}  // namespace

std::string Describe(const SliceId& id) {
  return Str("slice (dp ", id.dp, ", cp ", id.cp, ") of TGB ", id.tgb_ordinal, " in object ",
             id.object, " of session ", id.session);
}

uint64_t SliceFrameHeader::FrameBytes() const {
  return PaddedToUnit(kSliceHeaderBytes + stored_bytes);
}

std::array<uint8_t, kSliceHeaderBytes> EncodeSliceFrameHeader(const SliceFrameHeader& header) {
  ByteWriter writer;
  writer.Raw(AsBytes(kMagic));
  writer.U16(kSliceFormat);
  writer.U16(static_cast<uint16_t>(header.codec));
  writer.U64(header.id.session);
  writer.U32(header.id.object);
  writer.U32(header.id.tgb_ordinal);
  writer.U32(header.id.dp);
  writer.U32(header.id.cp);
  writer.U64(header.stored_bytes);
  writer.U64(header.raw_bytes);
  writer.U64(header.payload_checksum);
  writer.U64(Checksum64(writer.bytes()));
  std::array<uint8_t, kSliceHeaderBytes> bytes;
  std::copy(writer.bytes().begin(), writer.bytes().end(), bytes.begin());
  return bytes;
}

Result<SliceFrameHeader> DecodeSliceFrameHeader(ConstBytes frame) {
  if (frame.size() < kSliceHeaderBytes) {
    return Damaged(Str("slice frame is cut off after ", frame.size(), " bytes"));
  }
  ByteReader reader(frame.first(kSliceHeaderBytes));
  if (AsText(reader.Raw(kMagic.size())) != kMagic) return Damaged("there is no slice frame here");
  const uint16_t format = reader.U16();
  const uint16_t codec = reader.U16();
  SliceFrameHeader header;
  header.id.session = reader.U64();
  header.id.object = reader.U32();
  header.id.tgb_ordinal = reader.U32();
  header.id.dp = reader.U32();
  header.id.cp = reader.U32();
  header.stored_bytes = reader.U64();
  header.raw_bytes = reader.U64();
  header.payload_checksum = reader.U64();
  // The checksum first: only an intact header may claim to be of a newer format.
  if (reader.U64() != Checksum64(frame.first(kChecksummedBytes))) {
    return Damaged("slice header does not match its checksum");
  }
  if (format > kSliceFormat) return TooNew(Str("slice format ", format));
  if (format < kSliceFormat) return Damaged(Str("slice format ", format, " never existed"));
  if (codec > static_cast<uint16_t>(SliceCodec::kZstd)) {
    return TooNew(Str("slice compression ", codec));
  }
  header.codec = static_cast<SliceCodec>(codec);
  LS_RETURN_IF_ERROR(CheckSizes(header));
  return header;
}

Result<Buffer> OpenSliceFrame(const Buffer& frame, const SliceId& expected,
                              BufferAllocator* allocator) {
  const auto context = [&expected](const Status& status) {
    return status.WithContext(Describe(expected));
  };
  Result<SliceFrameHeader> header = DecodeSliceFrameHeader(frame.bytes());
  if (!header.ok()) return context(header.status());
  if (header->id != expected) return context(Damaged(Str("found ", Describe(header->id))));
  if (header->FrameBytes() != frame.size()) {
    return context(Damaged(
        Str("its frame takes ", header->FrameBytes(), " bytes, but ", frame.size(), " were read")));
  }
  const Buffer stored = frame.Slice(kSliceHeaderBytes, header->stored_bytes);
  if (Checksum64(stored.bytes()) != header->payload_checksum) {
    return context(Damaged("its payload does not match its checksum"));
  }
  if (header->codec == SliceCodec::kRaw) return stored;
  Result<Buffer> raw = Decompress(stored.bytes(), header->raw_bytes, allocator);
  if (!raw.ok()) return context(raw.status());
  return raw;
}

}  // namespace lakestream

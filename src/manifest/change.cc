#include "manifest/change.h"

#include <optional>
#include <utility>

#include "base/text.h"

namespace lakestream {
namespace {

bool ReadBool(ByteReader& reader) {
  const uint8_t value = reader.U8();
  if (value > 1) reader.Fail();
  return value == 1;
}

uint32_t ReadCount(ByteReader& reader, uint32_t max) {
  const uint64_t value = reader.Varint();
  if (value > max) reader.Fail();
  return static_cast<uint32_t>(value);
}

std::string ReadName(ByteReader& reader) { return std::string(reader.String(kNameBytesMax)); }

void Encode(const OpenChange& open, ByteWriter& body) {
  body.String(open.producer);
  body.Varint(open.expected_session);
}
void Decode(ByteReader& body, const Mesh&, OpenChange& open) {
  open.producer = ReadName(body);
  open.expected_session = body.Varint();
}

void Encode(const PublishChange& publish, ByteWriter& body) { publish.entry.Encode(body); }
void Decode(ByteReader& body, const Mesh& mesh, PublishChange& publish) {
  publish.entry = Entry::Decode(body, mesh);
}

void Encode(const FinishChange& finish, ByteWriter& body) { body.Varint(finish.session); }
void Decode(ByteReader& body, const Mesh&, FinishChange& finish) { finish.session = body.Varint(); }

void Encode(const SealChange&, ByteWriter&) {}
void Decode(ByteReader&, const Mesh&, SealChange&) {}

void Encode(const BeginCheckpointChange& begin, ByteWriter& body) {
  body.String(begin.name);
  body.String(begin.attempt);
  body.Varint(begin.step);
  body.Varint(begin.parts);
  body.U8(begin.pinned ? 1 : 0);
  body.String(begin.note);
  body.U64(static_cast<uint64_t>(begin.time_ms));
}
void Decode(ByteReader& body, const Mesh&, BeginCheckpointChange& begin) {
  begin.name = ReadName(body);
  begin.attempt = ReadName(body);
  begin.step = body.Varint();
  begin.parts = ReadCount(body, kPartsMax);
  begin.pinned = ReadBool(body);
  begin.note = std::string(body.String(kNoteBytesMax));
  begin.time_ms = static_cast<int64_t>(body.U64());
}

void Encode(const TrimChange& trim, ByteWriter& body) { body.Varint(trim.step); }
void Decode(ByteReader& body, const Mesh&, TrimChange& trim) { trim.step = body.Varint(); }

void Encode(const ForkChange& fork, ByteWriter& body) {
  body.String(fork.branch);
  body.Varint(fork.step);
}
void Decode(ByteReader& body, const Mesh&, ForkChange& fork) {
  fork.branch = ReadName(body);
  fork.step = body.Varint();
}

void Encode(const FenceChange& fence, ByteWriter& body) {
  body.String(fence.producer);
  body.Varint(fence.expected_session);
}
void Decode(ByteReader& body, const Mesh&, FenceChange& fence) {
  fence.producer = ReadName(body);
  fence.expected_session = body.Varint();
}

void Encode(const AttachChange& attach, ByteWriter& body) {
  body.String(attach.job);
  body.String(attach.run);
  body.Varint(attach.ranks);
  body.Varint(attach.start);
  body.U64(static_cast<uint64_t>(attach.time_ms));
}
void Decode(ByteReader& body, const Mesh&, AttachChange& attach) {
  attach.job = ReadName(body);
  attach.run = ReadName(body);
  attach.ranks = ReadCount(body, kPartsMax);
  attach.start = body.Varint();
  attach.time_ms = static_cast<int64_t>(body.U64());
}

void Encode(const DetachChange& detach, ByteWriter& body) {
  body.String(detach.job);
  body.String(detach.run);
}
void Decode(ByteReader& body, const Mesh&, DetachChange& detach) {
  detach.job = ReadName(body);
  detach.run = ReadName(body);
}

void Encode(const CompleteCheckpointChange& complete, ByteWriter& body) {
  body.String(complete.name);
  body.Varint(complete.begun);
}
void Decode(ByteReader& body, const Mesh&, CompleteCheckpointChange& complete) {
  complete.name = ReadName(body);
  complete.begun = body.Varint();
}

void Encode(const DropCheckpointChange& drop, ByteWriter& body) {
  body.String(drop.name);
  body.Varint(drop.begun);
}
void Decode(ByteReader& body, const Mesh&, DropCheckpointChange& drop) {
  drop.name = ReadName(body);
  drop.begun = body.Varint();
}

void Encode(const PinCheckpointChange& pin, ByteWriter& body) {
  body.String(pin.name);
  body.Varint(pin.begun);
  body.U8(pin.pinned ? 1 : 0);
}
void Decode(ByteReader& body, const Mesh&, PinCheckpointChange& pin) {
  pin.name = ReadName(body);
  pin.begun = body.Varint();
  pin.pinned = ReadBool(body);
}

void Encode(const CloseChange&, ByteWriter&) {}
void Decode(ByteReader&, const Mesh&, CloseChange&) {}

void Encode(const ForgetBranchChange& forget, ByteWriter& body) { body.String(forget.branch); }
void Decode(ByteReader& body, const Mesh&, ForgetBranchChange& forget) {
  forget.branch = ReadName(body);
}

// The alternative of Change whose kind is `kind`, decoded; nullopt if there is none.
template <size_t I = 0>
std::optional<Change> DecodeKind(uint8_t kind, ByteReader& body, const Mesh& mesh) {
  if constexpr (I == std::variant_size_v<Change>) {
    return std::nullopt;
  } else {
    using Kind = std::variant_alternative_t<I, Change>;
    if (kind != Kind::kKind) return DecodeKind<I + 1>(kind, body, mesh);
    Kind change;
    Decode(body, mesh, change);
    return change;
  }
}

}  // namespace

void Entry::Encode(ByteWriter& writer) const {
  writer.Varint(session);
  writer.Varint(object);
  writer.Varint(first_sequence);
  layout.Encode(writer);
  writer.Varint(object_bytes);
  state.Encode(writer);
}

Entry Entry::Decode(ByteReader& reader, const Mesh& mesh) {
  Entry entry;
  entry.session = reader.Varint();
  const uint64_t object = reader.Varint();
  if (entry.session == 0 || object > UINT32_MAX) reader.Fail();
  entry.object = static_cast<uint32_t>(object);
  entry.first_sequence = reader.Varint();
  if (auto layout = ObjectLayout::Decode(reader, mesh)) entry.layout = *std::move(layout);
  entry.object_bytes = reader.Varint();
  if (auto state = StateRef::Decode(reader)) entry.state = *std::move(state);
  if (entry.first_sequence > UINT64_MAX - entry.tgb_count()) reader.Fail();
  return entry;
}

void EncodeChange(const Change& change, ByteWriter& writer) {
  ByteWriter body;
  std::visit([&](const auto& kind) { Encode(kind, body); }, change);
  writer.U8(std::visit([](const auto& kind) { return kind.kKind; }, change));
  writer.Varint(body.size());
  writer.Raw(body.bytes());
}

Result<Change> DecodeChange(ByteReader& reader, const Mesh& mesh) {
  const uint8_t kind = reader.U8();
  ByteReader body(reader.Raw(reader.Varint()));
  if (!reader.ok()) return DataLossError("a change is cut short");
  std::optional<Change> change = DecodeKind(kind, body, mesh);
  if (!change) {
    return FailedPreconditionError(
        Str("holds a change of kind ", kind, ", which this Lakestream does not know; upgrade it"),
        Reason::kFormatTooNew);
  }
  if (!body.AtEnd()) return DataLossError(Str("a change of kind ", kind, " is not well formed"));
  return *std::move(change);
}

size_t EncodedBytes(const Change& change) {
  ByteWriter writer;
  EncodeChange(change, writer);
  return writer.size();
}

}  // namespace lakestream

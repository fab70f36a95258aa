#include "manifest/record.h"

#include "base/text.h"
#include "manifest/frame.h"

namespace lakestream {
namespace {

// Kinds of changes as they are stored. Never change or reuse a number. Reserved for the lifecycle:
// 5 checkpoint, 6 trim, 7 branch, 8 fence, 9 attach, 10 detach, 11 retire, 12 pacing.
enum ChangeKind : uint8_t { kOpen = 1, kPublish = 2, kFinish = 3, kSeal = 4 };

constexpr size_t kProducerNameMax = 64;

template <size_t N>
std::array<uint8_t, N> ReadArray(ByteReader& reader) {
  std::array<uint8_t, N> out{};
  const ConstBytes raw = reader.Raw(N);
  if (reader.ok()) std::copy(raw.begin(), raw.end(), out.begin());
  return out;
}

struct ChangeEncoder {
  ByteWriter& body;
  uint8_t operator()(const OpenChange& open) const {
    body.String(open.producer);
    body.Varint(open.expected_session);
    return kOpen;
  }
  uint8_t operator()(const PublishChange& publish) const {
    publish.entry.Encode(body);
    return kPublish;
  }
  uint8_t operator()(const FinishChange& finish) const {
    body.Varint(finish.session);
    return kFinish;
  }
  uint8_t operator()(const SealChange&) const { return kSeal; }
};

void EncodeChange(const Change& change, ByteWriter& writer) {
  ByteWriter body;
  const uint8_t kind = std::visit(ChangeEncoder{body}, change);
  writer.U8(kind);
  writer.Varint(body.size());
  writer.Raw(body.bytes());
}

Change DecodeChangeBody(uint8_t kind, ByteReader& body, const Mesh& mesh) {
  switch (kind) {
    case kOpen: {
      OpenChange open;
      open.producer = body.String(kProducerNameMax);
      open.expected_session = body.Varint();
      return open;
    }
    case kPublish:
      return PublishChange{Entry::Decode(body, mesh)};
    case kFinish:
      return FinishChange{body.Varint()};
    default:
      return SealChange{};
  }
}

Result<Change> DecodeChange(ByteReader& reader, const Mesh& mesh) {
  const uint8_t kind = reader.U8();
  ByteReader body(reader.Raw(reader.Varint()));
  if (!reader.ok()) return DataLossError("a change is cut short");
  if (kind < kOpen || kind > kSeal) {
    return FailedPreconditionError(
        Str("holds a change of kind ", kind, ", which this Lakestream does not know; upgrade it"),
        Reason::kFormatTooNew);
  }
  Change change = DecodeChangeBody(kind, body, mesh);
  if (!body.AtEnd()) return DataLossError(Str("a change of kind ", kind, " is not well formed"));
  return change;
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

std::vector<uint8_t> EncodeRecord(const Record& record) {
  ByteWriter body;
  body.Raw(record.stream);
  body.U64(record.version);
  body.Raw(record.previous);
  body.Raw(record.commit_id);
  body.U64(static_cast<uint64_t>(record.time_ms));
  body.U64(record.first_step);
  body.U64(record.next_step);
  body.Varint(record.changes.size());
  for (const Change& change : record.changes) EncodeChange(change, body);
  return SealFrame(kRecordMagic, body.bytes());
}

Result<Record> DecodeRecord(ConstBytes bytes, const Mesh& mesh) {
  if (bytes.size() > kRecordBytesMax) {
    return DataLossError(Str("is ", bytes.size(), " bytes, more than a record can have"));
  }
  LS_ASSIGN_OR_RETURN(const ConstBytes body, OpenFrame(kRecordMagic, bytes));
  ByteReader reader(body);
  Record record;
  record.stream = ReadArray<16>(reader);
  record.version = reader.U64();
  record.previous = ReadArray<16>(reader);
  record.commit_id = ReadArray<16>(reader);
  record.time_ms = static_cast<int64_t>(reader.U64());
  record.first_step = reader.U64();
  record.next_step = reader.U64();
  const uint64_t count = reader.Count(2);
  for (uint64_t i = 0; i < count; ++i) {
    LS_ASSIGN_OR_RETURN(Change change, DecodeChange(reader, mesh));
    record.changes.push_back(std::move(change));
  }
  if (!reader.AtEnd() || record.changes.empty())
    return DataLossError("is not a well-formed record");
  return record;
}

size_t EncodedBytes(const Change& change) {
  ByteWriter writer;
  EncodeChange(change, writer);
  return writer.size();
}

}  // namespace lakestream

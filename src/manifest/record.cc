#include "manifest/record.h"

#include "base/text.h"
#include "manifest/frame.h"

namespace lakestream {
namespace {

template <size_t N>
std::array<uint8_t, N> ReadArray(ByteReader& reader) {
  std::array<uint8_t, N> out{};
  const ConstBytes raw = reader.Raw(N);
  if (reader.ok()) std::copy(raw.begin(), raw.end(), out.begin());
  return out;
}

}  // namespace

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

}  // namespace lakestream

// The encodings of the state and of what is derived from it.
#include <algorithm>

#include "base/text.h"
#include "manifest/frame.h"
#include "manifest/state.h"
#include "manifest/stream_json.h"

namespace lakestream {
namespace {

void EncodePlaced(const std::vector<PlacedEntry>& entries, ByteWriter& writer) {
  writer.Varint(entries.size());
  for (const PlacedEntry& placed : entries) {
    writer.Varint(placed.first_step);
    placed.entry.Encode(writer);
  }
}

std::vector<PlacedEntry> DecodePlaced(ByteReader& reader, const Mesh& mesh) {
  std::vector<PlacedEntry> entries;
  const uint64_t count = reader.Count(8);
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    PlacedEntry placed;
    placed.first_step = reader.Varint();
    placed.entry = Entry::Decode(reader, mesh);
    if (placed.first_step > UINT64_MAX - placed.entry.tgb_count()) reader.Fail();
    entries.push_back(std::move(placed));
  }
  return entries;
}

void EncodeRow(const ProducerRow& row, ByteWriter& writer) {
  writer.Varint(row.session);
  writer.Varint(row.next_sequence);
  writer.U8(row.finished ? 1 : 0);
  writer.Varint(row.tgbs);
  writer.Varint(row.next_object);
  row.state.Encode(writer);
  writer.Varint(row.state_session);
  writer.Varint(row.state_object);
}

void DecodeRow(ByteReader& reader, ProducerRow& row) {
  row.session = reader.Varint();
  row.next_sequence = reader.Varint();
  const uint8_t finished = reader.U8();
  row.finished = finished == 1;
  row.tgbs = reader.Varint();
  const uint64_t next_object = reader.Varint();
  row.next_object = static_cast<uint32_t>(next_object);
  if (auto state = StateRef::Decode(reader)) row.state = *std::move(state);
  row.state_session = reader.Varint();
  const uint64_t object = reader.Varint();
  row.state_object = static_cast<uint32_t>(object);
  if (finished > 1 || object > UINT32_MAX || next_object > UINT32_MAX) reader.Fail();
}

void EncodeRow(const CheckpointRow& row, ByteWriter& writer) {
  writer.Varint(row.begun);
  writer.String(row.attempt);
  writer.Varint(row.step);
  writer.Varint(row.parts);
  writer.U8(static_cast<uint8_t>((row.live ? 1 : 0) | (row.pinned ? 2 : 0)));
  writer.String(row.note);
  writer.U64(static_cast<uint64_t>(row.time_ms));
}

void DecodeRow(ByteReader& reader, CheckpointRow& row) {
  row.begun = reader.Varint();
  row.attempt = std::string(reader.String(kNameBytesMax));
  row.step = reader.Varint();
  const uint64_t parts = reader.Varint();
  row.parts = static_cast<uint32_t>(parts);
  const uint8_t flags = reader.U8();
  row.live = (flags & 1) != 0;
  row.pinned = (flags & 2) != 0;
  row.note = std::string(reader.String(kNoteBytesMax));
  row.time_ms = static_cast<int64_t>(reader.U64());
  if (parts > kPartsMax || flags > 3) reader.Fail();
}

void EncodeRow(const RunRow& row, ByteWriter& writer) {
  writer.String(row.run);
  writer.Varint(row.ranks);
  writer.Varint(row.start);
  writer.U64(static_cast<uint64_t>(row.attached_ms));
}

void DecodeRow(ByteReader& reader, RunRow& row) {
  row.run = std::string(reader.String(kNameBytesMax));
  const uint64_t ranks = reader.Varint();
  row.ranks = static_cast<uint32_t>(ranks);
  row.start = reader.Varint();
  row.attached_ms = static_cast<int64_t>(reader.U64());
  if (ranks > kPartsMax) reader.Fail();
}

void EncodeRow(const BranchRow& row, ByteWriter& writer) {
  writer.Varint(row.step);
  writer.Varint(row.forked);
  writer.Varint(row.trim_step);
  writer.Raw(row.root);
}

void ReadHash(ByteReader& reader, Hash128& hash) {
  const ConstBytes raw = reader.Raw(hash.size());
  if (reader.ok()) std::copy(raw.begin(), raw.end(), hash.begin());
}

void DecodeRow(ByteReader& reader, BranchRow& row) {
  row.step = reader.Varint();
  row.forked = reader.Varint();
  row.trim_step = reader.Varint();
  ReadHash(reader, row.root);
}

// Tables of rows by name, in the order of their names: canonical, no empty and no double name.
template <typename Row>
void EncodeTable(const std::map<std::string, Row>& rows, ByteWriter& writer) {
  writer.Varint(rows.size());
  for (const auto& [name, row] : rows) {
    writer.String(name);
    EncodeRow(row, writer);
  }
}

template <typename Row>
std::map<std::string, Row> DecodeTable(ByteReader& reader) {
  std::map<std::string, Row> rows;
  const uint64_t count = reader.Count(4);
  std::string previous;
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    std::string name(reader.String(kNameBytesMax));
    if (name <= previous) reader.Fail();
    previous = name;
    DecodeRow(reader, rows[std::move(name)]);
  }
  return rows;
}

bool StartsWithStream(ByteReader& reader, const StreamInfo& info) {
  const Uuid uuid = UuidBytes(info);
  const ConstBytes found = reader.Raw(uuid.size());
  return std::equal(found.begin(), found.end(), uuid.begin(), uuid.end());
}

Status WrongStream(const StreamInfo& info) {
  return FailedPreconditionError(
      Str("belongs to another stream than ", info.uuid, "; objects of two streams were mixed"),
      Reason::kStreamMismatch);
}

}  // namespace

std::vector<uint8_t> EncodeSnapshot(const StreamInfo& info, const State& state) {
  ByteWriter body;
  body.Raw(UuidBytes(info));
  body.U64(state.version);
  body.Raw(state.hash);
  body.Varint(state.next_step);
  body.U8(state.sealed ? 1 : 0);
  body.Varint(state.sessions_opened);
  body.Varint(state.slice_bytes);
  body.Varint(state.data_objects);
  body.U64(static_cast<uint64_t>(state.last_commit_ms));
  body.Varint(state.trim_step);
  body.U8(state.closed ? 1 : 0);
  EncodeTable(state.rows, body);
  EncodeTable(state.checkpoints, body);
  EncodeTable(state.runs, body);
  EncodeTable(state.branches, body);
  EncodePlaced(state.tail, body);
  return SealFrame(kSnapshotMagic, body.bytes());
}

Result<State> DecodeSnapshot(const StreamInfo& info, ConstBytes bytes) {
  LS_ASSIGN_OR_RETURN(const ConstBytes body, OpenFrame(kSnapshotMagic, bytes));
  ByteReader reader(body);
  if (!StartsWithStream(reader, info)) return WrongStream(info);
  State state;
  state.version = reader.U64();
  ReadHash(reader, state.hash);
  state.next_step = reader.Varint();
  const uint8_t sealed = reader.U8();
  state.sealed = sealed == 1;
  if (sealed > 1) reader.Fail();
  state.sessions_opened = reader.Varint();
  state.slice_bytes = reader.Varint();
  state.data_objects = reader.Varint();
  state.last_commit_ms = static_cast<int64_t>(reader.U64());
  state.trim_step = reader.Varint();
  const uint8_t closed = reader.U8();
  state.closed = closed == 1;
  if (closed > 1) reader.Fail();
  state.rows = DecodeTable<ProducerRow>(reader);
  for (const auto& [name, row] : state.rows) state.producer_of_session[row.session] = name;
  state.checkpoints = DecodeTable<CheckpointRow>(reader);
  state.runs = DecodeTable<RunRow>(reader);
  state.branches = DecodeTable<BranchRow>(reader);
  state.tail = DecodePlaced(reader, info.spec.mesh);
  if (!reader.AtEnd()) return DataLossError("is not a well-formed snapshot");
  LS_RETURN_IF_ERROR(CheckState(info, state));
  return state;
}

std::vector<uint8_t> EncodeIndexPage(const StreamInfo& info, const IndexPage& page) {
  ByteWriter body;
  body.Raw(UuidBytes(info));
  body.U64(page.page);
  EncodePlaced(page.entries, body);
  return SealFrame(kIndexMagic, body.bytes());
}

Result<IndexPage> DecodeIndexPage(const StreamInfo& info, uint64_t page, ConstBytes bytes) {
  LS_ASSIGN_OR_RETURN(const ConstBytes body, OpenFrame(kIndexMagic, bytes));
  ByteReader reader(body);
  if (!StartsWithStream(reader, info)) return WrongStream(info);
  IndexPage index;
  index.page = reader.U64();
  index.entries = DecodePlaced(reader, info.spec.mesh);
  const uint64_t steps = info.spec.index_page_steps;
  if (!reader.AtEnd() || index.page != page || page > UINT64_MAX / steps - 1 ||
      !CoverDensely(index.entries, std::max(page * steps, info.branch.fork_step),
                    (page + 1) * steps)) {
    return DataLossError(Str("is not a well-formed index page ", page));
  }
  return index;
}

std::vector<uint8_t> EncodeHeadHint(Version version) {
  ByteWriter body;
  body.U64(version);
  return SealFrame(kHeadMagic, body.bytes());
}

Result<Version> DecodeHeadHint(ConstBytes bytes) {
  LS_ASSIGN_OR_RETURN(const ConstBytes body, OpenFrame(kHeadMagic, bytes));
  ByteReader reader(body);
  const Version version = reader.U64();
  if (!reader.AtEnd()) return DataLossError("is not a well-formed hint");
  return version;
}

std::vector<uint8_t> EncodeBranch(const StreamInfo& info, const BranchInfo& branch) {
  ByteWriter body;
  body.Raw(UuidBytes(info));
  body.String(branch.name);
  body.String(branch.parent);
  body.Varint(branch.fork_step);
  body.Varint(branch.fork_version);
  body.Varint(branch.trim_step);
  body.Raw(branch.root);
  return SealFrame(kBranchMagic, body.bytes());
}

Result<BranchInfo> DecodeBranch(const StreamInfo& info, const std::string& name, ConstBytes bytes) {
  LS_ASSIGN_OR_RETURN(const ConstBytes body, OpenFrame(kBranchMagic, bytes));
  ByteReader reader(body);
  if (!StartsWithStream(reader, info)) return WrongStream(info);
  BranchInfo branch;
  branch.name = std::string(reader.String(kNameBytesMax));
  branch.parent = std::string(reader.String(kNameBytesMax));
  branch.fork_step = reader.Varint();
  branch.fork_version = reader.Varint();
  branch.trim_step = reader.Varint();
  ReadHash(reader, branch.root);
  if (!reader.AtEnd() || branch.name != name || !ValidateName("branch", branch.parent).ok() ||
      branch.trim_step > branch.fork_step) {
    return DataLossError(Str("is not a well-formed description of branch ", name));
  }
  return branch;
}

std::vector<uint8_t> EncodeBoundary(const StreamInfo& info, const Boundary& boundary) {
  ByteWriter body;
  body.Raw(UuidBytes(info));
  body.Varint(boundary.decided_at);
  body.Varint(boundary.snapshot);
  body.Varint(boundary.first_step);
  body.Varint(boundary.settled_step);
  body.U8(boundary.closed ? 1 : 0);
  return SealFrame(kBoundaryMagic, body.bytes());
}

Result<Boundary> DecodeBoundary(const StreamInfo& info, ConstBytes bytes) {
  LS_ASSIGN_OR_RETURN(const ConstBytes body, OpenFrame(kBoundaryMagic, bytes));
  ByteReader reader(body);
  if (!StartsWithStream(reader, info)) return WrongStream(info);
  Boundary boundary;
  boundary.decided_at = reader.Varint();
  boundary.snapshot = reader.Varint();
  boundary.first_step = reader.Varint();
  boundary.settled_step = reader.Varint();
  const uint8_t closed = reader.U8();
  boundary.closed = closed == 1;
  if (!reader.AtEnd() || closed > 1 || boundary.snapshot > boundary.decided_at ||
      boundary.settled_step > boundary.first_step) {
    return DataLossError("is not a well-formed boundary");
  }
  return boundary;
}

}  // namespace lakestream

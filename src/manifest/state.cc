#include "manifest/state.h"

#include <algorithm>

#include "base/text.h"
#include "manifest/frame.h"
#include "manifest/stream_json.h"

namespace lakestream {
namespace {

constexpr size_t kProducerNameMax = 64;

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
  row.state.Encode(writer);
  writer.Varint(row.state_session);
  writer.Varint(row.state_object);
}

ProducerRow DecodeRow(ByteReader& reader) {
  ProducerRow row;
  row.session = reader.Varint();
  row.next_sequence = reader.Varint();
  const uint8_t finished = reader.U8();
  row.finished = finished == 1;
  row.tgbs = reader.Varint();
  if (auto state = StateRef::Decode(reader)) row.state = *std::move(state);
  row.state_session = reader.Varint();
  const uint64_t object = reader.Varint();
  row.state_object = static_cast<uint32_t>(object);
  if (finished > 1 || object > UINT32_MAX) reader.Fail();
  return row;
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

// Entries follow each other without a gap and cover [from, to).
bool CoverDensely(const std::vector<PlacedEntry>& entries, Step from, Step to) {
  if (entries.empty()) return from == to;
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].first_step != entries[i - 1].end_step()) return false;
  }
  return entries.front().first_step <= from && entries.front().end_step() > from &&
         entries.back().end_step() >= to && entries.back().first_step < to;
}

}  // namespace

ProducerRow* State::FindSession(SessionId session) {
  const auto owner = producer_of_session.find(session);
  return owner == producer_of_session.end() ? nullptr : &rows[owner->second];
}

State EmptyState(const StreamInfo& info) {
  State state;
  state.hash = RootHash(UuidBytes(info));
  return state;
}

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
  body.Varint(state.rows.size());
  for (const auto& [name, row] : state.rows) {
    body.String(name);
    EncodeRow(row, body);
  }
  EncodePlaced(state.tail, body);
  return SealFrame(kSnapshotMagic, body.bytes());
}

Result<State> DecodeSnapshot(const StreamInfo& info, ConstBytes bytes) {
  LS_ASSIGN_OR_RETURN(const ConstBytes body, OpenFrame(kSnapshotMagic, bytes));
  ByteReader reader(body);
  if (!StartsWithStream(reader, info)) return WrongStream(info);
  State state;
  state.version = reader.U64();
  const ConstBytes hash = reader.Raw(state.hash.size());
  std::copy(hash.begin(), hash.end(), state.hash.begin());
  state.next_step = reader.Varint();
  const uint8_t sealed = reader.U8();
  state.sealed = sealed == 1;
  if (sealed > 1) reader.Fail();
  state.sessions_opened = reader.Varint();
  state.slice_bytes = reader.Varint();
  state.data_objects = reader.Varint();
  state.last_commit_ms = static_cast<int64_t>(reader.U64());
  const uint64_t rows = reader.Count(8);
  std::string previous;
  for (uint64_t i = 0; i < rows && reader.ok(); ++i) {
    std::string name(reader.String(kProducerNameMax));
    if (name <= previous) reader.Fail();  // canonical order, no empty and no double name
    const ProducerRow row = DecodeRow(reader);
    state.producer_of_session[row.session] = name;
    previous = name;
    state.rows[std::move(name)] = row;
  }
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
      !CoverDensely(index.entries, page * steps, (page + 1) * steps)) {
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

Status CheckState(const StreamInfo& info, const State& state) {
  uint64_t tgbs = 0;
  for (const auto& [name, row] : state.rows) {
    if (row.session == 0 || row.session > state.sessions_opened) {
      return DataLossError(Str("producer ", name, " has session ", row.session, " of ",
                               state.sessions_opened, " opened"));
    }
    if (row.next_sequence > row.tgbs) {
      return DataLossError(Str("producer ", name, " counts fewer TGBs than its session"));
    }
    tgbs += row.tgbs;
  }
  if (state.producer_of_session.size() != state.rows.size()) {
    return DataLossError("two producers share one session");
  }
  if (tgbs != state.next_step) {
    return DataLossError(
        Str("producers count ", tgbs, " TGBs, the stream ", state.next_step, " steps"));
  }
  const uint64_t steps = info.spec.index_page_steps;
  if (!CoverDensely(state.tail, state.next_step / steps * steps, state.next_step)) {
    return DataLossError(
        Str("the open index page does not cover its steps up to ", state.next_step));
  }
  return OkStatus();
}

const PlacedEntry* FindStep(const std::vector<PlacedEntry>& entries, Step step) {
  auto after =
      std::upper_bound(entries.begin(), entries.end(), step,
                       [](Step s, const PlacedEntry& placed) { return s < placed.first_step; });
  if (after == entries.begin()) return nullptr;
  const PlacedEntry& placed = *std::prev(after);
  return step < placed.end_step() ? &placed : nullptr;
}

}  // namespace lakestream

// Parsers of the manifest room.
#include <string>

#include "base/text.h"
#include "fuzz/target.h"
#include "manifest/apply.h"
#include "manifest/frame.h"
#include "manifest/keys.h"
#include "manifest/record.h"
#include "manifest/state.h"
#include "manifest/stream_json.h"

namespace lakestream::fuzz {
namespace {

StreamInfo Info() {
  StreamInfo info;
  info.uuid = "00112233445566778899aabbccddeeff";
  info.created_ms = 1;
  info.spec.mesh = {2, 1};
  info.spec.index_page_steps = 4;
  return info;
}

// A short history: every record, and the states and pages that it makes.
struct History {
  StreamInfo info = Info();
  State state = EmptyState(info);
  std::vector<Bytes> records;
  std::vector<Bytes> snapshots;
  std::vector<Bytes> pages;

  void Commit(std::vector<Change> changes) {
    const Record record = MakeRecord(info, state, std::move(changes), CommitId{}, 1700000000000);
    const Bytes bytes = EncodeRecord(record);
    const auto sealed = Apply(info, record, RecordHash(bytes), state);
    Require(sealed.ok());
    records.push_back(bytes);
    snapshots.push_back(EncodeSnapshot(info, state));
    for (const IndexPage& page : *sealed) pages.push_back(EncodeIndexPage(info, page));
  }
};

Entry SomeEntry(SessionId session, uint64_t first_sequence, uint32_t tgbs, size_t state_bytes) {
  Entry entry;
  entry.session = session;
  entry.object = static_cast<uint32_t>(first_sequence);
  entry.first_sequence = first_sequence;
  entry.layout.tgb_count = tgbs;
  entry.layout.runs = {{1, 9}, {2ull * tgbs - 1, 3}};
  const uint64_t frames_end = 64 + entry.layout.FrameBytes();
  entry.state = StateRef::Of(std::string(state_bytes, 's'), frames_end);
  entry.object_bytes = frames_end + 128;
  return entry;
}

History MakeHistory() {
  History history;
  history.Commit({OpenChange{"video-0", 0}, OpenChange{"text-0", 0}});
  history.Commit({PublishChange{SomeEntry(1, 0, 3, 0)}});
  history.Commit({PublishChange{SomeEntry(1, 3, 1, 20)}, PublishChange{SomeEntry(1, 4, 2, 2000)}});
  history.Commit({OpenChange{"text-0", 2}});
  history.Commit({PublishChange{SomeEntry(3, 0, 5, 7)}, FinishChange{3}});
  history.Commit({SealChange{}});
  return history;
}

// The input with length and checksum of a frame that fit its body, so that mutations get past them.
Bytes Resealed(std::string_view magic, ConstBytes input) {
  if (input.size() < kFrameOverheadBytes) return SealFrame(magic, input);
  return SealFrame(magic, input.subspan(12, input.size() - kFrameOverheadBytes));
}

void CheckRecord(ConstBytes bytes) {
  const StreamInfo info = Info();
  const auto record = DecodeRecord(bytes, info.spec.mesh);
  if (!record.ok()) return;
  Require(AsText(EncodeRecord(*record)) == AsText(bytes));
  // A state that the record says it follows, so that its changes are looked at.
  State state = EmptyState(info);
  state.version = record->version - 1;
  state.hash = record->previous;
  if (Apply(info, *record, RecordHash(bytes), state).ok()) {
    Require(CheckState(info, state).ok());
    Require(DecodeSnapshot(info, EncodeSnapshot(info, state)).ok());
  }
}

void RunRecord(ConstBytes input) {
  CheckRecord(input);
  CheckRecord(Resealed(kRecordMagic, input));
}

void CheckSnapshot(ConstBytes bytes) {
  const StreamInfo info = Info();
  const auto state = DecodeSnapshot(info, bytes);
  if (!state.ok()) return;
  Require(AsText(EncodeSnapshot(info, *state)) == AsText(bytes));
  if (state->next_step > 0 && !state->tail.empty()) {
    Require(FindStep(state->tail, state->next_step - 1) == &state->tail.back());
  }
}

void RunSnapshot(ConstBytes input) {
  CheckSnapshot(input);
  CheckSnapshot(Resealed(kSnapshotMagic, input));
}

void CheckIndexPage(ConstBytes bytes) {
  const StreamInfo info = Info();
  for (const uint64_t page : {uint64_t{0}, uint64_t{1}, uint64_t{2}, UINT64_MAX / 4}) {
    const auto index = DecodeIndexPage(info, page, bytes);
    if (!index.ok()) continue;
    Require(AsText(EncodeIndexPage(info, *index)) == AsText(bytes));
    for (Step step = page * 4; step < page * 4 + 4; ++step) {
      Require(FindStep(index->entries, step) != nullptr);
    }
  }
}

void RunIndexPage(ConstBytes input) {
  CheckIndexPage(input);
  CheckIndexPage(Resealed(kIndexMagic, input));
}

void CheckHead(ConstBytes bytes) {
  const auto version = DecodeHeadHint(bytes);
  if (version.ok()) Require(AsText(EncodeHeadHint(*version)) == AsText(bytes));
}

void RunHead(ConstBytes input) {
  CheckHead(input);
  CheckHead(Resealed(kHeadMagic, input));
}

void RunStreamJson(ConstBytes input) {
  const auto info = DecodeStreamJson(AsText(input));
  if (!info.ok()) return;
  const std::string text = EncodeStreamJson(*info);
  const auto again = DecodeStreamJson(text);
  Require(again.ok() && EncodeStreamJson(*again) == text);
  Require(ToHex(UuidBytes(*info)) == info->uuid);
}

void RunKeys(ConstBytes input) {
  const std::string_view key = AsText(input);
  if (const auto version = ParseNumberedKey(key, LogPrefix(kMainBranch))) {
    Require(LogKey(kMainBranch, *version) == key);
  }
  if (const auto id = ParseDataKey(key, kMainBranch)) {
    Require(DataKey(kMainBranch, id->session, id->object) == key);
  }
}

Bytes FromText(std::string_view text) { return {text.begin(), text.end()}; }

std::vector<Bytes> StreamJsonSeeds() {
  StreamInfo info = Info();
  std::vector<Bytes> seeds = {FromText(EncodeStreamJson(info))};
  info.spec = {.mesh = {4, 2}, .producers = {"video-0", "text.1"}, .zstd_level = 3};
  seeds.push_back(FromText(EncodeStreamJson(info)));
  seeds.push_back(FromText("{\"format\":" + std::string(800, '[')));
  seeds.push_back(FromText("{\"mesh\":{\"dp\":1e999,\"cp\":-1}}"));
  return seeds;
}

constexpr Target kTargets[] = {
    {"record", RunRecord, [] { return MakeHistory().records; }},
    {"snapshot", RunSnapshot, [] { return MakeHistory().snapshots; }},
    {"index_page", RunIndexPage, [] { return MakeHistory().pages; }},
    {"head", RunHead,
     [] {
       return std::vector<Bytes>{EncodeHeadHint(0), EncodeHeadHint(1234567)};
     }},
    {"stream_json", RunStreamJson, StreamJsonSeeds, 8000},
    {"keys", RunKeys,
     [] {
       return std::vector<Bytes>{FromText(LogKey(kMainBranch, 42)),
                                 FromText(DataKey(kMainBranch, 3, 7))};
     }},
};

}  // namespace

std::span<const Target> ManifestTargets() { return kTargets; }

}  // namespace lakestream::fuzz

#include "sim/checkers/log_view.h"

#include <cstring>

#include "base/text.h"
#include "codec/checksum.h"
#include "codec/zstd_codec.h"
#include "manifest/keys.h"
#include "manifest/stream_json.h"

namespace lakestream::sim {
namespace {

template <typename T>
T Load(ConstBytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// A slice frame by the format page: 64 bytes of header, then the payload. Nullopt if anything in it
// does not hold.
std::optional<Buffer> CutFrame(ConstBytes frame, SessionId session, uint32_t object,
                               uint32_t ordinal, uint32_t dp, uint32_t cp) {
  if (frame.size() < 64 || AsText(frame.subspan(0, 4)) != "LSSL") return std::nullopt;
  if (Load<uint64_t>(frame, 56) != Checksum64(frame.subspan(0, 56))) return std::nullopt;
  const auto codec = Load<uint16_t>(frame, 6);
  const bool named = Load<uint64_t>(frame, 8) == session && Load<uint32_t>(frame, 16) == object &&
                     Load<uint32_t>(frame, 20) == ordinal && Load<uint32_t>(frame, 24) == dp &&
                     Load<uint32_t>(frame, 28) == cp;
  const auto stored = Load<uint64_t>(frame, 32);
  const auto raw = Load<uint64_t>(frame, 40);
  if (!named || codec > 1 || stored > frame.size() - 64) return std::nullopt;
  const ConstBytes payload = frame.subspan(64, stored);
  if (Checksum64(payload) != Load<uint64_t>(frame, 48)) return std::nullopt;
  if (codec == 0) return Buffer::CopyOf(payload);
  std::vector<uint8_t> out(raw);
  if (!ZstdDecompress(payload, out).ok()) return std::nullopt;
  return Buffer::FromVector(std::move(out));
}

}  // namespace

std::string ProducerName(uint32_t producer) { return Str("producer-", producer); }

std::optional<uint32_t> ProducerIndex(const std::string& name) {
  if (!name.starts_with("producer-")) return std::nullopt;
  return static_cast<uint32_t>(std::strtoul(name.c_str() + 9, nullptr, 10));
}

void LogReader::Refresh() {
  const auto& objects = storage_->objects();
  if (!info_) {
    const auto found = objects.find(kStreamKey);
    if (found == objects.end()) return;
    Result<StreamInfo> info = DecodeStreamJson(found->second.data.text());
    if (!info.ok()) return Damage("one_order", "stream.json: " + info.status().ToString());
    info_ = *info;
    hash_ = RootHash(UuidBytes(*info_));
  }
  while (true) {
    const Version version = view_.records.size() + 1;
    const auto found = objects.find(LogKey(kMainBranch, version));
    if (found == objects.end()) return;
    Decode(found->second, version);
  }
}

void LogReader::Decode(const StoredObject& object, Version version) {
  ViewRecord view;
  view.version = version;
  view.applied_at = object.first_applied;
  Result<Record> record = DecodeRecord(object.data.bytes(), info_->spec.mesh);
  if (!record.ok()) {
    Damage("one_order", Str("record ", version, ": ", record.status().ToString()));
    view_.records.push_back(std::move(view));
    return;
  }
  if (record->version != version || record->previous != hash_) {
    Damage("one_order", Str("record ", version, " does not follow the record before it"));
  }
  hash_ = HashBytes128(object.data.bytes());
  view.first_step = record->first_step;
  view.next_step = record->next_step;
  for (const Change& change : record->changes) DecodeChange(change, view);
  view_.records.push_back(std::move(view));
}

void LogReader::DecodeChange(const Change& change, ViewRecord& record) {
  if (const auto* open = std::get_if<OpenChange>(&change)) {
    const SessionId session = ++sessions_opened_;
    record.opens.push_back({open->producer, session, open->expected_session});
    finished_[open->producer].first = session;
  } else if (const auto* publish = std::get_if<PublishChange>(&change)) {
    record.entries.push_back(DecodeEntry(publish->entry, record.applied_at));
    for (auto& [producer, row] : finished_) row.second &= row.first != publish->entry.session;
  } else if (const auto* finish = std::get_if<FinishChange>(&change)) {
    record.finishes.push_back(finish->session);
    size_t finished = 0;
    for (auto& [producer, row] : finished_) {
      row.second |= row.first == finish->session;
      finished += row.second;
    }
    // With declared producers the last finish seals, in the same record.
    if (!info_->spec.producers.empty() && finished == info_->spec.producers.size()) {
      record.seals = sealed_ = true;
    }
  } else {
    record.seals = sealed_ = true;
  }
}

ViewEntry LogReader::DecodeEntry(const Entry& entry, Time applied_at) {
  ViewEntry view;
  view.session = entry.session;
  view.object = entry.object;
  view.first_sequence = entry.first_sequence;
  view.tgbs = entry.tgb_count();
  view.first_step = next_step_;
  next_step_ += view.tgbs;
  const std::string key = DataKey(kMainBranch, entry.session, entry.object);
  const auto found = storage_->objects().find(key);
  if (found == storage_->objects().end() || found->second.first_applied > applied_at) {
    Damage("atomic_visibility", Str("step ", view.first_step, ": ", key,
                                    found == storage_->objects().end()
                                        ? " does not exist"
                                        : " was written after the record that publishes it"));
    view.items.resize(view.tgbs);
    view.state_intact = false;
    return view;
  }
  const ConstBytes bytes = found->second.data.bytes();
  for (uint32_t i = 0; i < view.tgbs; ++i) {
    view.items.push_back(DecodeTgb(entry, found->second, i));
    if (!view.items.back()) {
      Damage("atomic_visibility", Str("step ", view.first_step + i, ": the slices in ", key,
                                      " are not the slices of one item"));
    }
  }
  if (entry.state.kind == StateRef::Kind::kInline) {
    view.state = entry.state.inline_bytes;
  } else if (entry.state.kind == StateRef::Kind::kExtent) {
    const ByteRange range = entry.state.range();
    view.state_intact = range.end() <= bytes.size() && range.end() >= range.offset;
    if (view.state_intact) view.state = AsText(bytes.subspan(range.offset, range.size));
  }
  return view;
}

std::optional<ItemId> LogReader::DecodeTgb(const Entry& entry, const StoredObject& object,
                                           uint32_t ordinal) {
  const Mesh mesh = info_->spec.mesh;
  std::optional<ItemId> item;
  for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
    for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
      const ByteRange range = entry.layout.FrameRange(mesh, ordinal, dp, cp);
      if (range.end() > object.data.size()) return std::nullopt;
      const std::optional<Buffer> payload =
          CutFrame(object.data.bytes().subspan(range.offset, range.size), entry.session,
                   entry.object, ordinal, dp, cp);
      if (!payload) return std::nullopt;
      const std::optional<ItemId> id = IdentifySlice(*payload);
      if (!id || (item && *item != *id)) return std::nullopt;
      if (payload->text() != SlicePayload(law_, *id, dp, cp).text()) return std::nullopt;
      item = id;
    }
  }
  return item;
}

bool LogReader::Finished(const std::string& producer) const {
  const auto found = finished_.find(producer);
  return found != finished_.end() && found->second.second;
}

}  // namespace lakestream::sim

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

std::vector<ViewStep> LogView::Steps() const {
  std::vector<ViewStep> steps = shared;
  for (const ViewRecord& record : records) {
    for (const ViewEntry& entry : record.entries) {
      for (const auto& item : entry.items) steps.push_back({item, record.applied_at});
    }
  }
  return steps;
}

std::string ProducerName(uint32_t producer) { return Str("producer-", producer); }

std::optional<uint32_t> ProducerIndex(const std::string& name) {
  if (!name.starts_with("producer-")) return std::nullopt;
  return static_cast<uint32_t>(std::strtoul(name.c_str() + 9, nullptr, 10));
}

LogReader::LogReader(const SimStorage* storage, ItemLaw law, const BranchInfo& branch,
                     std::vector<ViewStep> shared)
    : storage_(storage), law_(law) {
  view_.branch = branch.name;
  view_.fork_step = branch.fork_step;
  view_.shared = std::move(shared);
  next_step_ = branch.fork_step;
  trim_step_ = view_.first_trim = branch.trim_step;
  hash_ = branch.root;
}

void LogReader::Refresh() {
  const Archive& archive = storage_->archive();
  if (!info_) {
    const auto found = archive.find(kStreamKey);
    if (found == archive.end()) return;
    Result<StreamInfo> info = DecodeStreamJson(found->second.front().data.text());
    if (!info.ok()) return Damage("one_order", "stream.json: " + info.status().ToString());
    info_ = *info;
    if (view_.branch == kMainBranch) hash_ = RootHash(UuidBytes(*info_));
  }
  while (true) {
    const Version version = view_.records.size() + 1;
    const auto found = archive.find(LogKey(view_.branch, version));
    if (found == archive.end()) return;
    // What came to a slot later, after it was reclaimed, is void.
    Decode(found->second.front(), version);
  }
}

void LogReader::Decode(const Lifetime& object, Version version) {
  ViewRecord view;
  view.version = version;
  view.applied_at = object.written;
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

void LogReader::BeginSession(const std::string& producer, SessionId expected, bool fence,
                             ViewRecord& record) {
  const SessionId session = ++sessions_opened_;
  record.opens.push_back({producer, session, expected, fence});
  finished_[producer].first = session;
}

void LogReader::DecodeChange(const Change& change, ViewRecord& record) {
  if (const auto* open = std::get_if<OpenChange>(&change)) {
    BeginSession(open->producer, open->expected_session, false, record);
  } else if (const auto* fence = std::get_if<FenceChange>(&change)) {
    BeginSession(fence->producer, fence->expected_session, true, record);
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
  } else if (std::holds_alternative<SealChange>(change)) {
    record.seals = sealed_ = true;
  } else {
    record.lifecycle.push_back(change);
    DecodeLifecycle(change);
  }
}

void LogReader::DecodeLifecycle(const Change& change) {
  if (const auto* begin = std::get_if<BeginCheckpointChange>(&change)) {
    checkpoints_[begin->name] = {begin->step, begin->parts == 0};
  } else if (const auto* complete = std::get_if<CompleteCheckpointChange>(&change)) {
    checkpoints_[complete->name].second = true;
  } else if (const auto* drop = std::get_if<DropCheckpointChange>(&change)) {
    checkpoints_.erase(drop->name);
  } else if (const auto* trim = std::get_if<TrimChange>(&change)) {
    trim_step_ = trim->step;
  } else if (const auto* attach = std::get_if<AttachChange>(&change)) {
    runs_[attach->job] = attach->run;
  } else if (const auto* detach = std::get_if<DetachChange>(&change)) {
    runs_.erase(detach->job);
  } else if (const auto* fork = std::get_if<ForkChange>(&change)) {
    forks_[fork->branch] = fork->step;
  } else if (const auto* forget = std::get_if<ForgetBranchChange>(&change)) {
    forks_.erase(forget->branch);
  } else if (std::holds_alternative<CloseChange>(change)) {
    closed_ = true;
  }
}

std::vector<Step> LogReader::CheckpointSteps() const {
  std::vector<Step> steps;
  for (const auto& [name, row] : checkpoints_) {
    if (row.second) steps.push_back(row.first);
  }
  return steps;
}

ViewEntry LogReader::DecodeEntry(const Entry& entry, Time applied_at) {
  ViewEntry view;
  view.session = entry.session;
  view.object = entry.object;
  view.first_sequence = entry.first_sequence;
  view.tgbs = entry.tgb_count();
  view.first_step = next_step_;
  next_step_ += view.tgbs;
  const std::string key = DataKey(view_.branch, entry.session, entry.object);
  const auto found = storage_->archive().find(key);
  const Lifetime* object = nullptr;
  for (size_t i = 0; found != storage_->archive().end() && i < found->second.size(); ++i) {
    if (found->second[i].LivesAt(applied_at)) object = &found->second[i];
  }
  if (object == nullptr) {
    Damage("atomic_visibility", Str("step ", view.first_step, ": ", key,
                                    found == storage_->archive().end()
                                        ? " does not exist"
                                        : " was not there when the record that publishes it came"));
    view.items.resize(view.tgbs);
    view.state_intact = false;
    return view;
  }
  const ConstBytes bytes = object->data.bytes();
  for (uint32_t i = 0; i < view.tgbs; ++i) {
    view.items.push_back(DecodeTgb(entry, object->data, i));
    if (!view.items.back()) {
      Damage("atomic_visibility", Str("step ", view.first_step + i, ": the slices in ", key,
                                      " are not the slices of one item"));
    }
  }
  if (entry.state.kind == StateRef::Kind::kInline) {
    view.state = entry.state.inline_bytes;
  } else if (entry.state.kind == StateRef::Kind::kExtent) {
    view.state_in_object = true;
    const ByteRange range = entry.state.range();
    view.state_intact = range.end() <= bytes.size() && range.end() >= range.offset;
    if (view.state_intact) view.state = AsText(bytes.subspan(range.offset, range.size));
  }
  return view;
}

std::optional<ItemId> LogReader::DecodeTgb(const Entry& entry, const Buffer& object,
                                           uint32_t ordinal) {
  const Mesh mesh = info_->spec.mesh;
  std::optional<ItemId> item;
  for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
    for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
      const ByteRange range = entry.layout.FrameRange(mesh, ordinal, dp, cp);
      if (range.end() > object.size()) return std::nullopt;
      const std::optional<Buffer> payload =
          CutFrame(object.bytes().subspan(range.offset, range.size), entry.session, entry.object,
                   ordinal, dp, cp);
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

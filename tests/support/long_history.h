// A stream with a long past, made in little time and space.
//
// Made by the production code itself: each record goes through MakeRecord, EncodeRecord and Apply,
// snapshots, pages and data objects through their encoders, so every byte is what a real producer
// would have written. Only what a cold start or a commit near the head can touch is stored: the
// last two snapshots and what follows them, the last pages, the hint, and the steps that are asked
// for.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ledger/committer.h"
#include "manifest/apply.h"
#include "manifest/keys.h"
#include "manifest/record.h"
#include "manifest/state.h"
#include "manifest/stream_json.h"
#include "tgb/data_object.h"

namespace lakestream::testing_support {

struct HistoryShape {
  Version versions = 0;  // one open, then one step a version, a data object each
  // These steps can be read: their data objects and index pages are stored. A consumer looks up to
  // 512 steps ahead.
  Step readable_from = 0;
  Step readable_end = 0;
  // The head can be found without the hint: the records that probes may ask for are stored too.
  bool can_lose_hint = false;
};

// Whatever fails here is a defect of the caller or of the product.
template <typename T>
T Must(Result<T> result) {
  if (result.ok()) return *std::move(result);
  std::fprintf(stderr, "making a history: %s\n", result.status().ToString().c_str());
  std::abort();
}

// A step of the history: each slice holds a kilobyte.
inline Tgb HistoryTgb(const Mesh& mesh) {
  const std::vector<uint8_t> data(1024, 'x');
  const TensorView tensor{"data", DType::kU8, {data.size()}, data};
  Tgb tgb(mesh);
  for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
    for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
      if (!tgb.SetSlice(dp, cp, std::span(&tensor, 1)).ok()) std::abort();
    }
  }
  return tgb;
}

class LongHistory {
 public:
  static constexpr char kProducer[] = "bench";

  // `stream` must be empty.
  LongHistory(Stream& stream, const HistoryShape& shape)
      : stream_(stream),
        shape_(shape),
        state_(EmptyState(stream.info())),
        tgb_(HistoryTgb(stream.info().spec.mesh)),
        layout_(Encode(1, 0).layout) {
    const uint64_t interval = stream_.info().spec.snapshot_interval;
    const Version kept_from =
        shape_.versions > 2 * interval ? shape_.versions / interval * interval - interval : 0;
    while (state_.version < shape_.versions) Add(state_.version + 1 >= kept_from);
    Put(HeadKey(kMainBranch), EncodeHeadHint(state_.version));
  }

  // What the producer publishes next on top of `state`.
  Entry NextEntry(const State& state) const {
    const ProducerRow& row = state.rows.at(kProducer);
    Entry entry;
    entry.session = row.session;
    entry.object = static_cast<uint32_t>(row.next_sequence);
    entry.first_sequence = row.next_sequence;
    entry.layout = layout_;
    entry.object_bytes = 64 + layout_.FrameBytes() + 192;
    entry.state = StateRef::Of(CursorOf(row.next_sequence), 0);
    return entry;
  }

 private:
  static std::string CursorOf(uint64_t sequence) { return "row " + std::to_string(sequence); }

  EncodedDataObject Encode(SessionId session, uint64_t sequence) const {
    const StreamInfo& info = stream_.info();
    const auto object = static_cast<uint32_t>(sequence);
    return Must(
        EncodeDataObject({UuidBytes(info), session, object, info.spec.mesh, kProducer, sequence, 0},
                         std::span(&tgb_, 1), CursorOf(sequence)));
  }

  void Put(const std::string& key, ConstBytes bytes) {
    (void)Must(PutBytes(stream_.store(), key, bytes, {}, Deadline::Never()));
  }

  void Add(bool kept) {
    const StreamInfo& info = stream_.info();
    CommitId id{};
    for (size_t i = 0; i < 8; ++i) id[i] = static_cast<uint8_t>(state_.version >> (8 * i));
    std::vector<Change> changes;
    if (state_.version == 0) {
      changes.push_back(OpenChange{kProducer, 0});
    } else {
      changes.push_back(PublishChange{NextEntry(state_)});
      if (IsReadable(state_.next_step, state_.next_step + 1)) PutData();
    }
    const Record record = MakeRecord(info, state_, std::move(changes), id, 1764547200000);
    const auto bytes = EncodeRecord(record);
    const auto pages = Must(Apply(info, record, RecordHash(bytes), state_));
    const bool at_snapshot = state_.version % info.spec.snapshot_interval == 0;
    // Probes go from snapshot to snapshot.
    if (kept || (shape_.can_lose_hint && at_snapshot))
      Put(LogKey(kMainBranch, state_.version), bytes);
    const uint64_t steps = info.spec.index_page_steps;
    for (const IndexPage& page : pages) {
      if (kept || IsReadable(page.page * steps, (page.page + 1) * steps))
        Put(IndexKey(kMainBranch, page.page), EncodeIndexPage(info, page));
    }
    if (kept && at_snapshot)
      Put(SnapshotKey(kMainBranch, state_.version), EncodeSnapshot(info, state_));
  }

  bool IsReadable(Step from, Step end) const {
    return from < shape_.readable_end && end > shape_.readable_from;
  }

  void PutData() {
    const Entry entry = NextEntry(state_);
    const EncodedDataObject object = Encode(entry.session, entry.first_sequence);
    (void)Must(stream_.store().Put(DataKey(kMainBranch, entry.session, entry.object), object.pieces,
                                   {}, Deadline::Never()));
  }

  Stream& stream_;
  const HistoryShape shape_;
  State state_;
  const Tgb tgb_;
  const ObjectLayout layout_;
};

}  // namespace lakestream::testing_support

// Entries, changes and commit records: what one commit says (docs/format/manifest.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/checksum.h"
#include "lakestream/status.h"
#include "lakestream/types.h"
#include "tgb/object_layout.h"
#include "tgb/state_ref.h"

namespace lakestream {

inline constexpr size_t kRecordBytesMax = 64 << 10;
// What a Publish may take of a record: a planner adds entries up to this.
inline constexpr size_t kChangesBytesMax = 48 << 10;

using Uuid = std::array<uint8_t, 16>;
// Random, one for each plan of a commit: binds exact bytes, so that a writer recognises its own
// record.
using CommitId = std::array<uint8_t, 16>;

// Publishes one data object: `layout.tgb_count` consecutive TGBs of one session.
struct Entry {
  SessionId session = 0;
  uint32_t object = 0;          // its number in the session; names the object, see DataKey
  uint64_t first_sequence = 0;  // of the session's TGBs: 0, 1, 2, ...
  ObjectLayout layout;
  uint64_t object_bytes = 0;
  StateRef state;  // the producer's state right behind the object's last TGB

  uint32_t tgb_count() const { return layout.tgb_count; }
  void Encode(ByteWriter& writer) const;
  static Entry Decode(ByteReader& reader, const Mesh& mesh);  // fails the reader if invalid
  bool operator==(const Entry&) const = default;
};

struct OpenChange {
  std::string producer;
  SessionId expected_session = 0;  // the session that it replaces; 0: none
  bool operator==(const OpenChange&) const = default;
};
struct PublishChange {
  Entry entry;
  bool operator==(const PublishChange&) const = default;
};
struct FinishChange {
  SessionId session = 0;
  bool operator==(const FinishChange&) const = default;
};
struct SealChange {
  bool operator==(const SealChange&) const = default;
};
using Change = std::variant<OpenChange, PublishChange, FinishChange, SealChange>;

struct Record {
  Uuid stream{};
  Version version = 0;
  Hash128 previous{};  // hash of the record object before it; of the UUID for version 1
  CommitId commit_id{};
  int64_t time_ms = 0;  // the writer's clock; for people only
  Step first_step = 0;
  Step next_step = 0;
  std::vector<Change> changes;
  bool operator==(const Record&) const = default;
};

// The object's bytes, frame included.
std::vector<uint8_t> EncodeRecord(const Record& record);
// kDataLoss, kFormatTooNew (also for a kind of change that this version does not know).
Result<Record> DecodeRecord(ConstBytes bytes, const Mesh& mesh);
// The size that a change takes in a record.
size_t EncodedBytes(const Change& change);
// Identifies a record object's exact bytes.
inline Hash128 RecordHash(ConstBytes bytes) { return HashBytes128(bytes); }
// What version 1 names as its predecessor.
inline Hash128 RootHash(const Uuid& stream) { return HashBytes128(stream); }

}  // namespace lakestream

// Commit records: what one commit says (docs/format/manifest.md).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "codec/checksum.h"
#include "lakestream/status.h"
#include "lakestream/types.h"
#include "manifest/change.h"

namespace lakestream {

inline constexpr size_t kRecordBytesMax = 64 << 10;
// What a Publish may take of a record: a planner adds entries up to this.
inline constexpr size_t kChangesBytesMax = 48 << 10;

using Uuid = std::array<uint8_t, 16>;
// Random, one for each plan of a commit: binds exact bytes, so that a writer recognises its own
// record.
using CommitId = std::array<uint8_t, 16>;

struct Record {
  Uuid stream{};
  Version version = 0;
  Hash128 previous{};  // hash of the record object before it; RootHash() for version 1
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
// Identifies a record object's exact bytes.
inline Hash128 RecordHash(ConstBytes bytes) { return HashBytes128(bytes); }
// What version 1 names as its predecessor.
inline Hash128 RootHash(const Uuid& stream) { return HashBytes128(stream); }

}  // namespace lakestream

// Changes: what a commit may say (docs/format/manifest.md). What each does, and when it is valid,
// is in apply.h.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "lakestream/status.h"
#include "lakestream/types.h"
#include "tgb/object_layout.h"
#include "tgb/state_ref.h"

namespace lakestream {

// Names of producers, jobs, runs, checkpoints and branches.
inline constexpr size_t kNameBytesMax = 64;
inline constexpr size_t kNoteBytesMax = 1024;
inline constexpr uint32_t kPartsMax = 1 << 20;  // of a checkpoint, and ranks of a run

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

// Kinds as they are stored: never change or reuse a number. 11 (retire a producer) and 12 (pacing)
// are reserved.

struct OpenChange {
  static constexpr uint8_t kKind = 1;
  std::string producer;
  SessionId expected_session = 0;  // the session that it replaces; 0: none
  bool operator==(const OpenChange&) const = default;
};
struct PublishChange {
  static constexpr uint8_t kKind = 2;
  Entry entry;
  bool operator==(const PublishChange&) const = default;
};
struct FinishChange {
  static constexpr uint8_t kKind = 3;
  SessionId session = 0;
  bool operator==(const FinishChange&) const = default;
};
struct SealChange {
  static constexpr uint8_t kKind = 4;
  bool operator==(const SealChange&) const = default;
};

// A checkpoint begins: its step is kept from here on. Live at once with no parts, else pending.
struct BeginCheckpointChange {
  static constexpr uint8_t kKind = 5;
  std::string name;
  std::string attempt;  // the caller's word for this attempt: parts of another one do not count
  Step step = 0;
  uint32_t parts = 0;
  bool pinned = false;
  std::string note;
  int64_t time_ms = 0;  // the store's clock, for rules of age
  bool operator==(const BeginCheckpointChange&) const = default;
};
// Steps below `step` are given up.
struct TrimChange {
  static constexpr uint8_t kKind = 6;
  Step step = 0;
  bool operator==(const TrimChange&) const = default;
};
// A branch starts at `step`.
struct ForkChange {
  static constexpr uint8_t kKind = 7;
  std::string branch;
  Step step = 0;
  bool operator==(const ForkChange&) const = default;
};
// Ends a session that never came back, so that what it left behind can be collected.
struct FenceChange {
  static constexpr uint8_t kKind = 8;
  std::string producer;
  SessionId expected_session = 0;
  bool operator==(const FenceChange&) const = default;
};
// A run of a job begins to read; it replaces the job's run before.
struct AttachChange {
  static constexpr uint8_t kKind = 9;
  std::string job;
  std::string run;
  uint32_t ranks = 0;
  Step start = 0;
  int64_t time_ms = 0;  // the store's clock
  bool operator==(const AttachChange&) const = default;
};
struct DetachChange {
  static constexpr uint8_t kKind = 10;
  std::string job;
  std::string run;
  bool operator==(const DetachChange&) const = default;
};
// All parts of a pending checkpoint are there. `begun`: the version of its begin.
struct CompleteCheckpointChange {
  static constexpr uint8_t kKind = 13;
  std::string name;
  Version begun = 0;
  bool operator==(const CompleteCheckpointChange&) const = default;
};
// A checkpoint is deleted, or a pending one abandoned.
struct DropCheckpointChange {
  static constexpr uint8_t kKind = 14;
  std::string name;
  Version begun = 0;
  bool operator==(const DropCheckpointChange&) const = default;
};
struct PinCheckpointChange {
  static constexpr uint8_t kKind = 15;
  std::string name;
  Version begun = 0;
  bool pinned = false;
  bool operator==(const PinCheckpointChange&) const = default;
};
// The last word of a branch: nothing follows it.
struct CloseChange {
  static constexpr uint8_t kKind = 16;
  bool operator==(const CloseChange&) const = default;
};
// A closed branch whose objects are gone leaves its parent's list.
struct ForgetBranchChange {
  static constexpr uint8_t kKind = 17;
  std::string branch;
  bool operator==(const ForgetBranchChange&) const = default;
};

using Change =
    std::variant<OpenChange, PublishChange, FinishChange, SealChange, BeginCheckpointChange,
                 TrimChange, ForkChange, FenceChange, AttachChange, DetachChange,
                 CompleteCheckpointChange, DropCheckpointChange, PinCheckpointChange, CloseChange,
                 ForgetBranchChange>;

void EncodeChange(const Change& change, ByteWriter& writer);
// kDataLoss; kFormatTooNew for a kind that this version does not know.
Result<Change> DecodeChange(ByteReader& reader, const Mesh& mesh);
// The size that a change takes in a record.
size_t EncodedBytes(const Change& change);

}  // namespace lakestream

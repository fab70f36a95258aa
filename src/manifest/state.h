// State: what the manifest says after some version. A snapshot is an encoded State.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/stream.h"
#include "manifest/record.h"

namespace lakestream {

// One producer's row: the anchor of exactly-once. What is published of a producer is what its row
// counts.
struct ProducerRow {
  SessionId session = 0;       // the current one
  uint64_t next_sequence = 0;  // of the current session's TGBs
  bool finished = false;       // its last word, by whichever session, was that it has no more
  uint64_t tgbs = 0;           // published by all sessions
  // Data objects of the current session below this number are published (or never will be).
  uint32_t next_object = 0;
  StateRef state;  // right behind the last published TGB, of whichever session
  // The data object that holds `state` if it is an extent.
  SessionId state_session = 0;
  uint32_t state_object = 0;
  bool operator==(const ProducerRow&) const = default;
};

struct CheckpointRow {
  Version begun = 0;    // with `name` its identity: names may be used again
  std::string attempt;  // whose parts count while it is pending
  Step step = 0;
  uint32_t parts = 0;
  bool live = false;  // all parts are there; until then it pins its step but does not count
  bool pinned = false;
  std::string note;
  int64_t time_ms = 0;  // the store's clock when it began
  bool operator==(const CheckpointRow&) const = default;
};

// The current run of a job.
struct RunRow {
  std::string run;
  uint32_t ranks = 0;
  Step start = 0;
  int64_t attached_ms = 0;  // by the store's clock
  bool operator==(const RunRow&) const = default;
};

// A branch that starts here.
struct BranchRow {
  Step step = 0;
  Version forked = 0;
  Step trim_step = 0;  // here, when it was forked
  Hash128 root{};
  bool operator==(const BranchRow&) const = default;
};

// Where the steps [first_step, first_step + entry.tgb_count()) lie.
struct PlacedEntry {
  Step first_step = 0;
  Entry entry;
  Step end_step() const { return first_step + entry.tgb_count(); }
  bool operator==(const PlacedEntry&) const = default;
};

struct State {
  Version version = 0;
  Hash128 hash{};  // of the record object that made this version
  Step next_step = 0;
  bool sealed = false;
  uint64_t sessions_opened = 0;
  uint64_t slice_bytes = 0;   // stored bytes of all published slice frames
  uint64_t data_objects = 0;  // published
  int64_t last_commit_ms = 0;
  Step trim_step = 0;   // steps below it are given up
  bool closed = false;  // a deleted branch
  std::map<std::string, ProducerRow> rows;
  std::map<std::string, CheckpointRow> checkpoints;
  std::map<std::string, RunRow> runs;  // by job
  std::map<std::string, BranchRow> branches;
  // Every entry that covers a step of the index page that is still open, in step order.
  std::vector<PlacedEntry> tail;

  // Not stored: derived from rows.
  std::map<SessionId, std::string> producer_of_session;

  ProducerRow* FindSession(SessionId session);
  // The first step that a checkpoint, live or pending, keeps; next_step if there is none.
  Step FirstCheckpointStep() const;
  bool operator==(const State&) const = default;
};

// The state before version 1.
State EmptyState(const StreamInfo& info);

// Canonical: equal states have equal bytes.
std::vector<uint8_t> EncodeSnapshot(const StreamInfo& info, const State& state);
// Checks the frame, the stream and the state's own consistency (CheckState).
Result<State> DecodeSnapshot(const StreamInfo& info, ConstBytes bytes);

// A sealed index page: every entry that covers a step of [page * P, (page + 1) * P), in step order.
struct IndexPage {
  uint64_t page = 0;
  std::vector<PlacedEntry> entries;
  bool operator==(const IndexPage&) const = default;
};
std::vector<uint8_t> EncodeIndexPage(const StreamInfo& info, const IndexPage& page);
Result<IndexPage> DecodeIndexPage(const StreamInfo& info, uint64_t page, ConstBytes bytes);

// HEAD: a hint to some version that exists. A reader must survive any content.
std::vector<uint8_t> EncodeHeadHint(Version version);
Result<Version> DecodeHeadHint(ConstBytes bytes);

// A branch as its parent's commit made it: for branch/<name>, which is a pure function of that
// commit.
BranchInfo MakeBranchInfo(const std::string& parent, const std::string& name, const BranchRow& row);
std::vector<uint8_t> EncodeBranch(const StreamInfo& info, const BranchInfo& branch);
Result<BranchInfo> DecodeBranch(const StreamInfo& info, const std::string& name, ConstBytes bytes);

// boundary/<branch>: what reclamation may remove, and so what readers can no longer count on. Moves
// only upward, by compare-and-swap; what it releases is removed L (StreamSpec::reclaim_grace) later
// at the earliest.
struct Boundary {
  Version decided_at = 0;  // the state that it was decided on
  Version snapshot = 0;    // log records up to it are released; its snapshot exists (0: none are)
  Step first_step = 0;     // steps below it are released
  Step settled_step = 0;   // ... were released by the boundary before: they may be gone by now
  bool closed = false;     // the whole branch is
  Version first_kept() const { return snapshot + 1; }
  bool operator==(const Boundary&) const = default;
};
std::vector<uint8_t> EncodeBoundary(const StreamInfo& info, const Boundary& boundary);
Result<Boundary> DecodeBoundary(const StreamInfo& info, ConstBytes bytes);

// What must hold of every state, by the protocol's invariants: sessions are distinct and were
// opened, entries are dense and cover the open page, nothing is counted twice. kDataLoss naming
// what is broken.
Status CheckState(const StreamInfo& info, const State& state);

// Whether entries follow each other without a gap and cover [from, to), none of them in vain.
bool CoverDensely(const std::vector<PlacedEntry>& entries, Step from, Step to);

// The entry of `entries` (in step order) that covers `step`, or null.
const PlacedEntry* FindStep(const std::vector<PlacedEntry>& entries, Step step);

}  // namespace lakestream

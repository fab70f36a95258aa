// Operations on a stream for people and tools: what it is, what is in it, whether it is whole;
// ending it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lakestream/stream.h"
#include "lakestream/tgb.h"

namespace lakestream {

struct ProducerInfo {
  std::string name;
  SessionId session = 0;  // current; 0: declared but never opened
  uint64_t tgbs = 0;      // committed by all sessions
  bool finished = false;
  uint64_t state_bytes = 0;
};

struct StreamStatus {
  StreamInfo info;
  Version version = 0;
  Step next_step = 0;  // steps [0, next_step) are committed
  bool sealed = false;
  uint64_t slice_bytes = 0;    // stored bytes of all committed slices
  uint64_t data_objects = 0;   // committed
  int64_t last_commit_ms = 0;  // by the committer's clock; 0 if none
  std::vector<ProducerInfo> producers;
};
Result<StreamStatus> GetStatus(Stream& stream, const Deadline& deadline);

// Where one step lies.
struct StepInfo {
  Step step = 0;
  std::string object;  // key of the data object
  SessionId session = 0;
  uint64_t bytes = 0;             // stored bytes of all its slices
  std::vector<ByteRange> slices;  // by Mesh::SliceIndex
};
// Steps [first, first + count), cut at the trim point and at the end of the stream.
Result<std::vector<StepInfo>> ListSteps(Stream& stream, Step first, uint64_t count,
                                        const Deadline& deadline);
// One slice, read and verified.
Result<SliceView> ReadSlice(Stream& stream, Step step, uint32_t dp, uint32_t cp,
                            const Deadline& deadline);

// What lies in the store, by kind: "data", "log", "snapshot", "index", "head", "boundary",
// "branch", "part", "watermark", "probe" (docs/format/manifest.md).
struct KindUsage {
  std::string kind;
  uint64_t objects = 0;
  uint64_t bytes = 0;
};
// Of the stream's branch; on main, of all branches. A LIST for each thousand objects.
Result<std::vector<KindUsage>> GetUsage(Stream& stream, const Deadline& deadline);
// The first `count` objects of one kind, by key: on main of all branches, else of the stream's own.
// With `from` > 0, of the stream's own branch from this version, page or session on.
// kInvalidArgument naming the kinds, if there is no such one.
Result<std::vector<ObjectInfo>> ListObjects(Stream& stream, const std::string& kind, uint64_t from,
                                            uint64_t count, const Deadline& deadline);

// One version of the manifest, for `tail`.
struct CommitInfo {
  Version version = 0;
  Step first_step = 0;
  Step next_step = 0;
  int64_t time_ms = 0;  // by the committer's clock
  uint64_t record_bytes = 0;
  std::vector<std::string>
      changes;  // one line each: "publish video-0 session 3: steps 17..19, 3 TGBs, 1 object"
};
// Calls `on_commit` for each version from `from` on, in order, until it returns false, the stream
// is sealed and all was shown, or the deadline passes (kDeadlineExceeded). With follow = false ends
// at the newest version.
Status Tail(Stream& stream, Version from, bool follow,
            const std::function<bool(const CommitInfo&)>& on_commit, const Deadline& deadline);

// Ends the stream: no TGB can be committed after it. OK also if it is sealed already.
Status Seal(Stream& stream, const Deadline& deadline);

// One thing that is wrong with a stream. Kinds of errors: "missing_object", "bad_checksum" (data);
// "bad_record", "gap", "bad_snapshot", "bad_index", "missing_boundary", "bad_boundary" (manifest);
// "dangling_reference" (a branch, checkpoint or job that leads to what is lost). Of warnings:
// "bad_snapshot", "bad_index" (missing, and can be made again), "bad_hint", "dangling_reference" (a
// fork that was never completed), "orphan", "unpublished", "foreign".
struct Finding {
  std::string kind;
  std::string object;  // key, with the store; for a reference its name
  std::optional<Step> step;
  std::string detail;  // what was found and what to do
};
struct VerifyOptions {
  bool read_data = true;  // false: manifest and existence of objects only
  std::function<void(uint64_t done, uint64_t total)> progress;  // in steps
};
struct VerifyReport {
  uint64_t branches = 0;
  Version versions = 0;  // log records that were read
  uint64_t steps = 0;    // retained ones
  uint64_t objects = 0;  // data objects that hold them, or a producer's state
  uint64_t bytes_checked = 0;
  // Given up, and left for reclamation: no fault.
  uint64_t reclaimable_objects = 0;
  uint64_t reclaimable_bytes = 0;
  std::vector<Finding> errors;    // something is lost or wrong
  std::vector<Finding> warnings;  // space or time is wasted: orphans, missing index pages
};
// Checks the stream's branch and all that descend from it (from main: the whole store), and what
// they share with branches below. From the boundary on it reads the log, recomputes every snapshot
// and index page, and checks each data object that a retained step needs. What was trimmed or
// reclaimed is no fault. Read-only; others may work meanwhile. Memory grows with the number of
// data objects (about 100 bytes each).
Result<VerifyReport> Verify(Stream& stream, const VerifyOptions& options, const Deadline& deadline);

}  // namespace lakestream

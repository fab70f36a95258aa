// The keys of a stream's objects. All are made here, from numbers and a checked branch name; no key
// is ever taken from stored bytes, so a hostile manifest cannot point outside the stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lakestream/types.h"

namespace lakestream {

inline constexpr char kMainBranch[] = "main";

inline constexpr char kStreamKey[] = "stream.json";
std::string LogKey(std::string_view branch, Version version);
std::string SnapshotKey(std::string_view branch, Version version);
std::string IndexKey(std::string_view branch, uint64_t page);
std::string HeadKey(std::string_view branch);
std::string DataKey(std::string_view branch, SessionId session, uint32_t object);
std::string BranchKey(std::string_view branch);
std::string BoundaryKey(std::string_view branch);
// A part of a checkpoint that began with version `begun`: there or not there.
std::string PartKey(std::string_view branch, Version begun, uint32_t part);
// How far a rank of a run has come; the numbers are in the name, so that one listing shows all.
struct Watermark {
  uint32_t rank = 0;
  Step read = 0;     // the step that it reads next
  Step durable = 0;  // the step that it would restart at
};
std::string WatermarkKey(std::string_view branch, std::string_view job, std::string_view run,
                         const Watermark& watermark);

// The prefixes under which the above lie, each ending in "/".
std::string LogPrefix(std::string_view branch);
std::string SnapshotPrefix(std::string_view branch);
std::string IndexPrefix(std::string_view branch);
std::string DataPrefix(std::string_view branch);
std::string PartsPrefix(std::string_view branch);
std::string PartsPrefix(std::string_view branch, Version begun);
std::string WatermarksPrefix(std::string_view branch);
std::string WatermarksPrefix(std::string_view branch, std::string_view job, std::string_view run);

// The number at the end of a log, snapshot or index key under `prefix`; nullopt for a foreign name.
std::optional<uint64_t> ParseNumberedKey(std::string_view key, std::string_view prefix);

std::optional<Watermark> ParseWatermarkKey(std::string_view key, std::string_view prefix);
// The version of the begin in a part's key.
std::optional<Version> ParsePartKey(std::string_view key, std::string_view branch);

struct DataObjectId {
  SessionId session = 0;
  uint32_t object = 0;
  auto operator<=>(const DataObjectId&) const = default;
};
std::optional<DataObjectId> ParseDataKey(std::string_view key, std::string_view branch);

}  // namespace lakestream

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

// The prefixes under which the above lie, each ending in "/".
std::string LogPrefix(std::string_view branch);
std::string SnapshotPrefix(std::string_view branch);
std::string IndexPrefix(std::string_view branch);
std::string DataPrefix(std::string_view branch);

// The number at the end of a log, snapshot or index key under `prefix`; nullopt for a foreign name.
std::optional<uint64_t> ParseNumberedKey(std::string_view key, std::string_view prefix);

struct DataObjectId {
  SessionId session = 0;
  uint32_t object = 0;
  auto operator<=>(const DataObjectId&) const = default;
};
std::optional<DataObjectId> ParseDataKey(std::string_view key, std::string_view branch);

}  // namespace lakestream

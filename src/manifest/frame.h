// The frame around every binary manifest object: magic, length, body, checksum
// (docs/format/manifest.md).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {

// Eight characters; the last three are the format's number.
inline constexpr std::string_view kRecordMagic = "LSLOG001";
inline constexpr std::string_view kSnapshotMagic = "LSSNAP01";
inline constexpr std::string_view kIndexMagic = "LSINDX01";
inline constexpr std::string_view kHeadMagic = "LSHEAD01";
inline constexpr std::string_view kBranchMagic = "LSBRCH01";
inline constexpr std::string_view kBoundaryMagic = "LSBNDR01";
inline constexpr size_t kFrameOverheadBytes = 8 + 4 + 8;

std::vector<uint8_t> SealFrame(std::string_view magic, ConstBytes body);
// The body, borrowed from `framed`. kFormatTooNew if only the format's number differs; kDataLoss
// (kChecksum) if the bytes are truncated, longer than they say, or changed.
Result<ConstBytes> OpenFrame(std::string_view magic, ConstBytes framed);

}  // namespace lakestream

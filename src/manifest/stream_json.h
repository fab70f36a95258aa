// stream.json: what is fixed when a stream is created (docs/format/manifest.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "lakestream/status.h"
#include "lakestream/stream.h"

namespace lakestream {

std::string EncodeStreamJson(const StreamInfo& info);
// kDataLoss if it is not a valid stream.json; kFormatTooNew if its format or one of its features is
// unknown here.
Result<StreamInfo> DecodeStreamJson(std::string_view text);

// The 16 bytes of a stream's UUID. The UUID must be 32 hex digits (as DecodeStreamJson checks).
std::array<uint8_t, 16> UuidBytes(const StreamInfo& info);

}  // namespace lakestream

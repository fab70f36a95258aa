// The version of this library, and of the formats that it writes.
#pragma once
#include <cstdint>

namespace lakestream {
inline constexpr char kVersion[] = "0.1.0";
// Readers refuse streams with a larger number (kFormatTooNew).
inline constexpr uint32_t kFormatVersion = 1;
}  // namespace lakestream

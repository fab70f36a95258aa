// XXH3 checksums: one family for everything that is stored (docs/decisions has the reason).
#pragma once

#include <array>
#include <cstdint>

#include "lakestream/types.h"

namespace lakestream {

// XXH3, 64 bits, seed 0.
uint64_t Checksum64(ConstBytes bytes);

using Hash128 = std::array<uint8_t, 16>;
// XXH3, 128 bits, seed 0, in xxHash's canonical (big-endian) byte order.
Hash128 HashBytes128(ConstBytes bytes);

}  // namespace lakestream

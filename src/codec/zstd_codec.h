// zstd of whole byte strings.
#pragma once

#include <cstdint>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {

// One zstd frame at `level` (1..19).
Result<std::vector<uint8_t>> ZstdCompress(ConstBytes bytes, int level);
// Fills exactly `out`; kDataLoss if the frame is invalid or of another size.
Status ZstdDecompress(ConstBytes frame, MutableBytes out);

}  // namespace lakestream

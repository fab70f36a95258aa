// Synthetic TGBs: what `produce` writes and `consume --check` recognises.
#pragma once

#include <cstdint>
#include <string>

#include "lakestream/tgb.h"

namespace lakestream::cli {

// TGB number `item` of a producer: each slice has the tensors "item" (U64 scalar), "producer"
// (text) and "data" (U8, a little more or less than `slice_bytes` if `spread` > 0: uniform in
// slice_bytes * [1 - spread, 1 + spread]). Everything follows from (producer, item, dp, cp).
Result<Tgb> MakeSynthetic(const Mesh& mesh, const std::string& producer, uint64_t item,
                          uint64_t slice_bytes, double spread);

// kDataLoss saying what differs, unless the slice is exactly what MakeSynthetic makes for its item
// at (dp, cp).
Status CheckSynthetic(const SliceView& slice, uint32_t dp, uint32_t cp);

}  // namespace lakestream::cli

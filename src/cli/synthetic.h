// Synthetic TGBs: what `produce` writes and `consume --check` recognises.
#pragma once

#include <cstdint>
#include <string>

#include "lakestream/stream.h"
#include "lakestream/tgb.h"

namespace lakestream::cli {

// TGB number `item` of a producer: each slice has the tensors "item" (U64 scalar), "producer"
// (text) and "data" (U8, a little more or less than `slice_bytes` if `spread` > 0: uniform in
// slice_bytes * [1 - spread, 1 + spread]). Everything follows from (producer, item, dp, cp). In a
// stream whose slices can be shared out, the rows of "data" are the samples.
Result<Tgb> MakeSynthetic(const StreamSpec& spec, const std::string& producer, uint64_t item,
                          uint64_t slice_bytes, double spread);

// Which slice of the stream's mesh, and which part of its samples.
struct SlicePart {
  uint32_t dp = 0;
  uint32_t cp = 0;
  uint32_t part = 0;
  uint32_t parts = 1;
};
// kDataLoss saying what differs, unless the slice is exactly what MakeSynthetic makes there for its
// item.
Status CheckSynthetic(const SliceView& slice, const SlicePart& at);

}  // namespace lakestream::cli

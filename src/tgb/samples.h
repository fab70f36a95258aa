// Samples: the rows of a slice, for jobs with more DP ranks than the stream's grid: several ranks
// then share the samples of one written slice.
//
// A slice declares them in its metadata: "lakestream.samples" = "n". Each tensor then has n rows
// (first dimension), or is a ragged field of n values, or belongs to the slice as a whole
// ("lakestream.whole.x" is there, with any value), and every part gets it.
#pragma once

#include <cstdint>

#include "lakestream/tgb.h"

namespace lakestream {

// kInvalidArgument naming the tensor, unless `slice` declares samples, a multiple of `multiple`,
// and each tensor keeps to that. Reads offsets, not data.
Status CheckSamples(const SliceView& slice, uint32_t multiple);

// The samples [n * part / parts, n * (part + 1) / parts) of a slice of n. Tensors still point into
// the payload; only offsets are made anew (they count from 0), in `derived`. kDataLoss unless the
// slice passes CheckSamples(slice, parts).
Result<SliceView> SelectSamples(SliceView slice, uint32_t part, uint32_t parts);

}  // namespace lakestream

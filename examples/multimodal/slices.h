// Slices: how the parts of items lie in the tensors of one (dp, cp) slice.
//
//   item_ids U64 [n]   starts I64 [n]: first unit of the part in its sequence
//   lengths  I64 [n]: units of the whole sequence    hashes U64 [n]: ContentHash of the part
// and one ragged field, whose values lie end to end ("#offsets" has n + 1 of them, in units):
//   text:  tokens I32 [units]           image: pixels U8 [rows, 224, 3]
//   video: frames U8 [frames, 90, 160, 3]
// The metadata says the kind.
#pragma once

#include <cstdint>
#include <vector>

#include "lakestream/tgb.h"
#include "multimodal/packing.h"

namespace multimodal {

// Encodes a packed step for the whole mesh. A row without items gives slices of empty tensors.
lakestream::Result<lakestream::Tgb> BuildTgb(const PackedStep& step, Kind kind,
                                             const lakestream::Mesh& mesh);

// One part of an item as a rank finds it. Bytes are borrowed from the slice.
struct Part {
  uint64_t id = 0;
  uint64_t start = 0;
  uint64_t length = 0;
  uint64_t hash = 0;  // as the producer stated it
  lakestream::ConstBytes bytes;
};
struct SliceParts {
  Kind kind = Kind::kText;
  std::vector<Part> parts;
};
// kDataLoss if the tensors do not fit together.
lakestream::Result<SliceParts> ReadParts(const lakestream::SliceView& slice);

}  // namespace multimodal

// Packing: uneven samples into the balanced data-parallel slices of one TGB.
//
// Rule, the same in the checker: take the next items in order as long as longest-first placement
// keeps every dp slice within the budget. Longest-first: items by (units descending, position
// ascending), each to the dp slice with the fewest units so far (the lowest index among equals).
// Inside a slice items stand in ascending order. So what TGB n holds depends on the items alone,
// and the committed items of a producer are always a prefix of its sequence: the cursor is one
// number.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lakestream/status.h"
#include "multimodal/item.h"

namespace multimodal {

// Largest number of units of one dp slice, both context-parallel parts together.
uint64_t SliceBudget(Kind kind);

// Positions of the items by dp slice, or an empty result if they do not fit into `budget`. An item
// longer than the budget fits only alone.
std::vector<std::vector<size_t>> PlaceLongestFirst(const std::vector<uint64_t>& units, uint32_t dp,
                                                   uint64_t budget);

struct PackedStep {
  std::vector<Item> items;                // in order; ids are consecutive
  std::vector<std::vector<size_t>> rows;  // by dp: positions in `items`
  uint64_t next = 0;                      // the cursor behind it
};

// Cuts a source's items [0, limit) into steps. Confined to one thread.
class Packer {
 public:
  // Starts at item `next`. `source` is borrowed.
  Packer(ItemSource* source, Kind kind, uint32_t dp, uint64_t next, uint64_t limit)
      : source_(source), kind_(kind), dp_(dp), next_(next), limit_(limit) {}

  bool done() const { return next_ >= limit_; }
  // The next step; call only if !done(). Errors are the source's.
  lakestream::Result<PackedStep> Next();

 private:
  ItemSource* source_;
  Kind kind_;
  uint32_t dp_;
  uint64_t next_;
  uint64_t limit_;
  std::vector<Item> ahead_;  // loaded, but not packed: at most one
};

}  // namespace multimodal

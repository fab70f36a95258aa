#include "multimodal/packing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "multimodal/image_source.h"

namespace multimodal {

using lakestream::Result;

uint64_t SliceBudget(Kind kind) {
  switch (kind) {
    case Kind::kVideo:
      return 16;  // frames
    case Kind::kImage:
      return 3 * kImageSide;  // rows: three pictures
    case Kind::kText:
      return 8192;  // tokens
  }
  return 1;
}

std::vector<std::vector<size_t>> PlaceLongestFirst(const std::vector<uint64_t>& units, uint32_t dp,
                                                   uint64_t budget) {
  std::vector<size_t> order(units.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return units[a] > units[b]; });
  std::vector<std::vector<size_t>> rows(dp);
  std::vector<uint64_t> load(dp, 0);
  for (size_t item : order) {
    const size_t row =
        static_cast<size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[row] += units[item];
    if (load[row] > budget && units.size() > 1) return {};
    rows[row].push_back(item);
  }
  for (auto& row : rows) std::sort(row.begin(), row.end());
  return rows;
}

Result<PackedStep> Packer::Next() {
  PackedStep step;
  std::vector<uint64_t> units;
  while (true) {
    if (ahead_.empty()) {
      const uint64_t k = next_ + step.items.size();
      if (k >= limit_) break;
      LS_ASSIGN_OR_RETURN(Item item, source_->Load(k));
      ahead_.push_back(std::move(item));
    }
    units.push_back(ahead_.front().units);
    auto rows = PlaceLongestFirst(units, dp_, SliceBudget(kind_));
    if (rows.empty()) break;
    step.rows = std::move(rows);
    step.items.push_back(std::move(ahead_.front()));
    ahead_.clear();
  }
  next_ += step.items.size();
  step.next = next_;
  return step;
}

}  // namespace multimodal

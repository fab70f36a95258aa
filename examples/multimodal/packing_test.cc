#include "multimodal/packing.h"

#include <gtest/gtest.h>

#include <set>

#include "multimodal/prng.h"

namespace multimodal {
namespace {

using lakestream::Result;

class UnevenSource final : public ItemSource {
 public:
  Result<Item> Load(uint64_t k) override {
    SplitMix64 random(k);
    Item item;
    item.id = ItemId(Kind::kText, k);
    item.units = 1 + random.Below(SliceBudget(Kind::kText) / 4);
    return item;
  }
};

TEST(PackingTest, EveryItemIsPackedOnceInOrderAndWithinTheBudget) {
  UnevenSource source;
  Packer packer(&source, Kind::kText, 4, 0, 500);
  uint64_t next = 0;
  while (!packer.done()) {
    auto step = packer.Next();
    ASSERT_TRUE(step.ok());
    std::set<size_t> placed;
    for (const auto& row : step->rows) {
      uint64_t units = 0;
      for (const size_t position : row) {
        units += step->items[position].units;
        EXPECT_TRUE(placed.insert(position).second);
      }
      EXPECT_LE(units, SliceBudget(Kind::kText));
    }
    EXPECT_EQ(placed.size(), step->items.size());
    for (const Item& item : step->items) EXPECT_EQ(item.id, ItemId(Kind::kText, next++));
    EXPECT_EQ(step->next, next);
  }
  EXPECT_EQ(next, 500u);
}

TEST(PackingTest, GoingOnAtACursorPacksTheSameSteps) {
  UnevenSource source;
  std::vector<uint64_t> cursors = {0};
  for (Packer packer(&source, Kind::kText, 4, 0, 200); !packer.done();)
    cursors.push_back(packer.Next()->next);
  for (size_t i = 0; i + 1 < cursors.size(); ++i) {
    Packer resumed(&source, Kind::kText, 4, cursors[i], 200);
    EXPECT_EQ(resumed.Next()->next, cursors[i + 1]);
  }
}

TEST(PackingTest, WhatDoesNotFitIsNotPlaced) {
  EXPECT_TRUE(PlaceLongestFirst({5, 5, 5}, 2, 8).empty());
  EXPECT_EQ(PlaceLongestFirst({1, 4, 3}, 2, 4), (std::vector<std::vector<size_t>>{{1}, {0, 2}}));
}

TEST(CpTest, ASequenceIsCutWithoutGapsLongerPartsFirst) {
  for (uint64_t units = 0; units < 20; ++units) {
    for (uint32_t cp = 1; cp <= 4; ++cp) {
      EXPECT_EQ(CpStart(units, cp, 0), 0u);
      EXPECT_EQ(CpStart(units, cp, cp), units);
      for (uint32_t p = 0; p + 1 < cp; ++p) {
        EXPECT_GE(CpStart(units, cp, p + 1) - CpStart(units, cp, p),
                  CpStart(units, cp, p + 2) - CpStart(units, cp, p + 1));
      }
    }
  }
}

// The first numbers of SplitMix64 from 0, as published with it.
TEST(PrngTest, IsSplitMix64) {
  SplitMix64 random(0);
  EXPECT_EQ(random.Next(), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(random.Next(), 0x6E789E6AA1B965F4u);
  EXPECT_EQ(EpochOrder(1, 1, 0, 50).size(), 50u);
  EXPECT_NE(EpochOrder(1, 1, 0, 50), EpochOrder(1, 1, 1, 50));
}

}  // namespace
}  // namespace multimodal

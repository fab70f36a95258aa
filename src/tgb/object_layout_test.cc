#include "tgb/object_layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace lakestream {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

std::vector<uint8_t> Encoded(const ObjectLayout& layout) {
  ByteWriter writer;
  layout.Encode(writer);
  return writer.Take();
}

std::optional<ObjectLayout> Decoded(ConstBytes bytes, const Mesh& mesh) {
  ByteReader reader(bytes);
  std::optional<ObjectLayout> layout = ObjectLayout::Decode(reader, mesh);
  EXPECT_EQ(layout.has_value(), reader.ok());
  if (!reader.AtEnd()) return std::nullopt;
  return layout;
}

// Varints, as a hostile layout.
std::vector<uint8_t> Varints(std::initializer_list<uint64_t> values) {
  ByteWriter writer;
  for (const uint64_t value : values) writer.Varint(value);
  return writer.Take();
}

std::vector<uint64_t> UnevenSizes(size_t count) {
  std::vector<uint64_t> sizes;
  uint64_t seed = 12345;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    sizes.push_back(kFrameUnit * (1 + (seed >> 60) / 5));
  }
  return sizes;
}

TEST(ObjectLayoutTest, EqualFramesTakeOneRun) {
  const Mesh mesh{4, 2};
  const std::vector<uint64_t> sizes(8 * 100, 65536);
  const auto layout = ObjectLayout::FromFrameSizes(mesh, 100, sizes);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->runs, (std::vector<FrameRun>{{800, 1024}}));
  EXPECT_EQ(layout->FrameBytes(), 800u * 65536);
  EXPECT_LE(Encoded(*layout).size(), 6u);
}

TEST(ObjectLayoutTest, EveryRangeIsThePrefixSumOfTheSizes) {
  const Mesh mesh{3, 2};
  const uint32_t tgb_count = 7;
  const std::vector<uint64_t> sizes = UnevenSizes(6 * tgb_count);
  const auto layout = ObjectLayout::FromFrameSizes(mesh, tgb_count, sizes);
  ASSERT_TRUE(layout.ok());
  const FrameTable table(*layout, mesh);
  uint64_t offset = kObjectHeaderBytes;
  size_t frame = 0;
  for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
    for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
      const uint64_t rank_offset = offset;
      for (uint32_t g = 0; g < tgb_count; ++g) {
        const ByteRange expected{offset, sizes[frame++]};
        EXPECT_EQ(layout->FrameRange(mesh, g, dp, cp), expected);
        EXPECT_EQ(table.FrameRange(g, dp, cp), expected);
        offset = expected.end();
      }
      const ByteRange rank{rank_offset, offset - rank_offset};
      EXPECT_EQ(layout->RankRange(mesh, dp, cp), rank);
      EXPECT_EQ(table.RankRange(dp, cp), rank);
    }
  }
  EXPECT_EQ(table.frame_bytes(), offset - kObjectHeaderBytes);
  EXPECT_EQ(layout->FrameBytes(), offset - kObjectHeaderBytes);
}

TEST(ObjectLayoutTest, TheStepsOfAnObjectAddUpToItsFrames) {
  const Mesh mesh{3, 2};
  const auto layout = ObjectLayout::FromFrameSizes(mesh, 5, UnevenSizes(30));
  const FrameTable table(*layout, mesh);
  uint64_t bytes = 0;
  for (uint32_t g = 0; g < 5; ++g) bytes += table.StepBytes(g);
  EXPECT_EQ(bytes, layout->FrameBytes());
}

TEST(ObjectLayoutTest, SomeTgbsOfOnePositionAreOneRange) {
  const Mesh mesh{2, 2};
  const auto layout = ObjectLayout::FromFrameSizes(mesh, 6, UnevenSizes(24));
  const FrameTable table(*layout, mesh);
  const ByteRange range = table.FramesRange(2, 3, 1, 0);
  EXPECT_EQ(range.offset, table.FrameRange(2, 1, 0).offset);
  EXPECT_EQ(range.end(), table.FrameRange(4, 1, 0).end());
  EXPECT_EQ(table.FramesRange(6, 0, 1, 1).size, 0u);
}

TEST(ObjectLayoutTest, HandlesObjectsFarLargerThanFourGiB) {
  const Mesh mesh{2, 1};
  const std::vector<uint64_t> sizes = {5 * kGiB, 5 * kGiB, 7 * kGiB + 64, 7 * kGiB};
  const auto layout = ObjectLayout::FromFrameSizes(mesh, 2, sizes);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->FrameBytes(), 24 * kGiB + 64);
  EXPECT_EQ(layout->FrameRange(mesh, 1, 1, 0), (ByteRange{17 * kGiB + 128, 7 * kGiB}));
  EXPECT_EQ(FrameTable(*layout, mesh).FrameRange(1, 1, 0), (ByteRange{17 * kGiB + 128, 7 * kGiB}));
  EXPECT_EQ(Decoded(Encoded(*layout), mesh), *layout);
}

TEST(ObjectLayoutTest, RefusesMoreThanTheLimitsAllow) {
  const auto reason = [](const Mesh& mesh, uint32_t tgbs, std::vector<uint64_t> sizes) {
    const auto layout = ObjectLayout::FromFrameSizes(mesh, tgbs, sizes);
    EXPECT_EQ(layout.status().code(), Code::kInvalidArgument);
    return layout.status().reason();
  };
  EXPECT_EQ(reason({1, 1}, 2, {kFrameBytesLimit / 2, kFrameBytesLimit / 2}), Reason::kTooLarge);
  EXPECT_EQ(reason({1, 1}, 1, {UINT64_MAX - 63}), Reason::kTooLarge);
  EXPECT_EQ(reason({1, 1}, 0, {}), Reason::kTooLarge);
  EXPECT_EQ(reason({1, 1}, 4097, std::vector<uint64_t>(4097, 64)), Reason::kTooLarge);
  EXPECT_EQ(reason({1, 1}, 2, {64}), Reason::kNone);
  EXPECT_EQ(reason({1, 1}, 1, {0}), Reason::kNone);
  EXPECT_EQ(reason({1, 1}, 1, {65}), Reason::kNone);
  EXPECT_EQ(reason({0, 1}, 1, {}), Reason::kMeshMismatch);
  EXPECT_EQ(reason({65536, 65536}, 1, {}), Reason::kMeshMismatch);
}

TEST(ObjectLayoutTest, RoundTripsThroughItsBytes) {
  const Mesh mesh{4, 4};
  for (uint32_t tgb_count : {1u, 2u, 33u}) {
    const auto layout = ObjectLayout::FromFrameSizes(mesh, tgb_count, UnevenSizes(16 * tgb_count));
    ASSERT_TRUE(layout.ok());
    const std::vector<uint8_t> bytes = Encoded(*layout);
    EXPECT_EQ(bytes.size(), layout->EncodedBytes());
    EXPECT_EQ(Decoded(bytes, mesh), *layout);
  }
}

TEST(ObjectLayoutTest, OnlyCanonicalLayoutsThatFitTheMeshDecode) {
  const Mesh mesh{2, 1};
  constexpr uint64_t kUnits = kFrameBytesLimit / kFrameUnit;
  ASSERT_TRUE(Decoded(Varints({3, 2, 5, 1, 1, 2}), mesh));
  ASSERT_TRUE(Decoded(Varints({1, 2, 1, 1, 1, kUnits - 2}), mesh));
  const std::vector<std::vector<uint8_t>> bad = {
      Varints({0, 0}),                        // no TGB
      Varints({4097, 1, 8194, 1}),            // too many TGBs
      Varints({3, 1, 5, 1}),                  // too few frames
      Varints({3, 1, 7, 1}),                  // too many frames
      Varints({3, 2, 3, 1, 3, 1}),            // neighbours with the same size
      Varints({3, 2, 6, 1, 0, 2}),            // an empty run
      Varints({3, 1, 6, 0}),                  // frames of no size
      Varints({1, 2, 1, 1, 1, kUnits - 1}),   // too many bytes
      Varints({1, 1, 2, uint64_t{1} << 63}),  // count * units wraps to 0
      Varints({1, 1, 2, UINT64_MAX}),         //
      Varints({1, UINT64_MAX, 2, 1}),         // more runs than bytes
      Varints({1, 3, 1, 1, 1, 2}),            // a run is missing
      {0x81, 0x00, 1, 2, 1},                  // a varint with a needless byte
  };
  for (size_t i = 0; i < bad.size(); ++i) EXPECT_FALSE(Decoded(bad[i], mesh)) << i;
  EXPECT_FALSE(Decoded(Varints({1, 1, 1, 1}), {0, 4})) << "an unusable mesh";
  EXPECT_FALSE(Decoded(Varints({1, 1, 1, 1}), {65536, 65536})) << "a mesh that wraps";
}

TEST(ObjectLayoutTest, EveryTruncationFails) {
  const Mesh mesh{4, 2};
  const std::vector<uint8_t> bytes =
      Encoded(*ObjectLayout::FromFrameSizes(mesh, 3, UnevenSizes(24)));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Decoded(ConstBytes(bytes).first(size), mesh)) << size;
  }
}

TEST(ObjectLayoutTest, WhateverDecodesAfterABitFlipEncodesToTheSameBytes) {
  const Mesh mesh{4, 2};
  std::vector<uint8_t> bytes = Encoded(*ObjectLayout::FromFrameSizes(mesh, 3, UnevenSizes(24)));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= 1u << (bit % 8);
    const auto layout = Decoded(bytes, mesh);
    if (layout) {
      EXPECT_EQ(Encoded(*layout), bytes) << bit;
    }
    bytes[bit / 8] ^= 1u << (bit % 8);
  }
}

}  // namespace
}  // namespace lakestream

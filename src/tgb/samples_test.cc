#include "tgb/samples.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/text.h"

namespace lakestream {
namespace {

ConstBytes BytesOf(const std::vector<int32_t>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * 4};
}

std::vector<int32_t> Ints(const TensorView& tensor) {
  std::vector<int32_t> values(tensor.data.size() / 4);
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

// Four samples: rows of two numbers, a string each, and one number for all.
SliceView FourSamples(SliceMetadata metadata = {{"lakestream.samples", "4"},
                                                {"lakestream.whole.scale", ""}}) {
  static const std::vector<int32_t> rows = {0, 1, 10, 11, 20, 21, 30, 31};
  static const std::vector<int32_t> scale = {7};
  const std::vector<std::string> words = {"a", "", "bcd", "ef"};
  RaggedStorage storage;
  std::vector<TensorView> tensors = StringTensors("word", words, storage);
  tensors.push_back({"row", DType::kI32, {4, 2}, BytesOf(rows)});
  tensors.push_back({"scale", DType::kI32, {}, BytesOf(scale)});
  auto payload = EncodeSlice(tensors, metadata);
  EXPECT_TRUE(payload.ok()) << payload.status();
  auto slice = DecodeSlice(*payload);
  EXPECT_TRUE(slice.ok()) << slice.status();
  return *slice;
}

TEST(SamplesTest, PartsHoldTheRowsInOrderAndWhatBelongsToAll) {
  for (uint32_t part : {0u, 1u}) {
    auto half = SelectSamples(FourSamples(), part, 2);
    ASSERT_TRUE(half.ok()) << half.status();
    const auto base = static_cast<int32_t>(20 * part);
    EXPECT_EQ(Ints(*half->Find("row")),
              (std::vector<int32_t>{base, base + 1, base + 10, base + 11}));
    EXPECT_EQ(half->Find("row")->shape, (std::vector<uint64_t>{2, 2}));
    EXPECT_EQ(Ints(*half->Find("scale")), std::vector<int32_t>{7});
    const auto words = ReadStrings(*half, "word");
    ASSERT_TRUE(words.ok()) << words.status();
    EXPECT_EQ(*words, part == 0 ? (std::vector<std::string>{"a", ""})
                                : (std::vector<std::string>{"bcd", "ef"}));
    EXPECT_EQ(half->metadata.at("lakestream.samples"), "2");
  }
  auto last = SelectSamples(FourSamples(), 3, 4);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(*ReadStrings(*last, "word"), std::vector<std::string>{"ef"});
}

TEST(SamplesTest, APartOfAPartIsThePartOfTheWhole) {
  auto quarter = SelectSamples(*SelectSamples(FourSamples(), 1, 2), 0, 2);
  ASSERT_TRUE(quarter.ok()) << quarter.status();
  EXPECT_EQ(Ints(*quarter->Find("row")), Ints(*SelectSamples(FourSamples(), 2, 4)->Find("row")));
  EXPECT_EQ(*ReadStrings(*quarter, "word"), std::vector<std::string>{"bcd"});
}

TEST(SamplesTest, NoSamplesAtAllCanBeSharedOut) {
  auto payload = EncodeSlice({}, {{"lakestream.samples", "0"}});
  auto slice = DecodeSlice(*payload);
  EXPECT_TRUE(SelectSamples(*slice, 1, 3).ok());
}

TEST(SamplesTest, WhatCannotBeSharedOutIsNamed) {
  EXPECT_TRUE(CheckSamples(FourSamples(), 4).ok());
  const auto refused = [](const SliceView& slice, uint32_t multiple) {
    EXPECT_EQ(SelectSamples(slice, 0, multiple).status().code(), Code::kDataLoss);
    return CheckSamples(slice, multiple).code();
  };
  EXPECT_EQ(refused(FourSamples(), 3), Code::kInvalidArgument);
  EXPECT_EQ(refused(FourSamples({}), 2), Code::kInvalidArgument);
  EXPECT_EQ(refused(FourSamples({{"lakestream.samples", "4x"}}), 2), Code::kInvalidArgument);
  // "scale" has no rows and is not marked.
  EXPECT_EQ(refused(FourSamples({{"lakestream.samples", "4"}}), 2), Code::kInvalidArgument);
  EXPECT_EQ(refused(FourSamples({{"lakestream.samples", "8"}, {"lakestream.whole.scale", ""}}), 2),
            Code::kInvalidArgument);
}

TEST(SamplesTest, OffsetsThatDoNotAscendAreRefused) {
  const std::vector<int64_t> offsets = {0, 3, 2, 4};
  const std::vector<int32_t> values = {1, 2, 3, 4};
  const ConstBytes bytes(reinterpret_cast<const uint8_t*>(offsets.data()), 32);
  const TensorView tensors[] = {{"x", DType::kI32, {4}, BytesOf(values)},
                                {"x#offsets", DType::kI64, {4}, bytes}};
  auto slice = DecodeSlice(*EncodeSlice(tensors, {{"lakestream.samples", "3"}}));
  ASSERT_TRUE(slice.ok());
  EXPECT_EQ(CheckSamples(*slice, 3).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace lakestream

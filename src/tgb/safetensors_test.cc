#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "lakestream/tgb.h"
#include "tgb/safetensors_header.h"

namespace lakestream {
namespace {

constexpr DType kAllDTypes[] = {DType::kBool,   DType::kU8,  DType::kI8,  DType::kF8E4M3,
                                DType::kF8E5M2, DType::kI16, DType::kU16, DType::kF16,
                                DType::kBF16,   DType::kI32, DType::kU32, DType::kF32,
                                DType::kI64,    DType::kU64, DType::kF64, DType::kC64};

std::vector<uint8_t> Counting(size_t size) {
  std::vector<uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  return bytes;
}

// A payload of any header text and `area` bytes of data.
Buffer Payload(std::string_view json, size_t area = 0) {
  std::vector<uint8_t> bytes(8);
  const uint64_t size = json.size();
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes.insert(bytes.end(), json.begin(), json.end());
  bytes.resize(bytes.size() + area);
  return Buffer::FromVector(std::move(bytes));
}

void ExpectSame(const TensorView& a, const TensorView& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(AsText(a.data), AsText(b.data));
}

TEST(DTypeTest, NamesAndSizesAreThoseOfSafetensors) {
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(DTypeFromName(DTypeName(dtype)), dtype);
    EXPECT_GE(DTypeBytes(dtype), 1u);
  }
  EXPECT_EQ(DTypeName(DType::kF8E4M3), "F8_E4M3");
  EXPECT_EQ(DTypeBytes(DType::kBF16), 2u);
  EXPECT_EQ(DTypeFromName("bf16"), std::nullopt);
  EXPECT_EQ(DTypeBytes(static_cast<DType>(99)), 0u);
  EXPECT_EQ(DTypeName(static_cast<DType>(-1)), "");
}

TEST(SafetensorsTest, EveryElementTypeRoundTrips) {
  const std::vector<uint8_t> data = Counting(6 * 8);
  std::vector<TensorView> tensors;
  for (const DType dtype : kAllDTypes) {
    tensors.push_back({std::string(DTypeName(dtype)),
                       dtype,
                       {2, 3},
                       ConstBytes(data).first(6 * DTypeBytes(dtype))});
  }
  const auto slice = DecodeSlice(*EncodeSlice(tensors));
  ASSERT_TRUE(slice.ok()) << slice.status();
  ASSERT_EQ(slice->tensors.size(), tensors.size());
  for (const TensorView& tensor : tensors) ExpectSame(*slice->Find(tensor.name), tensor);
  EXPECT_EQ(slice->Find("other"), nullptr);
}

TEST(SafetensorsTest, ShapesWithoutDimensionsOrElementsRoundTrip) {
  const std::vector<uint8_t> data = Counting(8);
  const std::vector<TensorView> tensors = {
      {"scalar", DType::kF64, {}, data},
      {"none", DType::kI64, {0}, {}},
      {"empty", DType::kU8, {5, 0, 7}, {}},
      {"one", DType::kU8, {1, 1, 1, 1}, ConstBytes(data).first(1)}};
  const auto slice = DecodeSlice(*EncodeSlice(tensors));
  ASSERT_TRUE(slice.ok()) << slice.status();
  for (const TensorView& tensor : tensors) ExpectSame(*slice->Find(tensor.name), tensor);
}

TEST(SafetensorsTest, ASliceMayHaveNoTensors) {
  const auto payload = EncodeSlice({});
  ASSERT_TRUE(payload.ok());
  const auto slice = DecodeSlice(*payload);
  ASSERT_TRUE(slice.ok());
  EXPECT_TRUE(slice->tensors.empty());
  EXPECT_TRUE(slice->metadata.empty());
}

TEST(SafetensorsTest, EachTensorIsAlignedToItsElements) {
  const std::vector<uint8_t> data = Counting(24);
  const std::vector<TensorView> tensors = {{"a", DType::kU8, {3}, ConstBytes(data).first(3)},
                                           {"b", DType::kI16, {3}, ConstBytes(data).first(6)},
                                           {"c", DType::kF64, {3}, data},
                                           {"d", DType::kF32, {1}, ConstBytes(data).first(4)}};
  const auto slice = DecodeSlice(*EncodeSlice(tensors));
  const auto address = [](const auto* p) { return reinterpret_cast<uintptr_t>(p); };
  EXPECT_EQ(address(slice->payload.data()) % 64, 0u);
  EXPECT_EQ(address(slice->tensors[0].data.data()) % 64, 0u) << "the tensor area";
  std::string order;
  for (const TensorView& tensor : slice->tensors) {
    EXPECT_EQ(address(tensor.data.data()) % DTypeBytes(tensor.dtype), 0u) << tensor.name;
    order += tensor.name;
  }
  EXPECT_EQ(order, "cdba");
}

TEST(SafetensorsTest, TheOrderOfTheTensorsGivenDoesNotMatter) {
  const std::vector<uint8_t> data = Counting(4);
  const TensorView a = {"a", DType::kU8, {4}, data};
  const TensorView b = {"b", DType::kF32, {}, data};
  EXPECT_EQ(EncodeSlice(std::vector{a, b})->text(), EncodeSlice(std::vector{b, a})->text());
}

TEST(SafetensorsTest, AnyTextSurvivesInNamesAndMetadata) {
  std::string control;
  for (char c = 0; c < 0x20; ++c) control.push_back(c);
  const SliceMetadata metadata = {{"", ""},
                                  {"quote\"back\\slash/", control},
                                  {"\xc5\xbe \xe6\xb9\x96 \xf0\x9f\x8c\x8a \x7f", "{\"a\":[1]}"}};
  const std::vector<TensorView> tensors = {{"x\n\"\\\xf0\x9f\x8c\x8a", DType::kU8, {0}, {}},
                                           {"", DType::kU8, {0}, {}}};
  const auto slice = DecodeSlice(*EncodeSlice(tensors, metadata));
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_EQ(slice->metadata, metadata);
  EXPECT_NE(slice->Find(tensors[0].name), nullptr);
  EXPECT_NE(slice->Find(""), nullptr);
}

TEST(SafetensorsTest, RefusesTensorsThatCannotBeStored) {
  const std::vector<uint8_t> data = Counting(8);
  const auto code = [](std::vector<TensorView> tensors) {
    return EncodeSlice(tensors).status().code();
  };
  EXPECT_EQ(code({{"x", DType::kU8, {8}, data}, {"x", DType::kF64, {}, data}}),
            Code::kInvalidArgument);
  EXPECT_EQ(code({{"__metadata__", DType::kU8, {8}, data}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"x", DType::kU8, {7}, data}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"x", DType::kF64, {2}, data}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"x", DType::kU16, {uint64_t{1} << 63}, {}}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"x", DType::kU8, {1ull << 32, 1ull << 32}, {}}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"x", static_cast<DType>(16), {8}, data}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"x", DType::kU8, std::vector<uint64_t>(65, 1), data}}), Code::kInvalidArgument);
  EXPECT_EQ(code({{"\xff", DType::kU8, {8}, data}}), Code::kInvalidArgument);
  EXPECT_EQ(EncodeSlice({}, {{"k", "\xed\xa0\x80"}}).status().code(), Code::kInvalidArgument);
}

TEST(SafetensorsTest, ReadsWhatThePythonPackageWrites) {
  // safetensors.numpy.save({"a": np.arange(3, dtype=np.int32), "b": np.float64(0.5)}, {"k": "v"})
  const std::string json =
      R"({"__metadata__":{"k":"v"},"b":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"I32","shape":[3],"data_offsets":[8,20]}}  )";
  const auto slice = DecodeSlice(Payload(json, 20));
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_EQ(slice->metadata.at("k"), "v");
  EXPECT_EQ(slice->tensors[0].name, "b");
  EXPECT_EQ(slice->Find("a")->shape, std::vector<uint64_t>{3});
}

TEST(SafetensorsTest, TensorsComeInTheOrderOfTheirBytes) {
  const auto slice = DecodeSlice(Payload(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
                                         R"("z":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},)"
                                         R"("a":{"shape":[1],"data_offsets":[0,1],"dtype":"U8"}})",
                                         3));
  ASSERT_TRUE(slice.ok()) << slice.status();
  std::string order;
  for (const TensorView& tensor : slice->tensors) order += tensor.name;
  EXPECT_EQ(order, "azb");
}

// A tensor "x" of two U8, with the given offsets.
std::string X(std::string_view offsets) {
  return std::string(R"("x":{"dtype":"U8","shape":[2],"data_offsets":)").append(offsets) + "}";
}

TEST(SafetensorsTest, InvalidPayloadsAreDataLoss) {
  const std::string y = R"("y":{"dtype":"U8","shape":[2],"data_offsets":[2,4]})";
  ASSERT_TRUE(DecodeSlice(Payload("{" + X("[0,2]") + "," + y + "}", 4)).ok());
  const std::vector<std::pair<std::string, size_t>> bad = {
      {"", 0},
      {"[]", 0},
      {"null", 0},
      {"{", 0},
      {"{}x", 0},
      {" {}", 0},
      {"\xef\xbb\xbf{}", 0},                           // a byte order mark
      {std::string("{}\0garbage", 10), 0},             // behind a NUL
      {"{}", 1},                                       // bytes that no tensor covers
      {"{" + X("[0,2]") + "}", 1},                     // beyond the end
      {"{" + X("[0,2]") + "}", 3},                     // a hole at the end
      {"{" + X("[1,3]") + "}", 3},                     // a hole at the start
      {"{" + X("[0,3]") + "}", 3},                     // not what the shape needs
      {"{" + X("[2,0]") + "}", 2},                     // backwards
      {"{" + X("[0,2]") + "," + X("[2,4]") + "}", 4},  // duplicate name
      {"{" + X("[1,3]") + "," + y + "}", 4},           // overlap
      {"{" + X("[0,2,4]") + "}", 2},                   // three offsets
      {"{" + X("[0]") + "}", 2},                       // one
      {"{" + X("[-0,2]") + "}", 2},                    //
      {"{" + X("[0,2.0]") + "}", 2},                   // a fraction
      {"{" + X("[0,99999999999999999999]") + "}", 2},  // over 64 bits
      {"{" + X("[0,[2]]") + "}", 2},                   // nested
      {"{" + X("{}") + "}", 2},                        //
      {"{" + X("\"0,2\"") + "}", 2},                   //
      {"{" + X("[0,2],\"extra\":1") + "}", 2},         // unknown key
      {"{" + X("[0,2],\"shape\":[2]") + "}", 2},       // duplicate key
      {R"({"x":{"dtype":"U8","shape":[2]}})", 2},      // no offsets
      {R"({"x":{"dtype":8,"shape":[2],"data_offsets":[0,2]}})", 2},
      {R"({"x":[0,2]})", 2},
      {R"({"x":"U8"})", 0},
      {R"({"x":null})", 0},
      {R"({"__metadata__":{"k":1}})", 0},
      {R"({"__metadata__":{"k":{}}})", 0},
      {R"({"__metadata__":{"k":"v","k":"w"}})", 0},
      {R"({"__metadata__":{},"__metadata__":{}})", 0},
      {R"({"__metadata__":"v"})", 0},
      {R"({"x":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0},
      {"{\"\xff\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0},
      {"{\"a\":" + std::string(100000, '['), 0},
      {"{\"a\":" + std::string(100000, '{'), 0},
  };
  for (const auto& [json, area] : bad) {
    EXPECT_EQ(DecodeSlice(Payload(json, area)).status().code(), Code::kDataLoss) << json;
  }
}

TEST(SafetensorsTest, AnElementTypeFromTheFutureIsUnimplemented) {
  const auto slice =
      DecodeSlice(Payload(R"({"x":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", 1));
  EXPECT_EQ(slice.status().code(), Code::kUnimplemented);
}

TEST(SafetensorsTest, HeaderLengthsAreNotTrusted) {
  for (const uint64_t size : {uint64_t{3}, uint64_t{100'000'001}, UINT64_MAX}) {
    std::vector<uint8_t> bytes(10, '{');
    std::memcpy(bytes.data(), &size, sizeof size);
    EXPECT_EQ(DecodeSlice(Buffer::FromVector(bytes)).status().code(), Code::kDataLoss);
  }
}

TEST(SafetensorsTest, EveryTruncationIsDetected) {
  const std::vector<uint8_t> data = Counting(10);
  const TensorView tensor = {"x", DType::kU8, {10}, data};
  const Buffer payload = *EncodeSlice(std::span(&tensor, 1), {{"k", "v"}});
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_EQ(DecodeSlice(payload.Slice(0, size)).status().code(), Code::kDataLoss) << size;
  }
}

TEST(SafetensorsTest, WhateverDecodesAfterABitFlipIsConsistent) {
  const std::vector<uint8_t> data = Counting(16);
  const std::vector<TensorView> tensors = {{"x", DType::kI16, {2, 4}, data},
                                           {"y", DType::kU8, {3}, ConstBytes(data).first(3)}};
  const Buffer payload = *EncodeSlice(tensors, {{"k", "v"}});
  std::vector<uint8_t> bytes(payload.bytes().begin(), payload.bytes().end());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= 1u << (bit % 8);
    const auto slice = DecodeSlice(Buffer::CopyOf(bytes));
    if (slice.ok()) {
      const auto again = DecodeSlice(*EncodeSlice(slice->tensors, slice->metadata));
      ASSERT_TRUE(again.ok()) << bit << ": " << again.status();
      ASSERT_EQ(again->tensors.size(), slice->tensors.size());
    }
    bytes[bit / 8] ^= 1u << (bit % 8);
  }
}

TEST(Utf8Test, FollowsTheDefinition) {
  for (const std::string_view good : {"", "a", "\x7f", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                      "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(good));
  }
  for (const std::string_view bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(IsUtf8(bad));
  }
}

std::vector<std::string> Strings(const std::vector<std::string>& strings) {
  RaggedStorage storage;
  const auto slice = DecodeSlice(*EncodeSlice(StringTensors("s", strings, storage)));
  const auto read = ReadStrings(*slice, "s");
  EXPECT_TRUE(read.ok()) << read.status();
  return *read;
}

TEST(StringFieldTest, StringsRoundTrip) {
  for (const std::vector<std::string>& strings :
       {std::vector<std::string>{}, {""}, {"a", "", "bc"}, {std::string("nul\0inside", 10)}}) {
    EXPECT_EQ(Strings(strings), strings);
  }
}

TEST(StringFieldTest, AMissingFieldIsNotFound) {
  const auto slice = DecodeSlice(*EncodeSlice({}));
  EXPECT_EQ(ReadStrings(*slice, "s").status().code(), Code::kNotFound);
}

TEST(StringFieldTest, OffsetsAreNotTrusted) {
  const std::vector<uint8_t> text = Counting(4);
  const auto code = [&text](std::vector<int64_t> offsets) {
    const ConstBytes bytes(reinterpret_cast<const uint8_t*>(offsets.data()), offsets.size() * 8);
    const std::vector<TensorView> tensors = {{"s", DType::kU8, {4}, text},
                                             {"s#offsets", DType::kI64, {offsets.size()}, bytes}};
    return ReadStrings(*DecodeSlice(*EncodeSlice(tensors)), "s").status().code();
  };
  EXPECT_EQ(code({0, 4}), Code::kOk);
  EXPECT_EQ(code({}), Code::kDataLoss);
  EXPECT_EQ(code({0}), Code::kDataLoss);
  EXPECT_EQ(code({1, 4}), Code::kDataLoss);
  EXPECT_EQ(code({0, 3}), Code::kDataLoss);
  EXPECT_EQ(code({0, 5, 4}), Code::kDataLoss);
  EXPECT_EQ(code({0, 3, 2, 4}), Code::kDataLoss);
  EXPECT_EQ(code({0, -1, 4}), Code::kDataLoss);
}

TEST(StringFieldTest, OtherTensorsOfThatNameAreNotStrings) {
  const std::vector<uint8_t> data(16);
  const std::vector<TensorView> tensors = {{"s", DType::kI32, {4}, data},
                                           {"s#offsets", DType::kI64, {2}, data}};
  EXPECT_EQ(ReadStrings(*DecodeSlice(*EncodeSlice(tensors)), "s").status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace lakestream

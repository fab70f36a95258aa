#include "lakestream/tgb.h"

#include <gtest/gtest.h>

namespace lakestream {
namespace {

TEST(TgbTest, IsCompleteOnceEveryPositionIsSet) {
  Tgb tgb(Mesh{2, 2});
  const Buffer payload = *EncodeSlice({});
  for (uint32_t cp = 0; cp < 2; ++cp) {
    for (uint32_t dp = 0; dp < 2; ++dp) {
      EXPECT_EQ(tgb.CheckComplete().code(), Code::kInvalidArgument);
      EXPECT_TRUE(tgb.SetSlice(dp, cp, payload).ok());
    }
  }
  EXPECT_TRUE(tgb.CheckComplete().ok());
  EXPECT_EQ(tgb.payload_bytes(), 4 * payload.size());
}

TEST(TgbTest, SlicesAreKeptByTheirMeshIndex) {
  Tgb tgb(Mesh{3, 2});
  const Buffer payload = *EncodeSlice({});
  ASSERT_TRUE(tgb.SetSlice(1, 1, payload).ok());
  EXPECT_EQ(tgb.slices()[4]->data(), payload.data());
}

TEST(TgbTest, PositionsOutsideTheMeshAreRefused) {
  Tgb tgb(Mesh{2, 3});
  EXPECT_EQ(tgb.SetSlice(2, 0, *EncodeSlice({})).reason(), Reason::kMeshMismatch);
  EXPECT_EQ(tgb.SetSlice(0, 3, *EncodeSlice({})).reason(), Reason::kMeshMismatch);
}

TEST(TgbTest, AMeshThatCannotBeIsRefused) {
  for (const Mesh mesh : {Mesh{0, 1}, Mesh{65536, 65536}}) {
    Tgb tgb(mesh);
    EXPECT_EQ(tgb.SetSlice(0, 0, *EncodeSlice({})).reason(), Reason::kMeshMismatch);
    EXPECT_EQ(tgb.CheckComplete().reason(), Reason::kMeshMismatch);
  }
}

TEST(TgbTest, APositionIsSetOnce) {
  Tgb tgb(Mesh{1, 1});
  ASSERT_TRUE(tgb.SetSlice(0, 0, std::span<const TensorView>()).ok());
  EXPECT_EQ(tgb.SetSlice(0, 0, *EncodeSlice({})).code(), Code::kInvalidArgument);
}

TEST(TgbTest, APayloadThatIsNotASliceIsRefused) {
  Tgb tgb(Mesh{1, 1});
  EXPECT_EQ(tgb.SetSlice(0, 0, Buffer::CopyOf("no safetensors")).code(), Code::kInvalidArgument);
  EXPECT_EQ(tgb.SetSlice(0, 0, Buffer()).code(), Code::kInvalidArgument);
  EXPECT_FALSE(tgb.slices()[0]);
}

TEST(TgbTest, TensorsThatCannotBeStoredLeaveThePositionUnset) {
  Tgb tgb(Mesh{1, 1});
  const TensorView tensor = {"x", DType::kF32, {3}, {}};
  EXPECT_EQ(tgb.SetSlice(0, 0, std::span(&tensor, 1)).code(), Code::kInvalidArgument);
  EXPECT_TRUE(tgb.SetSlice(0, 0, *EncodeSlice({})).ok());
}

}  // namespace
}  // namespace lakestream

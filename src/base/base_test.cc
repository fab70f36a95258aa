#include <gtest/gtest.h>

#include <sstream>

#include "base/text.h"
#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {
namespace {

TEST(StatusTest, CarriesCodeReasonAndMessage) {
  Status status = FailedPreconditionError("stream is sealed at step 7", Reason::kSealed);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_EQ(status.reason(), Reason::kSealed);
  EXPECT_EQ(status.ToString(), "failed_precondition(sealed): stream is sealed at step 7");
  EXPECT_EQ(status.WithContext("producer a").ToString(),
            "failed_precondition(sealed): producer a: stream is sealed at step 7");
}

TEST(StatusTest, OkIsEmpty) {
  EXPECT_TRUE(OkStatus().ok());
  EXPECT_EQ(OkStatus().ToString(), "ok");
  EXPECT_TRUE(OkStatus().WithContext("x").ok());
  EXPECT_EQ(sizeof(Status), 2 * sizeof(void*));
}

Result<int> Half(int n) {
  if (n % 2 != 0) return InvalidArgumentError("odd");
  return n / 2;
}
Result<int> Quarter(int n) {
  LS_ASSIGN_OR_RETURN(int half, Half(n));
  return Half(half);
}

TEST(ResultTest, AssignOrReturnPassesValuesAndErrors) {
  ASSERT_TRUE(Quarter(8).ok());
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().code(), Code::kInvalidArgument);
}

TEST(BufferTest, SlicesShareOwnership) {
  Buffer part;
  {
    Buffer whole = Buffer::CopyOf("hello world");
    part = whole.Slice(6, 5);
  }
  EXPECT_EQ(part.text(), "world");
}

TEST(MeshTest, SlicesOfOneContextPositionAreContiguous) {
  Mesh mesh{4, 2};
  EXPECT_EQ(mesh.SliceIndex(0, 0), 0u);
  EXPECT_EQ(mesh.SliceIndex(3, 0), 3u);
  EXPECT_EQ(mesh.SliceIndex(0, 1), 4u);
  EXPECT_EQ(mesh.slice_count(), 8u);
}

TEST(TextTest, PadsAndJoins) {
  EXPECT_EQ(Padded(42), "00000000000000000042");
  EXPECT_EQ(Str("step ", 7, " of ", std::string("x")), "step 7 of x");
  const uint8_t bytes[] = {0, 255, 16};
  EXPECT_EQ(ToHex(bytes), "00ff10");
}

}  // namespace
}  // namespace lakestream

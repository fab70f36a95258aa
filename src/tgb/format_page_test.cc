// The worked example of docs/format/tgb.md, taken from the page itself.
#include "tests/support/format_page.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/golden/sample_objects.h"

namespace lakestream {
namespace {

std::vector<uint8_t> ExampleOfThePage() { return testing_support::HexBlocks(LS_FORMAT_PAGE).at(0); }

TEST(FormatPageTest, TheExampleDecodesToWhatThePageSays) {
  const std::vector<uint8_t> object = ExampleOfThePage();
  ASSERT_EQ(object.size(), 704u);
  const auto content = ReadObject(object);
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(content->header.session, 3u);
  EXPECT_EQ(content->header.object, 7u);
  EXPECT_EQ(content->header.mesh, (Mesh{2, 1}));
  EXPECT_EQ(content->header.tgb_count, 1u);
  EXPECT_EQ(content->footer.producer, "text-0");
  EXPECT_EQ(content->footer.first_sequence, 41u);
  EXPECT_EQ(content->footer.layout.runs, (std::vector<FrameRun>{{2, 4}}));
  EXPECT_EQ(content->state, "row 1234");
  ASSERT_EQ(content->payloads.size(), 2u);
  const auto slice = DecodeSlice(content->payloads[1]);
  ASSERT_TRUE(slice.ok());
  const TensorView* tokens = slice->Find("tokens");
  ASSERT_NE(tokens, nullptr);
  EXPECT_EQ(tokens->dtype, DType::kU16);
  const uint8_t expected[] = {0xf4, 0x01, 0x58, 0x02};
  EXPECT_EQ(AsText(tokens->data), AsText(expected));
}

TEST(FormatPageTest, TheExampleEncodesToTheSameBytes) {
  const std::vector<uint8_t> object = ExampleOfThePage();
  const auto content = ReadObject(object);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(ObjectBytes(Rebuild(*content, 0)), object);
  EXPECT_EQ(ObjectBytes(WorkedExample()), object);
}

}  // namespace
}  // namespace lakestream

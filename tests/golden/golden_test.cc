// Objects written by released formats are read for ever.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/golden/sample_objects.h"

namespace lakestream {
namespace {

std::vector<uint8_t> ReadGolden(const std::string& name) {
  std::ifstream file(std::string(LS_GOLDEN_FOLDER "/") + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

void ExpectHolds(const std::vector<uint8_t>& object, const SampleObject& sample) {
  const auto content = ReadObject(object);
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(content->header.stream_uuid, sample.spec.stream_uuid);
  EXPECT_EQ(content->header.session, sample.spec.session);
  EXPECT_EQ(content->header.object, sample.spec.object);
  EXPECT_EQ(content->header.mesh, sample.spec.mesh);
  EXPECT_EQ(content->footer.producer, sample.spec.producer);
  EXPECT_EQ(content->footer.first_sequence, sample.spec.first_sequence);
  EXPECT_EQ(content->state, sample.state);
  const size_t tgbs = sample.tgbs.size();
  ASSERT_EQ(content->payloads.size(), tgbs * sample.spec.mesh.slice_count());
  for (size_t frame = 0; frame < content->payloads.size(); ++frame) {
    const Buffer& payload = *sample.tgbs[frame % tgbs].slices()[frame / tgbs];
    EXPECT_EQ(content->payloads[frame].text(), payload.text()) << frame;
  }
}

TEST(GoldenTest, Format1IsReadable) {
  ExpectHolds(ReadGolden("tgb/v1/example.tgb"), WorkedExample());
  ExpectHolds(ReadGolden("tgb/v1/mixed.tgb"), MixedSample());
  ExpectHolds(ReadGolden("tgb/v1/compressed.tgb"), CompressedSample());
}

// Not for compressed.tgb: another version of zstd may choose other bytes.
TEST(GoldenTest, TheCurrentWriterWritesTheSameBytes) {
  EXPECT_EQ(ReadGolden("tgb/v1/example.tgb"), ObjectBytes(WorkedExample()));
  EXPECT_EQ(ReadGolden("tgb/v1/mixed.tgb"), ObjectBytes(MixedSample()));
}

TEST(GoldenTest, TextFieldsOfFormat1AreReadable) {
  const auto content = ReadObject(ReadGolden("tgb/v1/mixed.tgb"));
  ASSERT_TRUE(content.ok());
  const auto slice = DecodeSlice(content->payloads[0]);
  ASSERT_TRUE(slice.ok());
  const auto captions = ReadStrings(*slice, "caption");
  ASSERT_TRUE(captions.ok());
  EXPECT_EQ(*captions, (std::vector<std::string>{"a lake", "", "jezero \xc4\x8d\xc5\xa1"}));
}

}  // namespace
}  // namespace lakestream

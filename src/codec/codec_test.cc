#include <gtest/gtest.h>

#include "base/text.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/checksum.h"
#include "codec/zstd_codec.h"

namespace lakestream {
namespace {

TEST(CodingTest, RoundTripsNumbersAndStrings) {
  ByteWriter writer;
  writer.U8(7);
  writer.U16(0x1234);
  writer.U32(0xdeadbeef);
  writer.U64(UINT64_MAX);
  for (uint64_t v : {0ull, 127ull, 128ull, 16384ull, ~0ull}) writer.Varint(v);
  writer.String("lake");
  ByteReader reader(writer.bytes());
  EXPECT_EQ(reader.U8(), 7);
  EXPECT_EQ(reader.U16(), 0x1234);
  EXPECT_EQ(reader.U32(), 0xdeadbeefu);
  EXPECT_EQ(reader.U64(), UINT64_MAX);
  for (uint64_t v : {0ull, 127ull, 128ull, 16384ull, ~0ull}) EXPECT_EQ(reader.Varint(), v);
  EXPECT_EQ(reader.String(4), "lake");
  EXPECT_TRUE(reader.AtEnd());
}

TEST(CodingTest, EveryTruncationFails) {
  ByteWriter writer;
  writer.U32(1);
  writer.Varint(1u << 20);
  writer.String("abcdef");
  for (size_t size = 0; size < writer.size(); ++size) {
    ByteReader reader(writer.bytes().first(size));
    reader.U32();
    reader.Varint();
    reader.String(100);
    EXPECT_FALSE(reader.ok()) << size;
  }
}

TEST(CodingTest, RefusesLongVarintsAndHugeCounts) {
  const uint8_t padded[] = {0x80, 0x00};
  ByteReader reader(padded);
  reader.Varint();
  EXPECT_FALSE(reader.ok());
  const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
  ByteReader second(too_long);
  second.Varint();
  EXPECT_FALSE(second.ok());
  const uint8_t count[] = {0x05, 0, 0, 0, 0};
  ByteReader third(count);
  EXPECT_EQ(third.Count(1), 0u);
  EXPECT_FALSE(third.ok());
}

// Values of the xxHash specification's test suite (seed 0).
TEST(ChecksumTest, MatchesPublishedValues) {
  EXPECT_EQ(Checksum64({}), 0x2D06800538D394C2u);
  EXPECT_EQ(ToHex(HashBytes128({})), "99aa06d3014798d86001c324468d497f");
}

TEST(ZstdTest, RoundTripsAndRefusesWrongSizes) {
  std::string text(10000, 'x');
  auto frame = ZstdCompress(AsBytes(text), 3);
  ASSERT_TRUE(frame.ok());
  std::vector<uint8_t> out(text.size());
  ASSERT_TRUE(ZstdDecompress(*frame, out).ok());
  EXPECT_EQ(AsText(out), text);
  out.resize(text.size() + 1);
  EXPECT_EQ(ZstdDecompress(*frame, out).code(), Code::kDataLoss);
  frame->resize(frame->size() / 2);
  out.resize(text.size());
  EXPECT_EQ(ZstdDecompress(*frame, out).code(), Code::kDataLoss);
}

}  // namespace
}  // namespace lakestream

#include "tgb/data_object.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "codec/checksum.h"
#include "tests/golden/sample_objects.h"
#include "tgb/slice_frame.h"

namespace lakestream {
namespace {

// Changes bytes of a 64-byte block at `block` and makes the block's checksum fit again.
std::vector<uint8_t> Rewritten(std::vector<uint8_t> object, size_t block, size_t at, uint64_t value,
                               size_t size) {
  std::memcpy(object.data() + block + at, &value, size);
  const uint64_t checksum = Checksum64(ConstBytes(object).subspan(block, 56));
  std::memcpy(object.data() + block + 56, &checksum, sizeof checksum);
  return object;
}

void ExpectSame(const ObjectContent& content, const SampleObject& sample) {
  EXPECT_EQ(content.header.stream_uuid, sample.spec.stream_uuid);
  EXPECT_EQ(content.header.session, sample.spec.session);
  EXPECT_EQ(content.header.object, sample.spec.object);
  EXPECT_EQ(content.header.mesh, sample.spec.mesh);
  EXPECT_EQ(content.footer.producer, sample.spec.producer);
  EXPECT_EQ(content.footer.first_sequence, sample.spec.first_sequence);
  EXPECT_EQ(content.state, sample.state);
  ASSERT_EQ(content.header.tgb_count, sample.tgbs.size());
  const size_t tgbs = sample.tgbs.size();
  for (size_t frame = 0; frame < content.payloads.size(); ++frame) {
    const auto& slices = sample.tgbs[frame % tgbs].slices();
    EXPECT_EQ(content.payloads[frame].text(), slices[frame / tgbs]->text()) << frame;
  }
}

Tgb OneSlice(const std::vector<uint8_t>& bytes) {
  Tgb tgb(Mesh{1, 1});
  const TensorView tensor = {"x", DType::kU8, {bytes.size()}, bytes};
  EXPECT_TRUE(tgb.SetSlice(0, 0, std::span(&tensor, 1)).ok());
  return tgb;
}

TEST(DataObjectTest, EverySampleRoundTrips) {
  for (const SampleObject& sample : {WorkedExample(), MixedSample(), CompressedSample()}) {
    const std::vector<uint8_t> bytes = ObjectBytes(sample);
    const auto content = ReadObject(bytes);
    ASSERT_TRUE(content.ok()) << content.status();
    ExpectSame(*content, sample);
    EXPECT_EQ(ObjectBytes(Rebuild(*content, sample.spec.zstd_level)), bytes);
  }
}

TEST(DataObjectTest, PayloadBytesAreNotCopied) {
  const SampleObject sample = MixedSample();
  const auto object = EncodeDataObject(sample.spec, sample.tgbs, sample.state);
  ASSERT_TRUE(object.ok());
  size_t borrowed = 0;
  for (const Tgb& tgb : sample.tgbs) {
    for (const auto& payload : tgb.slices()) {
      for (const ConstBytes piece : object->pieces) borrowed += piece.data() == payload->data();
    }
  }
  EXPECT_EQ(borrowed, 12u);
}

TEST(DataObjectTest, PiecesOutliveTheTgbsAndAMove) {
  const std::vector<uint8_t> expected = ObjectBytes(MixedSample());
  EncodedDataObject moved;
  {
    SampleObject sample = MixedSample();
    auto object = EncodeDataObject(sample.spec, sample.tgbs, sample.state);
    moved = *std::move(object);
  }
  std::vector<uint8_t> bytes;
  for (const ConstBytes piece : moved.pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  EXPECT_EQ(bytes, expected);
}

TEST(DataObjectTest, EveryPartStartsAtAMultipleOf64) {
  for (const SampleObject& sample : {WorkedExample(), MixedSample(), CompressedSample()}) {
    const auto object = EncodeDataObject(sample.spec, sample.tgbs, sample.state);
    EXPECT_EQ(object->object_bytes % 64, 0u);
    EXPECT_EQ(object->state.offset % 64, 0u);
  }
}

TEST(DataObjectTest, ALargeStateLiesBehindTheFrames) {
  const SampleObject sample = CompressedSample();
  const auto object = EncodeDataObject(sample.spec, sample.tgbs, sample.state);
  EXPECT_EQ(object->state.kind, StateRef::Kind::kExtent);
  EXPECT_EQ(object->state.offset, kObjectHeaderBytes + object->layout.FrameBytes());
  const std::vector<uint8_t> bytes = ObjectBytes(sample);
  const ConstBytes state = ConstBytes(bytes).subspan(object->state.offset, object->state.size);
  EXPECT_EQ(AsText(state), sample.state);
}

TEST(DataObjectTest, EveryTruncationIsDetected) {
  const std::vector<uint8_t> bytes = ObjectBytes(WorkedExample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto content = ReadObject(ConstBytes(bytes).first(size));
    EXPECT_EQ(content.status().code(), Code::kDataLoss) << size;
  }
}

TEST(DataObjectTest, EveryBitFlipIsDetectedOrHarmless) {
  for (const SampleObject& sample : {WorkedExample(), CompressedSample()}) {
    const std::vector<uint8_t> original = ObjectBytes(sample);
    std::vector<uint8_t> bytes = original;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      bytes[bit / 8] ^= 1u << (bit % 8);
      const auto content = ReadObject(bytes);
      if (content.ok()) {
        ASSERT_EQ(original[bit / 8], 0) << "bit " << bit << " is not padding";
        ExpectSame(*content, sample);
      } else {
        ASSERT_EQ(content.status().code(), Code::kDataLoss) << bit;
      }
      bytes[bit / 8] ^= 1u << (bit % 8);
    }
  }
}

TEST(DataObjectTest, ANewerFormatSaysSo) {
  const std::vector<uint8_t> bytes = ObjectBytes(WorkedExample());
  const size_t tail = bytes.size() - kFooterTailBytes;
  for (const auto& newer : {Rewritten(bytes, 0, 8, 2, 4), Rewritten(bytes, 0, 12, 1, 4),
                            Rewritten(bytes, tail, 40, 1, 8), Rewritten(bytes, tail, 48, 1, 8)}) {
    const Status status = ReadObject(newer).status();
    EXPECT_EQ(status.code(), Code::kFailedPrecondition);
    EXPECT_EQ(status.reason(), Reason::kFormatTooNew);
  }
  EXPECT_EQ(ReadObject(Rewritten(bytes, 0, 8, 0, 4)).status().code(), Code::kDataLoss);
}

TEST(DataObjectTest, AHeaderThatClaimsImpossibleThingsIsRefused) {
  const std::vector<uint8_t> bytes = ObjectBytes(WorkedExample());
  const uint64_t wraps = 65536 | uint64_t{65536} << 32;
  EXPECT_EQ(ReadObject(Rewritten(bytes, 0, 44, wraps, 8)).status().code(), Code::kDataLoss);
  EXPECT_EQ(ReadObject(Rewritten(bytes, 0, 44, 0, 8)).status().code(), Code::kDataLoss);
  EXPECT_EQ(ReadObject(Rewritten(bytes, 0, 52, 0, 4)).status().code(), Code::kDataLoss);
  EXPECT_EQ(ReadObject(Rewritten(bytes, 0, 52, 4097, 4)).status().code(), Code::kDataLoss);
  EXPECT_EQ(ReadObject(Rewritten(bytes, 0, 52, 2, 4)).status().code(), Code::kDataLoss)
      << "the footer lists one TGB";
}

TEST(DataObjectTest, AFooterThatPointsElsewhereIsRefused) {
  const std::vector<uint8_t> bytes = ObjectBytes(WorkedExample());
  const size_t tail = bytes.size() - kFooterTailBytes;
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{64}, uint64_t{65}, uint64_t{tail}, UINT64_MAX - 63, UINT64_MAX}) {
    EXPECT_EQ(ReadObject(Rewritten(bytes, tail, 8, offset, 8)).status().code(), Code::kDataLoss);
  }
  for (const uint64_t size : {uint64_t{0}, uint64_t{65}, uint64_t{1} << 63, UINT64_MAX}) {
    EXPECT_EQ(ReadObject(Rewritten(bytes, tail, 16, size, 8)).status().code(), Code::kDataLoss);
  }
  EXPECT_EQ(ReadObject(Rewritten(bytes, tail, 32, 64, 8)).status().code(), Code::kDataLoss);
}

TEST(DataObjectTest, ObjectsOfOtherThingsAreNotDataObjects) {
  EXPECT_EQ(ReadObject({}).status().code(), Code::kDataLoss);
  const std::vector<uint8_t> text(1000, 'x');
  EXPECT_EQ(ReadObject(text).status().code(), Code::kDataLoss);
}

TEST(DataObjectTest, RefusesTgbsThatDoNotFit) {
  SampleObject sample = WorkedExample();
  const auto status = [&sample] {
    return EncodeDataObject(sample.spec, sample.tgbs, sample.state).status();
  };
  sample.tgbs.emplace_back(Mesh{1, 2});
  EXPECT_EQ(status().reason(), Reason::kMeshMismatch);
  sample.tgbs.back() = Tgb(sample.spec.mesh);
  EXPECT_EQ(status().code(), Code::kInvalidArgument) << "incomplete";
  sample.tgbs.clear();
  EXPECT_EQ(status().reason(), Reason::kTooLarge) << "no TGB";
  sample = WorkedExample();
  sample.state.assign(kStateBytesMax + 1, 's');
  EXPECT_EQ(status().reason(), Reason::kTooLarge);
  sample = WorkedExample();
  sample.spec.producer.assign(65, 'p');
  EXPECT_EQ(status().reason(), Reason::kTooLarge);
  sample = WorkedExample();
  sample.spec.mesh = {0, 7};
  EXPECT_EQ(status().reason(), Reason::kMeshMismatch);
}

TEST(DataObjectTest, OnlySlicesThatShrinkAreCompressed) {
  const auto codec = [](const std::vector<uint8_t>& data, int level) {
    SampleObject sample = CompressedSample();
    sample.spec.zstd_level = level;
    sample.tgbs[0] = OneSlice(data);
    const std::vector<uint8_t> object = ObjectBytes(sample);
    EXPECT_TRUE(ReadObject(object).ok());
    return DecodeSliceFrameHeader(ConstBytes(object).subspan(kObjectHeaderBytes))->codec;
  };
  std::vector<uint8_t> noise(4096);
  uint64_t seed = 1;
  for (uint8_t& byte : noise) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(seed >> 56);
  }
  const std::vector<uint8_t> zeros(4096);
  EXPECT_EQ(codec(zeros, 3), SliceCodec::kZstd);
  EXPECT_EQ(codec(zeros, 0), SliceCodec::kRaw);
  EXPECT_EQ(codec(noise, 3), SliceCodec::kRaw);
  EXPECT_EQ(codec({}, 3), SliceCodec::kRaw);
}

TEST(DataObjectTest, ASliceThatNoReaderWouldExpandStaysRaw) {
  SampleObject sample = CompressedSample();
  sample.tgbs[0] = OneSlice(std::vector<uint8_t>(16u << 20));
  const std::vector<uint8_t> object = ObjectBytes(sample);
  const auto header = DecodeSliceFrameHeader(ConstBytes(object).subspan(kObjectHeaderBytes));
  EXPECT_EQ(header->codec, SliceCodec::kRaw);
  EXPECT_TRUE(ReadObject(object).ok());
}

}  // namespace
}  // namespace lakestream

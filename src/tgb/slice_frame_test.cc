#include "tgb/slice_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "codec/checksum.h"
#include "codec/zstd_codec.h"
#include "tgb/aligned_block.h"

namespace lakestream {
namespace {

constexpr SliceId kId = {.session = 4, .object = 12, .tgb_ordinal = 3, .dp = 1, .cp = 2};

std::vector<uint8_t> Frame(SliceFrameHeader header, ConstBytes stored) {
  header.stored_bytes = stored.size();
  header.payload_checksum = Checksum64(stored);
  const auto head = EncodeSliceFrameHeader(header);
  std::vector<uint8_t> frame(header.FrameBytes());
  std::copy(stored.begin(), stored.end(), std::copy(head.begin(), head.end(), frame.begin()));
  return frame;
}

std::vector<uint8_t> RawFrame(std::string_view payload) {
  return Frame({.id = kId, .raw_bytes = payload.size()}, AsBytes(payload));
}

std::vector<uint8_t> ZstdFrame(std::string_view payload, uint64_t raw_bytes) {
  const auto packed = ZstdCompress(AsBytes(payload), 3);
  return Frame({.codec = SliceCodec::kZstd, .id = kId, .raw_bytes = raw_bytes}, *packed);
}

Result<Buffer> Open(const std::vector<uint8_t>& frame) {
  return OpenSliceFrame(Buffer::CopyOf(frame), kId);
}

// Changes header bytes and makes the header's checksum fit again: what a newer or a hostile writer
// would have written.
std::vector<uint8_t> Rewritten(std::vector<uint8_t> frame, size_t at, uint64_t value, size_t size) {
  std::memcpy(frame.data() + at, &value, size);
  const uint64_t checksum = Checksum64(ConstBytes(frame).first(56));
  std::memcpy(frame.data() + 56, &checksum, sizeof checksum);
  return frame;
}

class CountingAllocator final : public BufferAllocator {
 public:
  explicit CountingAllocator(bool exhausted = false) : exhausted_(exhausted) {}
  Block Allocate(size_t size) override {
    allocated += size;
    return exhausted_ ? Block{} : AllocateAligned(size);
  }
  size_t allocated = 0;

 private:
  bool exhausted_;
};

TEST(SliceFrameTest, ARawPayloadSharesTheFramesMemory) {
  const Buffer frame = Buffer::CopyOf(RawFrame("payload"));
  const auto payload = OpenSliceFrame(frame, kId);
  ASSERT_TRUE(payload.ok()) << payload.status();
  EXPECT_EQ(payload->text(), "payload");
  EXPECT_EQ(payload->data(), frame.data() + kSliceHeaderBytes);
}

TEST(SliceFrameTest, HeaderRoundTrips) {
  const SliceFrameHeader header = {.codec = SliceCodec::kZstd,
                                   .id = {UINT64_MAX, UINT32_MAX, 4095, 7, 9},
                                   .stored_bytes = 5,
                                   .raw_bytes = 6,
                                   .payload_checksum = 7};
  const auto decoded = DecodeSliceFrameHeader(EncodeSliceFrameHeader(header));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, header);
  EXPECT_EQ(header.FrameBytes(), 128u);
}

TEST(SliceFrameTest, AnEmptyPayloadIsOneUnit) {
  const std::vector<uint8_t> frame = RawFrame("");
  EXPECT_EQ(frame.size(), 64u);
  EXPECT_TRUE(Open(frame)->empty());
}

TEST(SliceFrameTest, CompressedPayloadsComeBack) {
  const std::string payload(5000, 'z');
  const auto opened = Open(ZstdFrame(payload, payload.size()));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->text(), payload);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(opened->data()) % 64, 0u);
}

TEST(SliceFrameTest, DecompressesIntoTheAllocatorsMemory) {
  const std::string payload(5000, 'z');
  const Buffer frame = Buffer::CopyOf(ZstdFrame(payload, payload.size()));
  CountingAllocator allocator;
  EXPECT_EQ(OpenSliceFrame(frame, kId, &allocator)->text(), payload);
  EXPECT_EQ(allocator.allocated, payload.size());
  CountingAllocator exhausted(true);
  EXPECT_EQ(OpenSliceFrame(frame, kId, &exhausted).status().code(), Code::kResourceExhausted);
}

TEST(SliceFrameTest, TheFrameOfAnotherSliceIsRefused) {
  const Buffer frame = Buffer::CopyOf(RawFrame("payload"));
  const auto expect_refused = [&frame](const std::function<void(SliceId&)>& change) {
    SliceId other = kId;
    change(other);
    const Status status = OpenSliceFrame(frame, other).status();
    EXPECT_EQ(status.code(), Code::kDataLoss);
    EXPECT_EQ(status.reason(), Reason::kChecksum);
  };
  expect_refused([](SliceId& id) { ++id.session; });
  expect_refused([](SliceId& id) { ++id.object; });
  expect_refused([](SliceId& id) { ++id.tgb_ordinal; });
  expect_refused([](SliceId& id) { ++id.dp; });
  expect_refused([](SliceId& id) { ++id.cp; });
}

TEST(SliceFrameTest, EveryTruncationIsDetected) {
  const std::vector<uint8_t> frame = RawFrame(std::string(100, 'p'));
  for (size_t size = 0; size < frame.size(); ++size) {
    const Status status =
        OpenSliceFrame(Buffer::CopyOf(ConstBytes(frame).first(size)), kId).status();
    EXPECT_EQ(status.reason(), Reason::kChecksum) << size;
  }
}

TEST(SliceFrameTest, BytesBehindTheFrameAreRefused) {
  std::vector<uint8_t> frame = RawFrame("payload");
  frame.resize(frame.size() + 64);
  EXPECT_EQ(Open(frame).status().reason(), Reason::kChecksum);
}

TEST(SliceFrameTest, EveryBitFlipIsDetectedOrHarmless) {
  const std::string text = "some payload that is longer than thirty-two bytes";
  for (const bool compressed : {false, true}) {
    const std::string payload = compressed ? std::string(3000, 'q') + text : text;
    std::vector<uint8_t> frame =
        compressed ? ZstdFrame(payload, payload.size()) : RawFrame(payload);
    const size_t used = kSliceHeaderBytes + DecodeSliceFrameHeader(frame)->stored_bytes;
    for (size_t bit = 0; bit < frame.size() * 8; ++bit) {
      frame[bit / 8] ^= 1u << (bit % 8);
      const auto opened = Open(frame);
      EXPECT_EQ(opened.ok(), bit / 8 >= used) << "bit " << bit;
      if (opened.ok()) {
        EXPECT_EQ(opened->text(), payload);
      } else {
        EXPECT_EQ(opened.status().code(), Code::kDataLoss);
      }
      frame[bit / 8] ^= 1u << (bit % 8);
    }
  }
}

TEST(SliceFrameTest, ANewerFormatOrCompressionSaysSo) {
  const std::vector<uint8_t> frame = RawFrame("payload");
  for (const auto& newer : {Rewritten(frame, 4, 2, 2), Rewritten(frame, 6, 2, 2)}) {
    const Status status = Open(newer).status();
    EXPECT_EQ(status.code(), Code::kFailedPrecondition);
    EXPECT_EQ(status.reason(), Reason::kFormatTooNew);
  }
  EXPECT_EQ(Open(Rewritten(frame, 4, 0, 2)).status().code(), Code::kDataLoss) << "format 0";
}

TEST(SliceFrameTest, SizesThatDoNotHoldTogetherAreRefused) {
  const std::vector<uint8_t> frame = RawFrame("payload");
  EXPECT_EQ(Open(Rewritten(frame, 32, UINT64_MAX, 8)).status().reason(), Reason::kChecksum);
  EXPECT_EQ(Open(Rewritten(frame, 32, 6, 8)).status().reason(), Reason::kChecksum);
  EXPECT_EQ(Open(Rewritten(frame, 40, 8, 8)).status().reason(), Reason::kChecksum);
}

TEST(SliceFrameTest, AnExpansionOverTheLimitIsRefusedBeforeMemoryIsTaken) {
  const std::string payload(5000, 'z');
  const uint64_t stored = DecodeSliceFrameHeader(ZstdFrame(payload, 5000))->stored_bytes;
  const uint64_t limit = stored * kExpansionMax + kExpansionFree;
  CountingAllocator allocator;
  const auto open = [&](uint64_t raw_bytes) {
    return OpenSliceFrame(Buffer::CopyOf(ZstdFrame(payload, raw_bytes)), kId, &allocator).status();
  };
  EXPECT_EQ(open(limit + 1).reason(), Reason::kChecksum);
  EXPECT_EQ(open(UINT64_MAX).reason(), Reason::kChecksum);
  EXPECT_EQ(allocator.allocated, 0u);
  EXPECT_EQ(open(limit).reason(), Reason::kChecksum) << "allowed, but not what the frame holds";
  EXPECT_EQ(open(4999).reason(), Reason::kChecksum) << "too small for what the frame holds";
}

TEST(SliceFrameTest, AnInvalidCompressedPayloadIsDataLoss) {
  const auto frame =
      Frame({.codec = SliceCodec::kZstd, .id = kId, .raw_bytes = 100}, AsBytes("not a zstd frame"));
  const Status status = Open(frame).status();
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_EQ(status.reason(), Reason::kChecksum);
}

}  // namespace
}  // namespace lakestream

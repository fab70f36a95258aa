#include "tgb/state_ref.h"

#include <gtest/gtest.h>

#include <vector>

namespace lakestream {
namespace {

std::vector<uint8_t> Encoded(const StateRef& state) {
  ByteWriter writer;
  state.Encode(writer);
  return writer.Take();
}

std::optional<StateRef> Decoded(ConstBytes bytes) {
  ByteReader reader(bytes);
  std::optional<StateRef> state = StateRef::Decode(reader);
  return reader.AtEnd() ? state : std::nullopt;
}

TEST(StateRefTest, SizeDecidesTheForm) {
  const auto kind = [](size_t size) { return StateRef::Of(std::string(size, 'x'), 640).kind; };
  EXPECT_EQ(kind(0), StateRef::Kind::kNone);
  EXPECT_EQ(kind(1), StateRef::Kind::kInline);
  EXPECT_EQ(kind(kInlineStateBytesMax), StateRef::Kind::kInline);
  EXPECT_EQ(kind(kInlineStateBytesMax + 1), StateRef::Kind::kExtent);
  EXPECT_EQ(kind(kStateBytesMax), StateRef::Kind::kExtent);
}

TEST(StateRefTest, RoundTripsEachForm) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{1024}, size_t{1025}, size_t{1u << 20}}) {
    const StateRef state = StateRef::Of(std::string(size, 'x'), 6400);
    EXPECT_EQ(Decoded(Encoded(state)), state) << size;
    EXPECT_EQ(state.StateBytes(), size);
  }
}

TEST(StateRefTest, EveryTruncationFails) {
  for (size_t size : {size_t{0}, size_t{5}, size_t{1025}}) {
    const std::vector<uint8_t> bytes = Encoded(StateRef::Of(std::string(size, 'x'), 6400));
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      EXPECT_FALSE(Decoded(ConstBytes(bytes).first(cut))) << size << " cut to " << cut;
    }
  }
}

TEST(StateRefTest, OnlyTheCanonicalFormWithinLimitsDecodes) {
  const auto extent = [](uint64_t offset, uint64_t size) {
    StateRef state;
    state.kind = StateRef::Kind::kExtent;
    state.offset = offset;
    state.size = size;
    return Encoded(state);
  };
  EXPECT_TRUE(Decoded(extent(128, 1025)));
  EXPECT_FALSE(Decoded(extent(128, 1024))) << "small enough to be inline";
  EXPECT_FALSE(Decoded(extent(128, kStateBytesMax + 1)));
  EXPECT_FALSE(Decoded(extent(129, 1025)));
  EXPECT_FALSE(Decoded(extent(64, 1025))) << "where the first frame lies";
  EXPECT_FALSE(Decoded(extent(UINT64_MAX - 63, 1025)));
  EXPECT_FALSE(Decoded(std::vector<uint8_t>{1, 0})) << "inline, but empty";
  EXPECT_FALSE(Decoded(std::vector<uint8_t>{3})) << "unknown kind";
  StateRef large;
  large.kind = StateRef::Kind::kInline;
  large.inline_bytes.assign(kInlineStateBytesMax + 1, 'x');
  EXPECT_FALSE(Decoded(Encoded(large)));
}

TEST(StateRefTest, BytesOfAnExtentAreVerified) {
  const std::string state(2000, 's');
  const StateRef ref = StateRef::Of(state, 128);
  EXPECT_TRUE(CheckStateBytes(ref, AsBytes(state)).ok());
  std::string changed = state;
  changed[1999] = 't';
  EXPECT_EQ(CheckStateBytes(ref, AsBytes(changed)).reason(), Reason::kChecksum);
  EXPECT_EQ(CheckStateBytes(ref, AsBytes(state).first(1999)).code(), Code::kDataLoss);
}

}  // namespace
}  // namespace lakestream

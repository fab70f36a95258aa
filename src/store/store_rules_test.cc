#include "store/store_rules.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace lakestream {
namespace {

TEST(StoreRulesTest, AKeyIsUpTo1024BytesOfUtf8) {
  for (const std::string key : {"a", "/", "a//b", " ", "\x01", "\xC3\xA9", "\xE2\x82\xAC",
                                "\xF0\x9F\x98\x80", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_THAT(CheckKey(key), IsOk()) << key;
  }
  EXPECT_THAT(CheckKey(std::string(1024, 'k')), IsOk());
  EXPECT_THAT(CheckKey(std::string(1025, 'k')), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(CheckKey(""), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(CheckKey(std::string("a\0b", 3)), IsCode(Code::kInvalidArgument));
}

TEST(StoreRulesTest, MalformedUtf8IsNoKey) {
  for (const std::string key :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80", "\xE2\x82", "\xE2\x82(",
        "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_THAT(CheckKey("a" + key), IsCode(Code::kInvalidArgument));
  }
}

TEST(StoreRulesTest, RangesAreCutAtTheEndWithoutOverflow) {
  EXPECT_EQ(*CutRange(std::nullopt, 10, "k"), (ByteRange{0, 10}));
  EXPECT_EQ(*CutRange(ByteRange{2, 3}, 10, "k"), (ByteRange{2, 3}));
  EXPECT_EQ(*CutRange(ByteRange{2, UINT64_MAX}, 10, "k"), (ByteRange{2, 8}));
  EXPECT_EQ(*CutRange(ByteRange{2, 0}, 10, "k"), (ByteRange{2, 0}));
  EXPECT_EQ(*CutRange(ByteRange{5, 5}, 0, "k"), (ByteRange{0, 0}));
  EXPECT_THAT(CutRange(ByteRange{10, 1}, 10, "k"), IsCode(Code::kInvalidArgument));
  EXPECT_THAT(CutRange(ByteRange{UINT64_MAX, 1}, 10, "k"), IsCode(Code::kInvalidArgument));
}

TEST(StoreRulesTest, HeapMemoryIsAlignedAndFailureIsAnError) {
  auto block = AllocateFor(nullptr, 100, "k");
  ASSERT_THAT(block, IsOk());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data) % 64, 0u);
  EXPECT_THAT(AllocateFor(nullptr, 0, "k"), IsOk());

  class Empty final : public BufferAllocator {
   public:
    Block Allocate(size_t) override { return {}; }
  } empty;
  EXPECT_THAT(AllocateFor(&empty, 1, "k"), IsCode(Code::kResourceExhausted));
}

}  // namespace
}  // namespace lakestream

// The short fuzz run, in every build and without libFuzzer: each target's seeds, every truncation
// of them, and a fixed number of mutations. The same inputs on every machine.
#include <gtest/gtest.h>

#include <string>

#include "fuzz/mutator.h"
#include "fuzz/target.h"

namespace lakestream::fuzz {
namespace {

class FuzzTest : public testing::TestWithParam<Target> {};

TEST_P(FuzzTest, SurvivesItsSeedsAndTheirTruncations) {
  const Target& target = GetParam();
  for (const Bytes& seed : target.seeds()) {
    target.run(seed);
    const size_t stride = seed.size() / 2000 + 1;
    for (size_t size = 0; size < seed.size(); size += stride)
      target.run(ConstBytes(seed).first(size));
  }
}

TEST_P(FuzzTest, SurvivesMutations) {
  const Target& target = GetParam();
  const std::vector<Bytes> seeds = target.seeds();
  Mutator mutator(seeds, 1);
  for (int i = 0; i < target.mutations; ++i) {
    const Bytes input = mutator.Next();
    target.run(input);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, FuzzTest, testing::ValuesIn(AllTargets()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(MutatorTest, TheSameNumberGivesTheSameInputs) {
  const std::vector<Bytes> seeds = {{1, 2, 3, 4}, {}, Bytes(1000, 7)};
  Mutator a(seeds, 5);
  Mutator b(seeds, 5);
  Mutator other(seeds, 6);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const Bytes input = a.Next();
    EXPECT_EQ(input, b.Next());
    differs = differs || input != other.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(MutatorTest, InputsStayWithinTheLimit) {
  const std::vector<Bytes> seeds = {Bytes(100, 7)};
  Mutator mutator(seeds, 1, 100);
  for (int i = 0; i < 1000; ++i) EXPECT_LE(mutator.Next().size(), 100u);
}

}  // namespace
}  // namespace lakestream::fuzz

// The small scope holds, and each deliberate bug in it is found.
#include "sim/small_scope.h"

#include <gtest/gtest.h>

namespace lakestream::sim {
namespace {

TEST(SmallScopeTest, EveryInterleavingHolds) {
  const SmallScopeResult result = SearchSmallScope({});
  EXPECT_EQ(result.violation, "");
  EXPECT_GT(result.states, 10'000u);
}

void ExpectFound(SmallScope scope) { EXPECT_NE(SearchSmallScope(scope).violation, ""); }

TEST(SmallScopeTest, ARefusalTakenForSuccessIsFound) { ExpectFound({.refused_is_success = true}); }
TEST(SmallScopeTest, AVoidSlotThatIsBelievedIsFound) { ExpectFound({.no_boundary_check = true}); }
TEST(SmallScopeTest, RemovalWithoutGraceIsFound) { ExpectFound({.no_grace = true}); }

}  // namespace
}  // namespace lakestream::sim

// Listings: order, pages, prefixes, completeness.
#include <algorithm>
#include <atomic>

#include "base/text.h"
#include "tests/contract/object_store_contract.h"

namespace lakestream {
namespace {

using Keys = std::vector<std::string>;

// In the order of their bytes, which is neither that of folders nor that of UTF-16: "a-b" and "a.b"
// come before "a/...", and U+FFFD comes before the emoji.
const Keys& Sorted() {
  static const Keys& keys = *new Keys{"A",
                                      "a b",
                                      "a!/x",
                                      "a-b",
                                      "a.b",
                                      "a/!x",
                                      "a/b",
                                      "a/c-d",
                                      "a/c.d",
                                      "a/c/d",
                                      "a/c/e",
                                      "a/c0",
                                      "a0",
                                      "a~",
                                      "b/1",
                                      "b/10",
                                      "b/2",
                                      "log/main/01",
                                      "log/main/02",
                                      "log/main/03",
                                      "log/x/01",
                                      "logs",
                                      "~",
                                      "\xC3\xA9/x-y",
                                      "\xEF\xBF\xBD",
                                      "\xF0\x9F\x98\x80"};
  return keys;
}

Keys Matching(const std::string& prefix, const std::string& start_after) {
  Keys keys;
  for (const std::string& key : Sorted()) {
    if (key.starts_with(prefix) && key > start_after) keys.push_back(key);
  }
  return keys;
}

// So that the order of writing is not the order of the answer.
Keys Backwards() { return {Sorted().rbegin(), Sorted().rend()}; }

TEST_P(ObjectStoreContract, AListingOfNothingIsEmpty) {
  EXPECT_EQ(ListAll(), Keys());
  EXPECT_EQ(ListAll("no/such/"), Keys());
  EXPECT_EQ(ListAll("", "zzz"), Keys());
}

TEST_P(ObjectStoreContract, AListingIsSortedByTheBytesOfTheKeys) {
  ASSERT_TRUE(std::is_sorted(Sorted().begin(), Sorted().end()));
  PutMany(Backwards());
  EXPECT_EQ(ListAll(), Sorted());
}

TEST_P(ObjectStoreContract, PagesOfAnySizeJoinToTheWholeListing) {
  PutMany(Backwards());
  for (const uint32_t limit : {1u, 2u, 3u, 7u, 25u, 26u, 27u, 999u}) {
    SCOPED_TRACE(limit);
    EXPECT_EQ(ListAll("", "", limit), Sorted());
  }
}

TEST_P(ObjectStoreContract, APrefixIsCharactersNotAFolder) {
  PutMany(Backwards());
  for (const char* prefix : {"a", "a/", "a/c", "a/c/", "a/c/d", "a/c/dd", "b/1", "lo", "log/",
                             "log/main/0", "log/main", "/", "a//", "\xC3\xA9", "~", "a "}) {
    SCOPED_TRACE(prefix);
    EXPECT_EQ(ListAll(prefix), Matching(prefix, ""));
    EXPECT_EQ(ListAll(prefix, "", 2), Matching(prefix, ""));
  }
}

TEST_P(ObjectStoreContract, StartAfterIsExclusiveAndNeedNotExist) {
  PutMany(Backwards());
  for (const char* after :
       {"A", "a", "a-", "a-b", "a/", "a/b", "a/c", "a/c/", "a/c/d", "a/c/dz", "a/c0", "b/1", "b/11",
        "log", "log/main/02", "log/main/~", "zz", "\xEF\xBF\xBD", "\xF0\x9F\x98\x80"}) {
    SCOPED_TRACE(after);
    EXPECT_EQ(ListAll("", after), Matching("", after));
    EXPECT_EQ(ListAll("", after, 3), Matching("", after));
    EXPECT_EQ(ListAll("a/", after), Matching("a/", after));
    EXPECT_EQ(ListAll("log/main/", after), Matching("log/main/", after));
  }
}

TEST_P(ObjectStoreContract, LimitsOutOfRangeAreRefused) {
  ListOptions options;
  for (const uint32_t limit : {0u, 16385u}) {
    options.limit = limit;
    EXPECT_THAT(store_->List(options, deadline_), IsCode(Code::kInvalidArgument));
  }
}

TEST_P(ObjectStoreContract, MoreThanAPageIsListedWholly) {
  Keys keys;
  for (size_t i = 0; i < 1003; ++i) keys.push_back(Str("many/", Padded(i, 5)));
  PutMany(keys);
  EXPECT_EQ(ListAll("many/"), keys);
  EXPECT_EQ(ListAll("many/", "", 16384), keys);
  EXPECT_EQ(ListAll("many/", "many/01001"), Keys{"many/01002"});
  ASSERT_THAT(Delete(keys), IsOk());
  EXPECT_EQ(ListAll("many/"), Keys());
}

TEST_P(ObjectStoreContract, WhatDoesNotChangeIsListedWhateverElseComesAndGoes) {
  Keys stable;
  for (size_t i = 0; i < 20; ++i) stable.push_back(Str("k/", Padded(2 * i, 3)));
  PutMany(stable);
  std::atomic<bool> writing{true};
  Together(2, [&](size_t thread) {
    if (thread == 0) {
      for (size_t i = 0; i < Scaled(20); ++i) {
        const std::string key = Str("k/", Padded(2 * (i % 20) + 1, 3));
        EXPECT_THAT(Put(key, "x"), IsOk());
        EXPECT_THAT(Put(stable[i % 20], "overwritten"), IsOk());
        EXPECT_THAT(Delete({key}), IsOk());
      }
      writing = false;
      return;
    }
    while (writing) {
      const Keys seen = ListAll("k/", "", 7);
      ASSERT_TRUE(std::includes(seen.begin(), seen.end(), stable.begin(), stable.end()));
    }
  });
  EXPECT_EQ(ListAll("k/"), stable);
}

}  // namespace
}  // namespace lakestream

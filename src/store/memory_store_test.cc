#include "store/memory_store.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace lakestream {
namespace {

const Deadline kNever = Deadline::Never();

TEST(MemoryStoreTest, GetSharesTheStoredBytesWithoutCopying) {
  MemoryStore store(RealRuntime(), "test");
  ASSERT_THAT(PutBytes(store, "a", AsBytes("hello"), {}, kNever), IsOk());
  const Buffer first = *GetBytes(store, "a", kNever);
  const Buffer second = *GetBytes(store, "a", kNever);
  EXPECT_EQ(first.text(), "hello");
  EXPECT_EQ(first.data(), second.data());
}

TEST(MemoryStoreTest, WhatWasReadOutlivesDeleteAndStore) {
  Buffer data;
  {
    MemoryStore store(RealRuntime(), "test");
    ASSERT_THAT(PutBytes(store, "a", AsBytes("hello"), {}, kNever), IsOk());
    data = *GetBytes(store, "a", kNever);
    const std::string keys[] = {"a"};
    ASSERT_THAT(store.Delete(keys, kNever), IsOk());
    EXPECT_THAT(store.Head("a", kNever), IsCode(Code::kNotFound));
  }
  EXPECT_EQ(data.text(), "hello");
}

TEST(MemoryStoreTest, DescribesItself) {
  EXPECT_EQ(MemoryStore(RealRuntime(), "x").Describe(), "memory://x");
}

}  // namespace
}  // namespace lakestream

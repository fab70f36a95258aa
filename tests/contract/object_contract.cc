// Whole objects: put, get, head, delete, ranges, keys, deadlines.
#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "base/text.h"
#include "tests/contract/object_store_contract.h"

namespace lakestream {
namespace {

std::string Pattern(size_t bytes) {
  std::string text(bytes, '\0');
  uint32_t state = 12345;
  for (char& c : text) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return text;
}

// Gives memory with a known place, and remembers what was asked for.
class RecordingAllocator final : public BufferAllocator {
 public:
  Block Allocate(size_t size) override {
    sizes.push_back(size);
    auto memory = std::make_shared<std::vector<uint8_t>>(size + 64);
    const size_t misaligned = reinterpret_cast<uintptr_t>(memory->data()) % 64;
    Block block;
    block.data = memory->data() + (64 - misaligned) % 64;
    block.owner = memory;
    last = block.data;
    owner = memory;
    return block;
  }
  std::vector<size_t> sizes;
  uint8_t* last = nullptr;
  std::weak_ptr<void> owner;
};

TEST_P(ObjectStoreContract, APutIsSeenByGetHeadAndList) {
  const Result<PutResult> put = Put("a/b", "hello");
  ASSERT_THAT(put, IsOk());
  EXPECT_TRUE(put->stored);
  EXPECT_FALSE(put->etag.empty());

  const Result<GetResult> get = store_->Get("a/b", {}, deadline_);
  ASSERT_THAT(get, IsOk());
  EXPECT_EQ(get->data.text(), "hello");
  EXPECT_EQ(get->info.key, "a/b");
  EXPECT_EQ(get->info.size, 5u);
  EXPECT_EQ(get->info.etag, put->etag);

  const Result<ObjectInfo> head = store_->Head("a/b", deadline_);
  ASSERT_THAT(head, IsOk());
  EXPECT_EQ(head->key, "a/b");
  EXPECT_EQ(head->size, 5u);
  EXPECT_EQ(head->etag, put->etag);

  const Result<ListPage> page = store_->List({}, deadline_);
  ASSERT_THAT(page, IsOk());
  ASSERT_EQ(page->objects.size(), 1u);
  EXPECT_EQ(page->objects[0].key, "a/b");
  EXPECT_EQ(page->objects[0].size, 5u);
  EXPECT_FALSE(page->more);
}

TEST_P(ObjectStoreContract, AMissingObjectIsNotFoundAndItsDeleteSucceeds) {
  EXPECT_THAT(store_->Get("no/such", {}, deadline_), IsCode(Code::kNotFound));
  EXPECT_THAT(store_->Head("no/such", deadline_), IsCode(Code::kNotFound));
  EXPECT_THAT(Delete({"no/such"}), IsOk());
  EXPECT_THAT(Delete({}), IsOk());
}

TEST_P(ObjectStoreContract, ADeletedObjectIsGoneForEveryOperation) {
  ASSERT_THAT(Put("a/x", "1"), IsOk());
  ASSERT_THAT(Put("a/y", "2"), IsOk());
  ASSERT_THAT(Delete({"a/x", "a/missing"}), IsOk());
  EXPECT_EQ(Read("a/x"), "<not_found>");
  EXPECT_FALSE(Exists("a/x"));
  EXPECT_EQ(ListAll(), std::vector<std::string>{"a/y"});
  EXPECT_EQ(Read("a/y"), "2");
}

TEST_P(ObjectStoreContract, AnOverwriteReplacesTheWholeObjectAndItsEtag) {
  const std::string first = Put("a", "a long first content")->etag;
  const std::string second = Put("a", "short")->etag;
  EXPECT_NE(first, second);
  EXPECT_EQ(Read("a"), "short");
  EXPECT_EQ(store_->Head("a", deadline_)->etag, second);
}

TEST_P(ObjectStoreContract, AnEmptyObjectIsAnObject) {
  ASSERT_THAT(Put("empty", ""), IsOk());
  EXPECT_TRUE(Exists("empty"));
  EXPECT_EQ(store_->Head("empty", deadline_)->size, 0u);
  EXPECT_EQ(Read("empty"), "");
  EXPECT_EQ(ReadRange("empty", 0, 10), "");
  EXPECT_EQ(ReadRange("empty", 7, 0), "");
  EXPECT_EQ(ListAll(), std::vector<std::string>{"empty"});
}

TEST_P(ObjectStoreContract, ThePiecesOfAPutAreJoinedInOrder) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1500; ++i) texts.push_back(i % 7 == 0 ? "" : Str(i, ","));
  std::vector<ConstBytes> pieces = {ConstBytes()};
  std::string whole;
  for (const std::string& text : texts) {
    pieces.push_back(AsBytes(text));
    whole += text;
  }
  ASSERT_THAT(store_->Put("gathered", pieces, {}, deadline_), IsOk());
  EXPECT_EQ(Read("gathered"), whole);
  ASSERT_THAT(store_->Put("nothing", {}, {}, deadline_), IsOk());
  EXPECT_EQ(Read("nothing"), "");
}

TEST_P(ObjectStoreContract, RangesAreCutAtTheEndAndRefusedBehindIt) {
  ASSERT_THAT(Put("digits", "0123456789"), IsOk());
  EXPECT_EQ(ReadRange("digits", 0, 10), "0123456789");
  EXPECT_EQ(ReadRange("digits", 0, 1), "0");
  EXPECT_EQ(ReadRange("digits", 3, 4), "3456");
  EXPECT_EQ(ReadRange("digits", 9, 1), "9");
  EXPECT_EQ(ReadRange("digits", 8, 100), "89");
  EXPECT_EQ(ReadRange("digits", 1, UINT64_MAX), "123456789");
  EXPECT_EQ(ReadRange("digits", 3, 0), "");
  EXPECT_EQ(ReadRange("digits", 10, 1), "<invalid_argument>");
  EXPECT_EQ(ReadRange("digits", 10, 0), "<invalid_argument>");
  EXPECT_EQ(ReadRange("digits", UINT64_MAX, 1), "<invalid_argument>");
  EXPECT_EQ(ReadRange("missing", 0, 1), "<not_found>");
}

TEST_P(ObjectStoreContract, ARangedReadTellsTheSizeOfTheWholeObject) {
  ASSERT_THAT(Put("digits", "0123456789"), IsOk());
  GetOptions options;
  for (const ByteRange range : {ByteRange{2, 3}, ByteRange{2, 0}}) {
    options.range = range;
    const Result<GetResult> result = store_->Get("digits", options, deadline_);
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->info.size, 10u);
    EXPECT_EQ(result->data.size(), range.size);
  }
}

TEST_P(ObjectStoreContract, LargeObjectsComeBackBitByBit) {
  const std::string content = Pattern((6 << 20) + 12345);
  ASSERT_THAT(Put("large", content), IsOk());
  EXPECT_TRUE(Read("large") == content);
  EXPECT_TRUE(ReadRange("large", (3 << 20) - 1, 2 << 20) == content.substr((3 << 20) - 1, 2 << 20));
  EXPECT_TRUE(ReadRange("large", content.size() - 1, 9) == content.substr(content.size() - 1));
}

TEST_P(ObjectStoreContract, AGetWritesIntoTheMemoryOfItsAllocator) {
  ASSERT_THAT(Put("digits", "0123456789"), IsOk());
  RecordingAllocator allocator;
  GetOptions options;
  options.allocator = &allocator;
  options.range = ByteRange{2, 5};
  {
    const Result<GetResult> result = store_->Get("digits", options, deadline_);
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->data.text(), "23456");
    EXPECT_EQ(result->data.data(), allocator.last);
    EXPECT_EQ(allocator.sizes, std::vector<size_t>{5});
    EXPECT_FALSE(allocator.owner.expired());
  }
  EXPECT_TRUE(allocator.owner.expired()) << "the memory outlives its buffer";
}

TEST_P(ObjectStoreContract, AReadWithAnEtagFailsOnceTheObjectHasChanged) {
  GetOptions options;
  options.if_match = Put("a", "one")->etag;
  EXPECT_EQ(store_->Get("a", options, deadline_)->data.text(), "one");
  ASSERT_THAT(Put("a", "two"), IsOk());
  EXPECT_THAT(store_->Get("a", options, deadline_), IsCode(Code::kAborted));
  options.range = ByteRange{0, 1};
  EXPECT_THAT(store_->Get("a", options, deadline_), IsCode(Code::kAborted));
  ASSERT_THAT(Delete({"a"}), IsOk());
  EXPECT_THAT(store_->Get("a", options, deadline_), IsCode(Code::kNotFound));
}

TEST_P(ObjectStoreContract, TimesComeFromTheStore) {
  const Result<PutResult> put = Put("a", "1");
  ASSERT_THAT(put, IsOk());
  EXPECT_GT(put->date_ms, 0);
  const Result<ObjectInfo> head = store_->Head("a", deadline_);
  const Result<GetResult> get = store_->Get("a", {}, deadline_);
  const Result<ListPage> page = store_->List({}, deadline_);
  ASSERT_TRUE(head.ok() && get.ok() && page.ok());
  constexpr int64_t kSecondMs = 1000;  // the granularity of HTTP dates
  EXPECT_GE(head->date_ms + kSecondMs, head->modified_ms);
  EXPECT_NEAR(head->modified_ms, put->date_ms, 30 * kSecondMs);
  EXPECT_NEAR(head->modified_ms, get->info.modified_ms, kSecondMs);
  EXPECT_NEAR(head->modified_ms, page->objects[0].modified_ms, kSecondMs);
  EXPECT_GE(get->info.date_ms + kSecondMs, put->date_ms);
  EXPECT_GE(page->date_ms + kSecondMs, put->date_ms);
}

TEST_P(ObjectStoreContract, WhatIsNoKeyIsRefusedByEveryOperation) {
  for (const std::string& key : {std::string(), std::string(1025, 'k'), std::string("a\0b", 3),
                                 std::string("a\xFF"), std::string("a\xC3")}) {
    SCOPED_TRACE(key);
    EXPECT_THAT(Put(key, "1"), IsCode(Code::kInvalidArgument));
    EXPECT_THAT(PutIfAbsent(key, "1"), IsCode(Code::kInvalidArgument));
    EXPECT_THAT(store_->Get(key, {}, deadline_), IsCode(Code::kInvalidArgument));
    EXPECT_THAT(store_->Head(key, deadline_), IsCode(Code::kInvalidArgument));
    EXPECT_THAT(store_->StartUpload(key, deadline_), IsCode(Code::kInvalidArgument));
    EXPECT_THAT(Delete({key}), IsCode(Code::kInvalidArgument));
  }
}

// Puts, reads, lists and deletes each key; each has its own content, so mix-ups are seen.
TEST_P(ObjectStoreContract, AwkwardKeysRoundTrip) {
  std::set<std::string> keys = {"k/a b",
                                " k",
                                "k ",
                                "k/%20",
                                "k/%2F",
                                "k/a+b",
                                "k/a=b&c",
                                "k/?x=1#y",
                                "k/[bug]",
                                "k/~x",
                                "k/x.",
                                "k/.x",
                                "k/..x",
                                "k/...",
                                "k/\xC3\xA9",
                                "k/e\xCC\x81",
                                "k/\xF0\x9F\x98\x80",
                                "k/\xEF\xBF\xBD",
                                "k/<a>&amp;\"'"};
  for (char c = 0x20; c < 0x7F; ++c) {
    if (c != '/') keys.insert(Str("ascii/", std::string(1, c), "x"));
  }
  if (GetParam().holds_any_key) {
    keys.insert({"/k", "//k", "q/", "q//", "q//r", "q", "q/r", "..", "../k", "q/../r", ".", "./k",
                 "q/./r", "q/.."});
  }
  const std::vector<std::string> all(keys.begin(), keys.end());
  PutMany(all);
  EXPECT_EQ(ListAll(), all);
  for (const std::string& key : all) EXPECT_EQ(Read(key), "content of " + key);
  const std::vector<std::string> half(all.begin() + static_cast<long>(all.size() / 2), all.end());
  ASSERT_THAT(Delete(half), IsOk());
  EXPECT_EQ(ListAll().size(), all.size() - half.size());
  ASSERT_THAT(Delete(all), IsOk());
  EXPECT_EQ(ListAll(), std::vector<std::string>());
}

TEST_P(ObjectStoreContract, TheLongestKeysRoundTrip) {
  std::string key;
  while (key.size() < GetParam().key_bytes_max) key += key.size() % 200 == 100 ? '/' : 'k';
  ASSERT_THAT(PutIfAbsent(key, "1"), IsOk());
  EXPECT_EQ(Read(key), "1");
  EXPECT_EQ(ListAll(), std::vector<std::string>{key});
  EXPECT_EQ(ListAll(key), std::vector<std::string>{key});
  ASSERT_THAT(Delete({key}), IsOk());
  EXPECT_FALSE(Exists(key));
}

// D18: a client's connections and buffers are not mixed up among many threads.
TEST_P(ObjectStoreContract, ManyThreadsEachReadTheRightBytes) {
  constexpr int kThreads = 32;
  constexpr int kReads = 40;
  const auto content = [](int i) { return Str("object ", i, " ", std::string(100 * i, 'x')); };
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_TRUE(
        PutBytes(*store_, Str("many/", i), AsBytes(content(i)), {}, Deadline::Never()).ok());
  }
  std::atomic<int> wrong = 0;
  const auto runtime = RealRuntime();
  std::vector<std::unique_ptr<Thread>> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.push_back(runtime->Spawn("reader", [&, t] {
      for (int r = 0; r < kReads; ++r) {
        const int i = (t + r) % kThreads;
        const auto read = GetBytes(*store_, Str("many/", i), Deadline::Never());
        wrong += !read.ok() || read->text() != content(i);
      }
    }));
  }
  for (auto& thread : threads) thread->Join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(ObjectStoreContract, ThousandsOfKeysAreDeletedByOneCall) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < 2100; ++i) keys.push_back(Str("many/", Padded(i, 6)));
  const std::vector<std::string> existing(keys.begin() + 900, keys.begin() + 1100);
  PutMany(existing);
  ASSERT_THAT(Put("many/other", "1"), IsOk());
  ASSERT_THAT(Delete(keys), IsOk());
  EXPECT_EQ(ListAll(), std::vector<std::string>{"many/other"});
}

TEST_P(ObjectStoreContract, AnExpiredDeadlineIsAnsweredAndNothingIsWritten) {
  ASSERT_THAT(Put("old", "1"), IsOk());
  const Deadline expired{runtime_->Now() - std::chrono::seconds(1), nullptr};
  CancelToken token;
  token.Cancel();
  const Deadline cancelled{TimePoint::max(), &token};
  const std::vector<std::string> keys = {"old"};
  for (const auto& [deadline, code] :
       {std::pair(expired, Code::kDeadlineExceeded), std::pair(cancelled, Code::kCancelled)}) {
    EXPECT_THAT(PutBytes(*store_, "new", AsBytes("1"), {}, deadline), IsCode(code));
    EXPECT_THAT(store_->Get("old", {}, deadline), IsCode(code));
    EXPECT_THAT(store_->Head("old", deadline), IsCode(code));
    EXPECT_THAT(store_->List({}, deadline), IsCode(code));
    EXPECT_THAT(store_->Delete(keys, deadline), IsCode(code));
    EXPECT_THAT(store_->StartUpload("new", deadline), IsCode(code));
  }
  EXPECT_EQ(ListAll(), keys);
}

TEST_P(ObjectStoreContract, DescribesItselfWithoutSecrets) {
  EXPECT_FALSE(store_->Describe().empty());
  EXPECT_EQ(store_->Describe().find("secret"), std::string::npos);
}

}  // namespace
}  // namespace lakestream

#include <algorithm>

#include "base/mutex.h"
#include "base/text.h"
#include "runtime/parallel.h"
#include "tests/contract/object_store_contract.h"

namespace lakestream {

void PrintTo(const StoreUnderTest& store, std::ostream* out) { *out << store.name; }

std::string ObjectStoreContract::Read(const std::string& key) {
  const Result<Buffer> data = GetBytes(*store_, key, deadline_);
  return data.ok() ? std::string(data->text()) : Str("<", CodeName(data.status().code()), ">");
}

std::string ObjectStoreContract::ReadRange(const std::string& key, uint64_t offset, uint64_t size) {
  GetOptions options;
  options.range = ByteRange{offset, size};
  const Result<GetResult> result = store_->Get(key, options, deadline_);
  return result.ok() ? std::string(result->data.text())
                     : Str("<", CodeName(result.status().code()), ">");
}

std::vector<std::string> ObjectStoreContract::ListAll(const std::string& prefix,
                                                      const std::string& start_after,
                                                      uint32_t limit) {
  std::vector<std::string> keys;
  ListOptions options;
  options.prefix = prefix;
  options.start_after = start_after;
  options.limit = limit;
  for (int pages = 0; pages < 10000; ++pages) {
    const Result<ListPage> page = store_->List(options, deadline_);
    EXPECT_THAT(page, IsOk());
    if (!page.ok()) break;
    EXPECT_LE(page->objects.size(), limit);
    for (const ObjectInfo& object : page->objects) {
      EXPECT_GT(object.key, keys.empty() ? start_after : keys.back());
      keys.push_back(object.key);
    }
    if (!page->more) return keys;
    EXPECT_FALSE(page->objects.empty()) << "more, but no key to go on from";
    if (page->objects.empty()) break;
    options.start_after = keys.back();
  }
  ADD_FAILURE() << "the listing of '" << prefix << "' did not come to its end";
  return keys;
}

void ObjectStoreContract::PutMany(const std::vector<std::string>& keys) {
  const Status status = ParallelFor(*runtime_, keys.size(), 16, [&](size_t i) {
    return Put(keys[i], Str("content of ", keys[i])).status();
  });
  ASSERT_THAT(status, IsOk());
}

void ObjectStoreContract::Together(size_t count, const std::function<void(size_t)>& body) {
  Mutex mutex;
  size_t missing = count;
  const std::unique_ptr<Condition> all_here = runtime_->NewCondition();
  std::vector<std::unique_ptr<Thread>> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.push_back(runtime_->Spawn("contract", [&, i] {
      {
        MutexLock lock(mutex);
        if (--missing == 0) all_here->NotifyAll();
        while (missing > 0) all_here->Wait(mutex);
      }
      body(i);
    }));
  }
  for (auto& thread : threads) thread->Join();
}

}  // namespace lakestream

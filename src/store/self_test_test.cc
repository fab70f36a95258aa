#include <gtest/gtest.h>

#include "lakestream/object_store.h"
#include "store/local_store.h"
#include "store/memory_store.h"
#include "store/metered_store.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/scoped_dir.h"
#include "tests/support/status_matchers.h"

namespace lakestream {
namespace {

const Deadline kNever = Deadline::Never();

std::shared_ptr<ObjectStore> Memory() {
  return std::make_shared<MemoryStore>(RealRuntime(), "self-test");
}

// Takes every put, as servers do that do not know If-None-Match.
class IgnoresCondition final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions&, const Deadline& deadline) override {
    return below().Put(key, pieces, {}, deadline);
  }
};

// Looks first and writes then: two steps that others can come between.
class LooksThenWrites final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions&, const Deadline& deadline) override {
    if (below().Head(key, deadline).ok()) return PutResult{.stored = false, .etag = ""};
    LS_RETURN_IF_ERROR(SleepFor(*runtime_, std::chrono::microseconds(500), deadline));
    return below().Put(key, pieces, {}, deadline);
  }

 private:
  const std::shared_ptr<Runtime> runtime_ = RealRuntime();
};

class HasNoCondition final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<PutResult> Put(const std::string&, std::span<const ConstBytes>, const PutOptions&,
                        const Deadline&) override {
    return UnimplementedError("no If-None-Match here");
  }
};

// Says "not stored" to all but writes nevertheless.
class DeniesItsWrites final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override {
    LS_ASSIGN_OR_RETURN(PutResult result, below().Put(key, pieces, options, deadline));
    if (!result.stored) LS_RETURN_IF_ERROR(below().Put(key, pieces, {}, deadline).status());
    return result;
  }
};

// Answers the loser of a race by 409, as some stores do.
class LosersGetAConflict final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override {
    LS_ASSIGN_OR_RETURN(PutResult result, below().Put(key, pieces, options, deadline));
    if (!result.stored) return UnavailableError("409", Reason::kConflict);
    return result;
  }
};

// Each winner's request reaches the store twice, and the second answer is the one that comes back.
class WinnersAreNotTold final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override {
    LS_RETURN_IF_ERROR(below().Put(key, pieces, options, deadline).status());
    return below().Put(key, pieces, options, deadline);
  }
};

class IsDown final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<PutResult> Put(const std::string&, std::span<const ConstBytes>, const PutOptions&,
                        const Deadline&) override {
    return UnavailableError("down");
  }
};

Status Check(ObjectStore& store) {
  auto runtime = RealRuntime();
  return CheckConditionalPut(store, *runtime, kNever);
}

TEST(SelfTest, AtomicStoresPassAndNothingIsLeft) {
  ScopedDir dir;
  std::shared_ptr<ObjectStore> local = *LocalStore::Open(dir.path(), {}, RealRuntime());
  for (const auto& store : {Memory(), local}) {
    EXPECT_THAT(Check(*store), IsOk());
    EXPECT_TRUE(store->List({}, kNever)->objects.empty());
  }
}

TEST(SelfTest, CostsAboutFortyRequests) {
  MeteredStore store(Memory());
  ASSERT_THAT(Check(store), IsOk());
  EXPECT_LE(store.counts().requests(), 45u);
}

TEST(SelfTest, RefusesAStoreThatIgnoresTheCondition) {
  auto memory = Memory();
  IgnoresCondition store(memory);
  EXPECT_THAT(Check(store), IsCode(Code::kFailedPrecondition));
  EXPECT_THAT(Check(store), HasReason(Reason::kUnsafeStore));
  EXPECT_TRUE(memory->List({}, kNever)->objects.empty());
}

TEST(SelfTest, RefusesAStoreThatLooksAndThenWrites) {
  LooksThenWrites store(Memory());
  for (int i = 0; i < 5; ++i) EXPECT_THAT(Check(store), HasReason(Reason::kUnsafeStore));
}

TEST(SelfTest, RefusesAStoreWithoutConditionalWrites) {
  HasNoCondition store(Memory());
  EXPECT_THAT(Check(store), HasReason(Reason::kUnsafeStore));
}

TEST(SelfTest, RefusesAStoreThatDeniesItsWrites) {
  DeniesItsWrites store(Memory());
  EXPECT_THAT(Check(store), HasReason(Reason::kUnsafeStore));
}

TEST(SelfTest, AConflictForTheLoserIsSafe) {
  LosersGetAConflict store(Memory());
  EXPECT_THAT(Check(store), IsOk());
}

TEST(SelfTest, AWinnerThatWasNotToldIsFoundByReading) {
  WinnersAreNotTold store(Memory());
  EXPECT_THAT(Check(store), IsOk());
}

TEST(SelfTest, AStoreThatIsDownIsNotCalledUnsafe) {
  IsDown store(Memory());
  EXPECT_THAT(Check(store), IsCode(Code::kUnavailable));
  EXPECT_THAT(Check(store), HasReason(Reason::kNone));
}

}  // namespace
}  // namespace lakestream

// The contract on the backends that need no server: memory, local folder, and a decorator.
#include "store/local_store.h"
#include "store/memory_store.h"
#include "store/metered_store.h"
#include "tests/contract/object_store_contract.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/scoped_dir.h"

namespace lakestream {
namespace {

// A store in a folder of its own, which goes when the store goes.
class LocalStoreOfATest final : public ForwardingStore {
 public:
  LocalStoreOfATest(std::unique_ptr<ScopedDir> dir, std::shared_ptr<ObjectStore> store)
      : ForwardingStore(std::move(store)), dir_(std::move(dir)) {}

 private:
  const std::unique_ptr<ScopedDir> dir_;
};

std::unique_ptr<ObjectStore> NewLocal(bool fsync) {
  auto dir = std::make_unique<ScopedDir>();
  LocalStoreOptions options;
  options.fsync = fsync;
  std::shared_ptr<ObjectStore> store = *LocalStore::Open(dir->path(), options, RealRuntime());
  return std::make_unique<LocalStoreOfATest>(std::move(dir), std::move(store));
}

StoreUnderTest Memory() {
  StoreUnderTest store;
  store.name = "memory";
  store.make = [] { return std::make_unique<MemoryStore>(RealRuntime(), "contract"); };
  return store;
}

StoreUnderTest Metered() {
  StoreUnderTest store;
  store.name = "metered";
  store.make = [] {
    return std::make_unique<MeteredStore>(std::make_shared<MemoryStore>(RealRuntime(), "contract"));
  };
  return store;
}

StoreUnderTest Local(bool fsync) {
  StoreUnderTest store;
  store.name = fsync ? "local" : "local without fsync";
  store.make = [fsync] { return NewLocal(fsync); };
  store.holds_any_key = false;
  store.knows_keys_of_uploads = false;
  return store;
}

INSTANTIATE_TEST_SUITE_P(Memory, ObjectStoreContract, testing::Values(Memory()));
INSTANTIATE_TEST_SUITE_P(Metered, ObjectStoreContract, testing::Values(Metered()));
INSTANTIATE_TEST_SUITE_P(Local, ObjectStoreContract, testing::Values(Local(true)));
INSTANTIATE_TEST_SUITE_P(LocalWithoutFsync, ObjectStoreContract, testing::Values(Local(false)));

}  // namespace
}  // namespace lakestream

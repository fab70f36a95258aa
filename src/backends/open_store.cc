#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "backends/store_uri.h"
#include "base/mutex.h"
#include "base/text.h"
#include "lakestream/object_store.h"
#include "s3/s3_store.h"
#include "store/local_store.h"
#include "store/memory_store.h"

namespace lakestream {
namespace {

// "memory://name" must mean the same objects to all that open it in this process, also after the
// first of them has let go of it: the one thing here that is global, made at the first use.
class MemoryStores {
 public:
  std::shared_ptr<ObjectStore> Open(const std::string& name, std::shared_ptr<Runtime> runtime) {
    MutexLock lock(mutex_);
    std::shared_ptr<MemoryStore>& store = stores_[name];
    if (store == nullptr) store = std::make_shared<MemoryStore>(std::move(runtime), name);
    return store;
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryStore>> stores_ LS_GUARDED_BY(mutex_);
};

// Never destroyed: threads may still hold a store when the process ends.
MemoryStores& AllMemoryStores() {
  static MemoryStores& stores = *new MemoryStores();
  return stores;
}

PathBases BasesOfThisProcess() {
  PathBases bases;
  const std::unique_ptr<char, decltype(&std::free)> folder(getcwd(nullptr, 0), &std::free);
  if (folder != nullptr) bases.working_folder = folder.get();
  const char* home = std::getenv("HOME");
  if (home != nullptr) bases.home = home;
  return bases;
}

template <typename Store>
Result<std::shared_ptr<ObjectStore>> Shared(Result<std::unique_ptr<Store>> store) {
  if (!store.ok()) return store.status();
  return std::shared_ptr<ObjectStore>(*std::move(store));
}

}  // namespace

Result<std::shared_ptr<ObjectStore>> OpenStore(std::string_view uri, const StoreOptions& options,
                                               std::shared_ptr<Runtime> runtime) {
  LS_ASSIGN_OR_RETURN(const StoreUri parsed, ParseStoreUri(uri, BasesOfThisProcess()));
  switch (parsed.backend) {
    case StoreUri::Backend::kMemory:
      return AllMemoryStores().Open(parsed.name, std::move(runtime));
    case StoreUri::Backend::kLocal:
      return Shared(LocalStore::Open(parsed.path, {.fsync = options.fsync, .files = nullptr},
                                     std::move(runtime)));
    case StoreUri::Backend::kS3:
      return Shared(s3::OpenS3Store(parsed.bucket, parsed.prefix, options, std::move(runtime)));
  }
  return InternalError(Str("store '", uri, "' has no backend"));
}

}  // namespace lakestream

#include "lakestream/object_store.h"

namespace lakestream {

Result<PutResult> PutBytes(ObjectStore& store, const std::string& key, ConstBytes bytes,
                           const PutOptions& options, const Deadline& deadline) {
  return store.Put(key, std::span<const ConstBytes>(&bytes, 1), options, deadline);
}

Result<Buffer> GetBytes(ObjectStore& store, const std::string& key, const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(GetResult result, store.Get(key, {}, deadline));
  return std::move(result.data);
}

}  // namespace lakestream

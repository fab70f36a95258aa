// The store's clock: the only one that ages are measured by.
#pragma once

#include "lakestream/object_store.h"
#include "manifest/keys.h"

namespace lakestream {

// Milliseconds since 1970. One request.
inline Result<int64_t> StoreNowMs(ObjectStore& store, const Deadline& deadline) {
  LS_ASSIGN_OR_RETURN(const ObjectInfo info, store.Head(kStreamKey, deadline));
  if (info.date_ms > 0) return info.date_ms;
  return UnavailableError(store.Describe() +
                          " does not tell its time, so no age can be known; on a local folder, "
                          "this user must be able to write below the root");
}

inline int64_t ToMs(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace lakestream

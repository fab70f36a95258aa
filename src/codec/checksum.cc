#include "codec/checksum.h"

#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // the same functions, by the widest vectors that this processor has
#endif

#include <cstring>

namespace lakestream {

uint64_t Checksum64(ConstBytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Hash128 HashBytes128(ConstBytes bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Hash128 hash;
  std::memcpy(hash.data(), canonical.digest, hash.size());
  return hash;
}

}  // namespace lakestream

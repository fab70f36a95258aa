#include <utility>

#include "lakestream/types.h"

namespace lakestream {

Buffer Buffer::CopyOf(ConstBytes bytes) {
  return FromVector(std::vector<uint8_t>(bytes.begin(), bytes.end()));
}

Buffer Buffer::FromVector(std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  ConstBytes view(*owner);
  return Buffer(std::move(owner), view);
}

}  // namespace lakestream

#include "store/temporary_name.h"

#include "base/text.h"

namespace lakestream {

std::string HexOf(uint64_t number) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(number >> (8 * (7 - i)));
  return ToHex(bytes);
}

std::string TemporaryName(uint64_t owner, Runtime& runtime) {
  return HexOf(owner) + HexOf(runtime.Random64());
}

bool IsTemporaryName(std::string_view name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace lakestream

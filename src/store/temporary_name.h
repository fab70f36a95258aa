// Names of temporary files: 32 hex digits. The first half says which put or upload it belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lakestream/runtime.h"

namespace lakestream {

// 16 hex digits.
std::string HexOf(uint64_t number);
// A fresh name for a file of `owner`.
std::string TemporaryName(uint64_t owner, Runtime& runtime);
bool IsTemporaryName(std::string_view name);
// The owner's digits in a temporary name.
inline std::string_view OwnerIn(std::string_view name) { return name.substr(0, 16); }

}  // namespace lakestream

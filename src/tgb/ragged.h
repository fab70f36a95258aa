// The names of a ragged field's two tensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lakestream {

inline constexpr std::string_view kOffsetsSuffix = "#offsets";

inline std::string RaggedOffsetsName(std::string_view name) {
  return std::string(name).append(kOffsetsSuffix);
}
// "x" for "x#offsets", else nothing.
inline std::optional<std::string_view> RaggedValuesName(std::string_view name) {
  if (!name.ends_with(kOffsetsSuffix)) return std::nullopt;
  return name.substr(0, name.size() - kOffsetsSuffix.size());
}

}  // namespace lakestream

#include "multimodal/arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

namespace multimodal {

using lakestream::InvalidArgumentError;
using lakestream::Result;
using lakestream::Status;

Result<Arguments> Arguments::Parse(int argc, char** argv, const std::vector<std::string>& values,
                                   const std::vector<std::string>& flags) {
  Arguments parsed;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string name = word.substr(0, 2) == "--" ? word.substr(2) : "";
    if (std::find(flags.begin(), flags.end(), name) != flags.end()) {
      parsed.values_[name] = "yes";
    } else if (std::find(values.begin(), values.end(), name) != values.end() && i + 1 < argc) {
      parsed.values_[name] = argv[++i];
    } else {
      return InvalidArgumentError("unknown or incomplete argument '" + word + "'");
    }
  }
  for (const std::string& name : values) {
    if (!parsed.Has(name)) return InvalidArgumentError("--" + name + " is missing");
  }
  return parsed;
}

uint64_t Arguments::Number(const std::string& name) const {
  const std::string& text = Text(name);
  uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() ? value : 0;
}

int RunProgram(const std::string& name, int argc, char** argv,
               const std::vector<std::string>& values, const std::vector<std::string>& flags,
               Status (*run)(const Arguments&)) {
  const auto arguments = Arguments::Parse(argc, argv, values, flags);
  const Status status = arguments.ok() ? run(*arguments) : arguments.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", name.c_str(), status.ToString().c_str());
  return arguments.ok() ? 1 : 2;
}

}  // namespace multimodal

// Command lines of the example's programs: --name VALUE and --flag.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lakestream/status.h"

namespace multimodal {

class Arguments {
 public:
  // Every value must be given, flags may be. kInvalidArgument names what is missing or unknown.
  static lakestream::Result<Arguments> Parse(int argc, char** argv,
                                             const std::vector<std::string>& values,
                                             const std::vector<std::string>& flags);
  bool Has(const std::string& name) const { return values_.count(name) != 0; }
  // Of a parsed value.
  const std::string& Text(const std::string& name) const { return values_.at(name); }
  // 0 if it is not a decimal number.
  uint64_t Number(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

// Parses, runs, prints a failure as one line. The exit code: 0, 1 failed, 2 wrong arguments.
int RunProgram(const std::string& name, int argc, char** argv,
               const std::vector<std::string>& values, const std::vector<std::string>& flags,
               lakestream::Status (*run)(const Arguments&));

}  // namespace multimodal

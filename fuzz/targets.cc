#include "fuzz/target.h"

namespace lakestream::fuzz {

std::vector<Target> AllTargets() {
  std::vector<Target> all;
  for (const auto targets : {TgbTargets(), ManifestTargets(), S3Targets()}) {
    all.insert(all.end(), targets.begin(), targets.end());
  }
  return all;
}

Target FindTarget(std::string_view name) {
  for (const Target& target : AllTargets()) {
    if (target.name == name) return target;
  }
  __builtin_trap();
}

}  // namespace lakestream::fuzz

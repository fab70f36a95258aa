// What StoreOptions, the environment and the shared config file say together. No I/O but reading
// those files.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lakestream/object_store.h"

namespace lakestream::s3 {

// Reads an environment variable; an empty one counts as unset. A seam for tests.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment ProcessEnvironment();

// The sections of an AWS credentials or config file: section -> key -> value. Keys in lower case;
// "[profile x]" is section "x". Lines that are no "key = value" are skipped, as AWS's tools do.
using IniFile = std::map<std::string, std::map<std::string, std::string>>;
IniFile ParseIni(std::string_view text);
// nullopt if the file cannot be read.
std::optional<std::string> ReadTextFile(const std::string& path);

// The keys of one profile: the credentials file's section over the config file's. Absent from both:
// an empty map.
std::map<std::string, std::string> LoadProfile(const std::string& profile,
                                               const Environment& environment);

struct S3Settings {
  std::string endpoint;  // empty: AWS
  std::string region;
  std::optional<bool> path_style;
  std::string ca_bundle;
  std::string profile;         // "default" if none was named
  bool profile_named = false;  // by StoreOptions: then it goes before the environment's keys
  bool unsigned_payload = false;
};
// Options win over the environment, which wins over the profile.
S3Settings ResolveSettings(const StoreOptions& options, const Environment& environment);

}  // namespace lakestream::s3

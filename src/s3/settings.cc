#include "s3/settings.h"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace lakestream::s3 {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

std::string FilePath(const Environment& environment, const std::string& variable,
                     const std::string& name) {
  if (auto path = environment(variable)) return *path;
  if (auto home = environment("HOME")) return *home + "/.aws/" + name;
  return "";
}

// The first of the variables that is set.
std::string FirstOf(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (auto value = environment(name)) return *value;
  }
  return "";
}

std::string ValueOf(const std::map<std::string, std::string>& keys, const std::string& name) {
  const auto entry = keys.find(name);
  return entry == keys.end() ? "" : entry->second;
}

}  // namespace

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

std::optional<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (path.empty() || !file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return text;
}

IniFile ParseIni(std::string_view text) {
  IniFile file;
  std::string section;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view raw = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view line = Trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      std::string_view name = Trim(line.substr(1, std::min(line.find(']'), line.size()) - 1));
      if (name.substr(0, 8) == "profile ") name = Trim(name.substr(8));
      section = std::string(name);
      file[section];
      continue;
    }
    const size_t equals = line.find('=');
    // An indented line belongs to a nested table ("s3 =") that we do not use.
    if (equals == std::string_view::npos || raw.front() == ' ' || raw.front() == '\t') continue;
    std::string key(Trim(line.substr(0, equals)));
    for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    file[section][key] = std::string(Trim(line.substr(equals + 1)));
  }
  return file;
}

std::map<std::string, std::string> LoadProfile(const std::string& profile,
                                               const Environment& environment) {
  std::map<std::string, std::string> keys;
  const std::string config = FilePath(environment, "AWS_CONFIG_FILE", "config");
  const std::string shared = FilePath(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
  for (const std::string& path : {config, shared}) {
    const auto text = ReadTextFile(path);
    if (!text) continue;
    IniFile file = ParseIni(*text);
    for (auto& [key, value] : file[profile]) keys[key] = value;
  }
  return keys;
}

S3Settings ResolveSettings(const StoreOptions& options, const Environment& environment) {
  S3Settings settings;
  settings.profile_named = !options.profile.empty();
  settings.profile = settings.profile_named
                         ? options.profile
                         : FirstOf(environment, {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"});
  if (settings.profile.empty()) settings.profile = "default";
  const auto keys = LoadProfile(settings.profile, environment);

  settings.endpoint = options.endpoint;
  if (settings.endpoint.empty()) {
    settings.endpoint =
        FirstOf(environment, {"LAKESTREAM_S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  }
  if (settings.endpoint.empty()) settings.endpoint = ValueOf(keys, "endpoint_url");

  settings.region = options.region;
  if (settings.region.empty()) {
    settings.region = FirstOf(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  }
  if (settings.region.empty()) settings.region = ValueOf(keys, "region");
  if (settings.region.empty()) settings.region = "us-east-1";

  settings.ca_bundle = options.ca_bundle;
  if (settings.ca_bundle.empty()) {
    settings.ca_bundle = FirstOf(environment, {"AWS_CA_BUNDLE", "SSL_CERT_FILE"});
  }
  if (settings.ca_bundle.empty()) settings.ca_bundle = ValueOf(keys, "ca_bundle");
  settings.path_style = options.path_style;
  settings.unsigned_payload = options.unsigned_payload;
  return settings;
}

}  // namespace lakestream::s3

#include "backends/store_uri.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.h"

namespace lakestream {
namespace {

constexpr std::string_view kForms =
    "supported are s3://bucket/prefix, file:///path, /path, relative/path, ~/path and "
    "memory://name";

Status Wrong(std::string_view uri, std::string_view why) {
  return InvalidArgumentError(Str("store '", uri, "': ", why));
}

bool IsSchemeCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.';
}

// "S3" -> "s3": schemes know no case.
std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// The scheme of "scheme:rest" in lower case; "" if `uri` does not begin like that.
std::string SchemeOf(std::string_view uri) {
  const size_t colon = uri.find(':');
  if (colon == std::string_view::npos || colon == 0) return "";
  const std::string_view scheme = uri.substr(0, colon);
  if (!std::all_of(scheme.begin(), scheme.end(), IsSchemeCharacter)) return "";
  return std::isalpha(static_cast<unsigned char>(scheme[0])) ? Lower(scheme) : "";
}

std::string_view WithoutFinalSlashes(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

// Drops empty and "." components. ".." stays: with symbolic links only the system can resolve it.
std::string CleanPath(std::string_view absolute) {
  std::string clean;
  while (!absolute.empty()) {
    const size_t end = std::min(absolute.find('/'), absolute.size());
    const std::string_view component = absolute.substr(0, end);
    absolute.remove_prefix(std::min(end + 1, absolute.size()));
    if (!component.empty() && component != ".") clean.append("/").append(component);
  }
  return clean.empty() ? "/" : clean;
}

Result<StoreUri> LocalPath(std::string_view uri, std::string_view path) {
  if (path.find('\0') != std::string_view::npos) return Wrong(uri, "a path has no NUL bytes");
  StoreUri result;
  result.backend = StoreUri::Backend::kLocal;
  result.path = CleanPath(path);
  return result;
}

Result<StoreUri> ParsePath(std::string_view uri, const PathBases& bases) {
  if (uri.starts_with('/')) return LocalPath(uri, uri);
  if (uri == "~" || uri.starts_with("~/")) {
    if (!bases.home.starts_with('/')) {
      return Wrong(uri, "'~' needs the environment variable HOME; write out the path");
    }
    return LocalPath(uri, Str(bases.home, uri.substr(1)));
  }
  if (uri.starts_with('~')) {
    return Wrong(uri, "homes of other users are not looked up; write out the path, or ./~name");
  }
  if (!bases.working_folder.starts_with('/')) {
    return Wrong(uri, "the working folder is not known; use an absolute path");
  }
  return LocalPath(uri, Str(bases.working_folder, "/", uri));
}

std::optional<uint8_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  if (lower >= 'a' && lower <= 'f') return static_cast<uint8_t>(lower - 'a' + 10);
  return std::nullopt;
}

Result<std::string> PercentDecoded(std::string_view uri, std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    const auto high = i + 2 < text.size() ? HexDigit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? HexDigit(text[i + 2]) : std::nullopt;
    if (!high || !low) return Wrong(uri, "'%' must be followed by two hex digits; write it as %25");
    const char byte = static_cast<char>(*high << 4 | *low);
    if (byte == '/' || byte == '\0') return Wrong(uri, "%2F and %00 are not allowed in a path");
    decoded.push_back(byte);
    i += 2;
  }
  return decoded;
}

// `rest` is what follows "file:".
Result<StoreUri> ParseFile(std::string_view uri, std::string_view rest) {
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string host = Lower(rest.substr(0, rest.find('/')));
    if (host == "~" || host == "." || host == "..") {
      return Wrong(uri, "file:// needs an absolute path; leave out 'file://'");
    }
    if (!host.empty() && host != "localhost") {
      return Wrong(uri, Str("'", host, "' would be another host; for a local path write file:///",
                            host, "... or leave out 'file://'"));
    }
    rest.remove_prefix(host.size());
  }
  if (!rest.starts_with('/')) return Wrong(uri, "file: needs an absolute path, file:///path");
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return Wrong(uri, "write '?' and '#' as %3F and %23, or leave out 'file://'");
  }
  LS_ASSIGN_OR_RETURN(const std::string path, PercentDecoded(uri, rest));
  return LocalPath(uri, path);
}

Result<StoreUri> ParseS3(std::string_view uri, std::string_view rest) {
  const size_t slash = std::min(rest.find('/'), rest.size());
  StoreUri result;
  result.backend = StoreUri::Backend::kS3;
  result.bucket = rest.substr(0, slash);
  if (result.bucket.empty()) return Wrong(uri, "the bucket is missing; write s3://bucket/prefix");
  const auto is_bucket_character = [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '.' || c == '_';
  };
  if (!std::all_of(result.bucket.begin(), result.bucket.end(), is_bucket_character)) {
    return Wrong(uri, Str("'", result.bucket, "' is not a bucket's name; endpoint, port and keys ",
                          "do not belong into the URI, but into the options or environment"));
  }
  if (slash < rest.size()) result.prefix = WithoutFinalSlashes(rest.substr(slash + 1));
  return result;
}

Result<StoreUri> ParseMemory(std::string_view uri, std::string_view rest) {
  StoreUri result;
  result.backend = StoreUri::Backend::kMemory;
  result.name = WithoutFinalSlashes(rest);
  if (result.name.empty()) return Wrong(uri, "the name is missing; write memory://name");
  return result;
}

}  // namespace

Result<StoreUri> ParseStoreUri(std::string_view uri, const PathBases& bases) {
  if (uri.empty()) return Wrong(uri, Str("the URI is empty; ", kForms));
  const std::string scheme = SchemeOf(uri);
  if (scheme.empty()) return ParsePath(uri, bases);
  const std::string_view rest = uri.substr(scheme.size() + 1);
  if (scheme == "file") return ParseFile(uri, rest);
  const bool known = scheme == "s3" || scheme == "memory";
  if (!rest.starts_with("//")) {
    // "12:30" or "a:b" may be a folder's name; "s3:/bucket" is a typo.
    if (known) return Wrong(uri, Str("write ", scheme, "://..."));
    return ParsePath(uri, bases);
  }
  if (scheme == "s3") return ParseS3(uri, rest.substr(2));
  if (scheme == "memory") return ParseMemory(uri, rest.substr(2));
  return Wrong(uri, Str("scheme '", scheme, "' is not known; ", kForms));
}

}  // namespace lakestream

// Percent-encoding and URLs as S3 and its signature define them. Pure, thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lakestream/status.h"

namespace lakestream::s3 {

// Encodes every byte but A-Z a-z 0-9 - . _ ~ as %XX (upper case).
std::string UriEncode(std::string_view text);
// The same, but keeps '/': for object keys in a path.
std::string UriEncodePath(std::string_view text);
// Decodes %XX, and '+' as a space (listings with encoding-type=url). nullopt if malformed.
std::optional<std::string> UriDecode(std::string_view text);

// Names and values before encoding, in any order.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;
// Encoded, sorted as the signature wants it; "name=" for an empty value; "" for no parameters.
std::string CanonicalQuery(const QueryParameters& parameters);

// A split "http://host:port/path".
struct HttpUrl {
  std::string scheme;     // "http" or "https"
  std::string authority;  // host, with the port unless it is the scheme's default
  std::string path;       // without a trailing '/'; "" for the root
};
// kInvalidArgument if it is no such URL; user information, queries and fragments are refused.
Result<HttpUrl> ParseHttpUrl(std::string_view url);

// `text` on one line for a message: control bytes and '%' as %XX, cut after `bytes_max`.
std::string Printable(std::string_view text, size_t bytes_max = 200);

}  // namespace lakestream::s3

#include "s3/url.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace lakestream::s3 {
namespace {

constexpr char kHex[] = "0123456789ABCDEF";

bool Unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

void AppendEncoded(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  out.push_back('%');
  out.push_back(kHex[byte >> 4]);
  out.push_back(kHex[byte & 15]);
}

std::string Encode(std::string_view text, bool keep_slash) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (char c : text) {
    if (Unreserved(c) || (keep_slash && c == '/')) {
      out.push_back(c);
    } else {
      AppendEncoded(out, c);
    }
  }
  return out;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string UriEncode(std::string_view text) { return Encode(text, false); }
std::string UriEncodePath(std::string_view text) { return Encode(text, true); }

std::optional<std::string> UriDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return out;
}

std::string CanonicalQuery(const QueryParameters& parameters) {
  QueryParameters encoded;
  encoded.reserve(parameters.size());
  for (const auto& [name, value] : parameters) {
    encoded.emplace_back(UriEncode(name), UriEncode(value));
  }
  std::sort(encoded.begin(), encoded.end());
  std::string query;
  for (const auto& [name, value] : encoded) {
    if (!query.empty()) query.push_back('&');
    query.append(name).append("=").append(value);
  }
  return query;
}

Result<HttpUrl> ParseHttpUrl(std::string_view url) {
  const auto bad = [&](std::string_view why) {
    return InvalidArgumentError(Str("\"", Printable(url), "\" is not a usable URL: ", why,
                                    "; write it as http://host:port or https://host"));
  };
  HttpUrl parts;
  const size_t colon = url.find("://");
  if (colon == std::string_view::npos) return bad("it has no scheme");
  for (char c : url.substr(0, colon)) {
    parts.scheme.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  if (parts.scheme != "http" && parts.scheme != "https") return bad("the scheme is not http(s)");
  std::string_view rest = url.substr(colon + 3);
  if (rest.find_first_of("?#@ \t\r\n\"<>\\") != std::string_view::npos) {
    return bad("it holds a user, query, fragment or blank");
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string authority(rest.substr(0, slash));
  parts.path = std::string(rest.substr(slash));
  while (!parts.path.empty() && parts.path.back() == '/') parts.path.pop_back();
  // The port of a bracketed IPv6 address is behind the bracket.
  const size_t bracket = authority.rfind(']');
  const size_t port_colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  if (port_colon != std::string::npos) {
    const char* digits = authority.data() + port_colon + 1;
    const char* digits_end = authority.data() + authority.size();
    uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits, digits_end, port);
    if (error != std::errc() || end != digits_end) {
      return bad("the port is not a number up to 65535");
    }
    const bool is_default = port == (parts.scheme == "https" ? 443 : 80);
    if (is_default) authority.resize(port_colon);
  }
  if (authority.empty() || authority.front() == ':') return bad("it has no host");
  parts.authority = std::move(authority);
  return parts;
}

std::string Printable(std::string_view text, size_t bytes_max) {
  std::string out;
  for (char c : text.substr(0, bytes_max)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '%') {
      AppendEncoded(out, c);
    } else {
      out.push_back(c);
    }
  }
  if (text.size() > bytes_max) out.append("...");
  return out;
}

}  // namespace lakestream::s3

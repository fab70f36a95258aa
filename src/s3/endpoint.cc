#include "s3/endpoint.h"

#include "base/text.h"
#include "s3/url.h"

namespace lakestream::s3 {
namespace {

bool IsHostLabel(std::string_view bucket) {
  return bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
             std::string_view::npos &&
         bucket.size() <= 63 && bucket.front() != '-' && bucket.back() != '-';
}

bool IsAddress(std::string_view authority) {
  return authority.front() == '[' ||
         authority.find_first_not_of("0123456789.:") == std::string_view::npos;
}

Status CheckBucket(std::string_view bucket) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  if (bucket.size() >= 3 && bucket.size() <= 255 &&
      bucket.find_first_not_of(kAllowed) == std::string_view::npos && bucket.front() != '.') {
    return OkStatus();
  }
  return InvalidArgumentError(Str("\"", Printable(bucket),
                                  "\" is no bucket name: it takes 3 to 255 "
                                  "letters, digits, '.', '-' and '_'; write s3://bucket/prefix"));
}

}  // namespace

std::string Endpoint::PathOf(std::string_view key) const {
  if (key.empty()) return base.empty() ? "/" : base;
  return Str(base, "/", UriEncodePath(key));
}

std::string Endpoint::UrlOf(std::string_view path, std::string_view query) const {
  return Str(scheme, "://", host, path, query.empty() ? "" : "?", query);
}

Result<Endpoint> ResolveEndpoint(std::string_view bucket, const S3Settings& settings) {
  LS_RETURN_IF_ERROR(CheckBucket(bucket));
  if (settings.region.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") !=
      std::string::npos) {
    return InvalidArgumentError(
        Str("\"", Printable(settings.region), "\" is no region name; write it as us-east-1"));
  }
  Endpoint endpoint;
  endpoint.bucket = std::string(bucket);
  endpoint.region = settings.region;
  const bool custom = !settings.endpoint.empty();
  const bool china = settings.region.substr(0, 3) == "cn-";
  const std::string url =
      custom ? settings.endpoint
             : Str("https://s3.", settings.region, ".amazonaws.com", china ? ".cn" : "");
  LS_ASSIGN_OR_RETURN(HttpUrl parts, ParseHttpUrl(url));
  endpoint.scheme = std::move(parts.scheme);
  endpoint.path_style = settings.path_style.value_or(custom || !IsHostLabel(bucket));
  if (!endpoint.path_style && IsAddress(parts.authority)) {
    return InvalidArgumentError(Str("the endpoint ", Printable(url),
                                    " is an address, so the bucket "
                                    "cannot be a part of its host name; use path style"));
  }
  endpoint.base = std::move(parts.path);
  if (endpoint.path_style) {
    endpoint.host = std::move(parts.authority);
    endpoint.base.append("/").append(bucket);
  } else {
    endpoint.host = Str(bucket, ".", parts.authority);
  }
  return endpoint;
}

}  // namespace lakestream::s3

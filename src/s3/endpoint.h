// Where a bucket is and how its URLs look. Pure, thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "lakestream/status.h"
#include "s3/settings.h"

namespace lakestream::s3 {

// A bucket's address. Path style puts the bucket into the path (http://host/bucket/key), virtual
// host style into the host (https://bucket.host/key).
struct Endpoint {
  std::string scheme;  // "http" or "https"
  std::string host;    // the Host header: the port is there if it is not the scheme's default
  std::string base;    // the path before the key, percent-encoded: "/bucket", "" or what the
                       // endpoint's URL has
  std::string bucket;
  std::string region;
  bool path_style = false;

  // The path of an object, percent-encoded once; an empty key gives the bucket's own path.
  std::string PathOf(std::string_view key) const;
  std::string UrlOf(std::string_view path, std::string_view query) const;
};

// Without a custom endpoint: AWS of the region. Path style by default with a custom endpoint, or if
// the bucket's name cannot be one label of a host's name (dots break TLS certificates).
// kInvalidArgument if the bucket's name or the endpoint cannot be used.
Result<Endpoint> ResolveEndpoint(std::string_view bucket, const S3Settings& settings);

}  // namespace lakestream::s3

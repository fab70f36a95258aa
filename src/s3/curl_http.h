// HttpTransport over libcurl.
#pragma once

#include <memory>
#include <string>

#include "s3/http.h"

namespace lakestream::s3 {

struct CurlOptions {
  std::string ca_bundle;  // PEM file; empty: the system's
};

// A transport that keeps connections alive between calls: at most one for each call under way at
// the same time, at most 128 kept idle. Each call runs on the caller's thread; no thread is
// created. Obeys http_proxy, HTTPS_PROXY and NO_PROXY. Safe to use in a forked child: the parent's
// connections are left alone there.
std::unique_ptr<HttpTransport> NewCurlTransport(std::shared_ptr<Runtime> runtime,
                                                const CurlOptions& options);

}  // namespace lakestream::s3

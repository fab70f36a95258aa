// AWS Signature Version 4, in headers. Pure, thread-safe.
//
// Written by hand over OpenSSL because libcurl's own signer fails on removed headers, unsorted
// query parameters and characters that need escaping.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "s3/credentials.h"
#include "s3/http.h"

namespace lakestream::s3 {

inline constexpr char kUnsignedPayload[] = "UNSIGNED-PAYLOAD";

// What is signed. All headers given here are signed, "host" and "x-amz-date" must be among them;
// headers that a proxy may change (Expect, Content-Length) are left out by the caller.
struct SignableRequest {
  std::string_view method;
  std::string_view path;   // percent-encoded once, as sent; "/" at least
  std::string_view query;  // CanonicalQuery()
  const HttpHeaders& headers;
  std::string_view payload_hash;  // hex SHA-256 of the body, or kUnsignedPayload
};
struct SigningScope {
  int64_t time_ms = 0;  // wall clock; the server allows about 15 minutes of difference
  std::string_view region;
  std::string_view service = "s3";
};

// "20150830T123600Z": the value of x-amz-date.
std::string AmzDate(int64_t time_ms);
// The value of the header Authorization.
std::string SignV4(const SignableRequest& request, const SigningScope& scope,
                   const Credentials& credentials);

}  // namespace lakestream::s3

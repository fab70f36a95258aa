// Times as HTTP and S3 write them, as milliseconds since 1970. Pure, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lakestream::s3 {

// "Fri, 24 May 2013 00:00:00 GMT" (headers Date, Last-Modified, Retry-After).
std::optional<int64_t> ParseHttpDate(std::string_view text);
// "2013-05-24T00:00:00.123Z", with or without the fraction.
std::optional<int64_t> ParseIsoTime(std::string_view text);

}  // namespace lakestream::s3

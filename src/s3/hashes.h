// The hashes that the S3 protocol asks for, over OpenSSL. Pure, thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lakestream/types.h"

namespace lakestream::s3 {

using Sha256 = std::array<uint8_t, 32>;

// Of the concatenation of `pieces`.
Sha256 HashSha256(std::span<const ConstBytes> pieces);
Sha256 HashSha256(std::string_view text);
Sha256 HmacSha256(ConstBytes key, std::string_view text);
// Base64 of the MD5 of `text`, as the header Content-MD5 wants it.
std::string Md5Base64(std::string_view text);

}  // namespace lakestream::s3

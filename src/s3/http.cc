#include "s3/http.h"

#include <algorithm>
#include <cctype>

namespace lakestream::s3 {

const std::string* FindHeader(const HttpHeaders& headers, std::string_view name) {
  const auto same_letter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const HttpHeader& header : headers) {
    if (std::equal(header.name.begin(), header.name.end(), name.begin(), name.end(), same_letter)) {
      return &header.value;
    }
  }
  return nullptr;
}

}  // namespace lakestream::s3

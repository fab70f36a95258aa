#include "s3/sigv4.h"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <map>

#include "base/text.h"
#include "s3/hashes.h"

namespace lakestream::s3 {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Without blanks at the ends, runs of blanks as one.
std::string FoldBlanks(std::string_view value) {
  std::string folded;
  for (char c : value) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && (folded.empty() || folded.back() == ' ')) continue;
    folded.push_back(blank ? ' ' : c);
  }
  if (!folded.empty() && folded.back() == ' ') folded.pop_back();
  return folded;
}

}  // namespace

std::string AmzDate(int64_t time_ms) {
  const time_t seconds = static_cast<time_t>(time_ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

std::string SignV4(const SignableRequest& request, const SigningScope& scope,
                   const Credentials& credentials) {
  std::map<std::string, std::string> headers;  // sorted; equal names are joined by commas
  for (const HttpHeader& header : request.headers) {
    auto [entry, added] = headers.try_emplace(LowerCase(header.name), FoldBlanks(header.value));
    if (!added) entry->second.append(",").append(FoldBlanks(header.value));
  }
  std::string canonical_headers;
  std::string signed_names;
  for (const auto& [name, value] : headers) {
    canonical_headers.append(name).append(":").append(value).append("\n");
    if (!signed_names.empty()) signed_names.push_back(';');
    signed_names.append(name);
  }
  const std::string canonical =
      Str(request.method, "\n", request.path, "\n", request.query, "\n", canonical_headers, "\n",
          signed_names, "\n", request.payload_hash);

  const std::string date_time = AmzDate(scope.time_ms);
  const std::string date = date_time.substr(0, 8);
  const std::string scope_text = Str(date, "/", scope.region, "/", scope.service, "/aws4_request");
  const std::string to_sign =
      Str("AWS4-HMAC-SHA256\n", date_time, "\n", scope_text, "\n", ToHex(HashSha256(canonical)));

  Sha256 key = HmacSha256(AsBytes(Str("AWS4", credentials.secret_access_key)), date);
  key = HmacSha256(key, scope.region);
  key = HmacSha256(key, scope.service);
  key = HmacSha256(key, "aws4_request");
  return Str("AWS4-HMAC-SHA256 Credential=", credentials.access_key_id, "/", scope_text,
             ", SignedHeaders=", signed_names, ", Signature=", ToHex(HmacSha256(key, to_sign)));
}

}  // namespace lakestream::s3

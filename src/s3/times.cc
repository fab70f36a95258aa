#include "s3/times.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

namespace lakestream::s3 {
namespace {

std::optional<int64_t> FromParts(int year, int month, int day, int hour, int minute, int second) {
  if (year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 ||
      hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
    return std::nullopt;
  }
  std::tm parts{};
  parts.tm_year = year - 1900;
  parts.tm_mon = month - 1;
  parts.tm_mday = day;
  parts.tm_hour = hour;
  parts.tm_min = minute;
  parts.tm_sec = second;
  return static_cast<int64_t>(timegm(&parts)) * 1000;
}

}  // namespace

std::optional<int64_t> ParseHttpDate(std::string_view text) {
  static constexpr char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  char month[4] = "";
  int day = 0, year = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(std::string(text).c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &day, month,
                  &year, &hour, &minute, &second) != 6 ||
      std::strlen(month) != 3) {
    return std::nullopt;
  }
  const char* found = std::strstr(kMonths, month);
  if (found == nullptr || (found - kMonths) % 3 != 0) return std::nullopt;
  return FromParts(year, static_cast<int>((found - kMonths) / 3) + 1, day, hour, minute, second);
}

std::optional<int64_t> ParseIsoTime(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, used = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute,
                  &second, &used) != 6) {
    return std::nullopt;
  }
  std::optional<int64_t> ms = FromParts(year, month, day, hour, minute, second);
  if (!ms) return std::nullopt;
  std::string_view rest = std::string_view(copy).substr(static_cast<size_t>(used));
  if (!rest.empty() && rest.front() == '.') {
    int64_t scale = 100;
    rest.remove_prefix(1);
    while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
      *ms += (rest.front() - '0') * scale;
      scale /= 10;
      rest.remove_prefix(1);
    }
  }
  return rest == "Z" ? ms : std::nullopt;
}

}  // namespace lakestream::s3

#include "manifest/keys.h"

#include <charconv>

#include "base/text.h"

namespace lakestream {
namespace {

constexpr size_t kNumberDigits = 20;
constexpr size_t kObjectDigits = 10;
constexpr std::string_view kDataSuffix = ".tgb";

// Exactly `digits` decimal digits, no sign, no overflow.
std::optional<uint64_t> ParsePadded(std::string_view text, size_t digits) {
  if (text.size() != digits) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string LogPrefix(std::string_view branch) { return Str("log/", branch, "/"); }
std::string SnapshotPrefix(std::string_view branch) { return Str("snapshot/", branch, "/"); }
std::string IndexPrefix(std::string_view branch) { return Str("index/", branch, "/"); }
std::string DataPrefix(std::string_view branch) { return Str("data/", branch, "/"); }

std::string PartsPrefix(std::string_view branch) { return Str("part/", branch, "/"); }
std::string PartsPrefix(std::string_view branch, Version begun) {
  return Str(PartsPrefix(branch), Padded(begun, kNumberDigits), "/");
}
std::string WatermarksPrefix(std::string_view branch) { return Str("watermark/", branch, "/"); }
std::string WatermarksPrefix(std::string_view branch, std::string_view job, std::string_view run) {
  return Str(WatermarksPrefix(branch), job, "/", run, "/");
}

std::string LogKey(std::string_view branch, Version version) {
  return LogPrefix(branch) + Padded(version, kNumberDigits);
}
std::string SnapshotKey(std::string_view branch, Version version) {
  return SnapshotPrefix(branch) + Padded(version, kNumberDigits);
}
std::string IndexKey(std::string_view branch, uint64_t page) {
  return IndexPrefix(branch) + Padded(page, kNumberDigits);
}
std::string HeadKey(std::string_view branch) { return Str("head/", branch); }

std::string BranchKey(std::string_view branch) { return Str("branch/", branch); }
std::string BoundaryKey(std::string_view branch) { return Str("boundary/", branch); }
std::string PartKey(std::string_view branch, Version begun, uint32_t part) {
  return PartsPrefix(branch, begun) + Padded(part, kObjectDigits);
}
std::string WatermarkKey(std::string_view branch, std::string_view job, std::string_view run,
                         const Watermark& watermark) {
  return Str(WatermarksPrefix(branch, job, run), Padded(watermark.rank, kObjectDigits), "-",
             Padded(watermark.read, kNumberDigits), "-", Padded(watermark.durable, kNumberDigits));
}

std::string DataKey(std::string_view branch, SessionId session, uint32_t object) {
  return Str(DataPrefix(branch), Padded(session, kNumberDigits), "-", Padded(object, kObjectDigits),
             kDataSuffix);
}

std::optional<uint64_t> ParseNumberedKey(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return std::nullopt;
  return ParsePadded(key.substr(prefix.size()), kNumberDigits);
}

std::optional<Watermark> ParseWatermarkKey(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  constexpr size_t kReadAt = kObjectDigits + 1;
  constexpr size_t kDurableAt = kReadAt + kNumberDigits + 1;
  if (key.size() != kDurableAt + kNumberDigits || key[kReadAt - 1] != '-' ||
      key[kDurableAt - 1] != '-') {
    return std::nullopt;
  }
  const auto rank = ParsePadded(key.substr(0, kObjectDigits), kObjectDigits);
  const auto read = ParsePadded(key.substr(kReadAt, kNumberDigits), kNumberDigits);
  const auto durable = ParsePadded(key.substr(kDurableAt), kNumberDigits);
  if (!rank || !read || !durable || *rank > UINT32_MAX) return std::nullopt;
  return Watermark{static_cast<uint32_t>(*rank), *read, *durable};
}

std::optional<Version> ParsePartKey(std::string_view key, std::string_view branch) {
  const std::string prefix = PartsPrefix(branch);
  if (!key.starts_with(prefix)) return std::nullopt;
  return ParsePadded(key.substr(prefix.size(), kNumberDigits), kNumberDigits);
}

std::optional<DataObjectId> ParseDataKey(std::string_view key, std::string_view branch) {
  const std::string prefix = DataPrefix(branch);
  if (!key.starts_with(prefix) || !key.ends_with(kDataSuffix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  key.remove_suffix(kDataSuffix.size());
  if (key.size() != kNumberDigits + 1 + kObjectDigits || key[kNumberDigits] != '-') {
    return std::nullopt;
  }
  const auto session = ParsePadded(key.substr(0, kNumberDigits), kNumberDigits);
  const auto object = ParsePadded(key.substr(kNumberDigits + 1), kObjectDigits);
  if (!session || !object || *object > UINT32_MAX) return std::nullopt;
  return DataObjectId{*session, static_cast<uint32_t>(*object)};
}

}  // namespace lakestream

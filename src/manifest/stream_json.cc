#include "manifest/stream_json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "lakestream/version.h"
#include "manifest/change.h"

namespace lakestream {
namespace {

using Json = nlohmann::json;

constexpr size_t kSlicesMax = 8192;     // so that any slice table fits into a commit record
constexpr size_t kProducersMax = 4096;  // declared ones
constexpr uint32_t kSamplesMultipleMax = 65536;
constexpr uint64_t kGraceMaxMs = 10ull * 365 * 24 * 3600 * 1000;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Reads typed members of a JSON object; the first one that is missing or out of range is
// remembered.
class Members {
 public:
  explicit Members(const Json& json) : json_(json) {}

  uint64_t Number(const char* name, uint64_t max) {
    const auto it = json_.find(name);
    if (it == json_.end() || !it->is_number_unsigned() || it->get<uint64_t>() > max)
      return Bad(name), 0;
    return it->get<uint64_t>();
  }
  std::string Text(const char* name) {
    const auto it = json_.find(name);
    if (it == json_.end() || !it->is_string()) return Bad(name), std::string();
    return it->get<std::string>();
  }
  std::vector<std::string> Texts(const char* name) {
    std::vector<std::string> texts;
    const auto it = json_.find(name);
    if (it == json_.end() || !it->is_array()) return Bad(name), texts;
    for (const Json& item : *it) {
      if (!item.is_string()) return Bad(name), texts;
      texts.push_back(item.get<std::string>());
    }
    return texts;
  }
  Json Object(const char* name) {
    const auto it = json_.find(name);
    if (it == json_.end() || !it->is_object()) return Bad(name), Json::object();
    return *it;
  }
  void Bad(const char* name) {
    if (bad_.empty()) bad_ = name;
  }
  const std::string& bad() const { return bad_; }

 private:
  const Json& json_;
  std::string bad_;
};

}  // namespace

Status ValidateName(std::string_view what, std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  bool valid = !name.empty() && name.size() <= kNameBytesMax && name[0] != '.' && name[0] != '-';
  for (char c : name) valid = valid && allowed(c);
  if (valid) return OkStatus();
  return InvalidArgumentError(Str(what, " name '", name.substr(0, 80),
                                  "' cannot be used: take 1 to 64 of A-Z a-z 0-9 . _ - and begin "
                                  "with a letter, a digit or _"));
}

Status ValidateSpec(const StreamSpec& spec) {
  const uint64_t slices = uint64_t{spec.mesh.dp} * spec.mesh.cp;
  if (slices == 0 || slices > kSlicesMax) {
    return InvalidArgumentError(Str("mesh ", spec.mesh.dp, " x ", spec.mesh.cp,
                                    " cannot be used: dp x cp must be 1 to ", kSlicesMax));
  }
  if (spec.producers.size() > kProducersMax) {
    return InvalidArgumentError(Str(spec.producers.size(), " declared producers are more than ",
                                    kProducersMax,
                                    "; declare none and seal the stream explicitly"));
  }
  std::set<std::string_view> names;
  for (const std::string& name : spec.producers) {
    LS_RETURN_IF_ERROR(ValidateName("producer", name));
    if (!names.insert(name).second) {
      return InvalidArgumentError(Str("producer '", name, "' is declared twice"));
    }
  }
  if (spec.snapshot_interval < 2 || spec.snapshot_interval > 65536) {
    return InvalidArgumentError("snapshot_interval must be 2 to 65536 versions");
  }
  if (spec.index_page_steps < 2 || spec.index_page_steps > 65536) {
    return InvalidArgumentError("index_page_steps must be 2 to 65536 steps");
  }
  if (spec.zstd_level < 0 || spec.zstd_level > 19) {
    return InvalidArgumentError("zstd_level must be 0 (none) to 19");
  }
  if (spec.samples_multiple > kSamplesMultipleMax) {
    return InvalidArgumentError(Str("samples_multiple must be 0 (none) to ", kSamplesMultipleMax));
  }
  const int64_t grace_ms = spec.reclaim_grace.count();
  if (grace_ms < 1000 || static_cast<uint64_t>(grace_ms) > kGraceMaxMs) {
    return InvalidArgumentError("reclaim_grace must be one second to ten years");
  }
  return OkStatus();
}

std::string EncodeStreamJson(const StreamInfo& info) {
  const Json json = {
      {"format", info.format_version},
      {"features", Json::array()},
      {"uuid", info.uuid},
      {"created_ms", info.created_ms},
      {"mesh", {{"dp", info.spec.mesh.dp}, {"cp", info.spec.mesh.cp}}},
      {"producers", info.spec.producers},
      {"snapshot_interval", info.spec.snapshot_interval},
      {"index_page_steps", info.spec.index_page_steps},
      {"zstd_level", info.spec.zstd_level},
      {"samples_multiple", info.spec.samples_multiple},
      {"reclaim_grace_ms", info.spec.reclaim_grace.count()},
  };
  return json.dump(2) + "\n";
}

Result<StreamInfo> DecodeStreamJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return DataLossError("stream.json is not a JSON object");
  Members members(json);
  const uint64_t format = members.Number("format", std::numeric_limits<uint32_t>::max());
  const std::vector<std::string> features = members.Texts("features");
  if (members.bad().empty() && format > kFormatVersion) {
    return FailedPreconditionError(
        Str("the stream has format ", format, ", this Lakestream reads up to ", kFormatVersion,
            "; upgrade it"),
        Reason::kFormatTooNew);
  }
  if (!features.empty()) {
    return FailedPreconditionError(Str("the stream uses the feature '", features.front(),
                                       "', which this Lakestream does not know; upgrade it"),
                                   Reason::kFormatTooNew);
  }
  StreamInfo info;
  info.format_version = static_cast<uint32_t>(format);
  info.uuid = members.Text("uuid");
  info.created_ms = static_cast<int64_t>(members.Number("created_ms", INT64_MAX));
  const Json mesh_json = members.Object("mesh");
  Members mesh(mesh_json);
  info.spec.mesh.dp = static_cast<uint32_t>(mesh.Number("dp", UINT32_MAX));
  info.spec.mesh.cp = static_cast<uint32_t>(mesh.Number("cp", UINT32_MAX));
  info.spec.producers = members.Texts("producers");
  info.spec.snapshot_interval =
      static_cast<uint32_t>(members.Number("snapshot_interval", UINT32_MAX));
  info.spec.index_page_steps =
      static_cast<uint32_t>(members.Number("index_page_steps", UINT32_MAX));
  info.spec.zstd_level = static_cast<int>(members.Number("zstd_level", 100));
  info.spec.samples_multiple =
      static_cast<uint32_t>(members.Number("samples_multiple", UINT32_MAX));
  info.spec.reclaim_grace = std::chrono::milliseconds(
      static_cast<int64_t>(members.Number("reclaim_grace_ms", kGraceMaxMs)));
  bool hex = info.uuid.size() == 32;
  for (char c : info.uuid) hex = hex && HexDigit(c) >= 0;
  if (!hex) members.Bad("uuid");
  if (format == 0) members.Bad("format");
  const std::string bad = members.bad().empty() ? mesh.bad() : members.bad();
  if (!bad.empty()) return DataLossError(Str("stream.json: '", bad, "' is missing or not valid"));
  if (Status valid = ValidateSpec(info.spec); !valid.ok()) {
    return DataLossError(Str("stream.json: ", valid.message()));
  }
  return info;
}

std::array<uint8_t, 16> UuidBytes(const StreamInfo& info) {
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < bytes.size() && 2 * i + 1 < info.uuid.size(); ++i) {
    bytes[i] =
        static_cast<uint8_t>(HexDigit(info.uuid[2 * i]) << 4 | HexDigit(info.uuid[2 * i + 1]));
  }
  return bytes;
}

}  // namespace lakestream

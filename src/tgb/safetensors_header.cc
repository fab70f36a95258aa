#include "tgb/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace lakestream {
namespace {

using Json = nlohmann::json;

void AppendJsonString(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') out.push_back('\\');
    if (byte < 0x20) {
      out.append("\\u00").append(ToHex({&byte, 1}));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

void AppendList(std::string& out, std::span<const uint64_t> numbers) {
  out.push_back('[');
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out.push_back(',');
    out.append(std::to_string(numbers[i]));
  }
  out.push_back(']');
}

// Walks the JSON text as it is parsed, without building a tree: strict about the form, so that
// nothing else can hide in a header, and without recursion.
class HeaderHandler final : public nlohmann::json_sax<Json> {
 public:
  bool start_object(size_t) override {
    switch (place_) {
      case Place::kOutside:
        place_ = Place::kTop;
        return true;
      case Place::kTopValue:
        place_ = in_metadata_ ? Place::kMetadata : Place::kTensor;
        return true;
      default:
        return Unexpected("an object");
    }
  }
  bool key(string_t& name) override {
    switch (place_) {
      case Place::kTop:
        return StartEntry(name);
      case Place::kMetadata:
        key_ = std::move(name);
        place_ = Place::kMetadataValue;
        return true;
      case Place::kTensor:
        return StartField(name);
      default:
        return Unexpected("a key");
    }
  }
  bool string(string_t& text) override {
    if (place_ == Place::kMetadataValue) {
      place_ = Place::kMetadata;
      if (header_.metadata.emplace(key_, std::move(text)).second) return true;
      return Fail(Str("metadata key '", key_, "' appears twice"));
    }
    if (place_ != Place::kTensorValue || field_ != kDTypeField) return Unexpected("a string");
    const std::optional<DType> dtype = DTypeFromName(text);
    if (!dtype) {
      return Fail(
          Status(Code::kUnimplemented, Str("tensor '", tensor().name, "' has element type '", text,
                                           "', which this version does not support")));
    }
    tensor().dtype = *dtype;
    place_ = Place::kTensor;
    return true;
  }
  bool start_array(size_t) override {
    if (place_ != Place::kTensorValue || field_ == kDTypeField) return Unexpected("a list");
    place_ = Place::kList;
    list_.clear();
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (place_ != Place::kList) return Unexpected("a number");
    if (list_.size() == kTensorRankMax) {
      return Fail(
          Str("tensor '", tensor().name, "' has more than ", kTensorRankMax, " dimensions"));
    }
    list_.push_back(number);
    return true;
  }
  bool end_array() override {
    place_ = Place::kTensor;
    if (field_ == kShapeField) {
      tensor().shape = list_;
      return true;
    }
    if (list_.size() != 2) return Fail(Str("tensor '", tensor().name, "' lacks its two offsets"));
    tensor().begin = list_[0];
    tensor().end = list_[1];
    return true;
  }
  bool end_object() override {
    if (place_ == Place::kTensor && fields_seen_ != kAllFields) {
      return Fail(Str("tensor '", tensor().name, "' lacks dtype, shape or data_offsets"));
    }
    place_ = place_ == Place::kTop ? Place::kDone : Place::kTop;
    return true;
  }
  bool null() override { return Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return Unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return Unexpected("a fraction"); }
  bool binary(binary_t&) override { return Unexpected("binary"); }
  bool parse_error(size_t position, const std::string&, const Json::exception&) override {
    return Fail(Str("it is not valid JSON at byte ", position));
  }

  const Status& status() const { return status_; }
  SafetensorsHeader Take() { return std::move(header_); }

 private:
  enum class Place {
    kOutside,
    kTop,
    kTopValue,
    kMetadata,
    kMetadataValue,
    kTensor,
    kTensorValue,
    kList,
    kDone,
  };
  enum Field : unsigned { kDTypeField = 1, kShapeField = 2, kOffsetsField = 4, kAllFields = 7 };

  TensorInfo& tensor() { return header_.tensors.back(); }
  bool Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }
  bool Fail(std::string why) {
    return Fail(DataLossError(Str("safetensors header is invalid: ", why)));
  }
  bool Unexpected(std::string_view what) { return Fail(Str(what, " stands where none may be")); }

  bool StartEntry(std::string& name) {
    place_ = Place::kTopValue;
    in_metadata_ = name == kMetadataKey;
    if (!in_metadata_) {
      fields_seen_ = 0;
      header_.tensors.emplace_back().name = std::move(name);
      return true;
    }
    if (metadata_seen_) return Fail("__metadata__ appears twice");
    metadata_seen_ = true;
    return true;
  }
  bool StartField(std::string_view name) {
    place_ = Place::kTensorValue;
    if (name == "dtype") {
      field_ = kDTypeField;
    } else if (name == "shape") {
      field_ = kShapeField;
    } else if (name == "data_offsets") {
      field_ = kOffsetsField;
    } else {
      return Fail(Str("tensor '", tensor().name, "' has the unknown key '", name, "'"));
    }
    if ((fields_seen_ & field_) != 0) {
      return Fail(Str("tensor '", tensor().name, "' has '", name, "' twice"));
    }
    fields_seen_ |= field_;
    return true;
  }

  Place place_ = Place::kOutside;
  bool in_metadata_ = false;
  bool metadata_seen_ = false;
  Field field_ = kDTypeField;
  unsigned fields_seen_ = 0;
  std::string key_;
  std::vector<uint64_t> list_;
  SafetensorsHeader header_;
  Status status_;
};

Status CheckNamesDiffer(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin == names.end()) return OkStatus();
  return DataLossError(Str("safetensors header is invalid: tensor '", *twin, "' appears twice"));
}

}  // namespace

std::string FormatSafetensorsHeader(const SafetensorsHeader& header) {
  std::string out = "{";
  if (!header.metadata.empty()) {
    AppendJsonString(out, kMetadataKey);
    out.append(":{");
    for (const auto& [key, value] : header.metadata) {
      if (out.back() != '{') out.push_back(',');
      AppendJsonString(out, key);
      out.push_back(':');
      AppendJsonString(out, value);
    }
    out.push_back('}');
  }
  for (const TensorInfo& tensor : header.tensors) {
    if (out.size() > 1) out.push_back(',');
    AppendJsonString(out, tensor.name);
    out.append(":{\"dtype\":\"").append(DTypeName(tensor.dtype)).append("\",\"shape\":");
    AppendList(out, tensor.shape);
    out.append(",\"data_offsets\":");
    AppendList(out, std::array{tensor.begin, tensor.end});
    out.push_back('}');
  }
  out.push_back('}');
  return out;
}

Result<SafetensorsHeader> ParseSafetensorsHeader(std::string_view text) {
  // The JSON parser takes a NUL for the end of its input and skips a byte order mark.
  if (!text.starts_with('{') || text.find('\0') != std::string_view::npos) {
    return DataLossError("safetensors header is invalid: it is not a JSON object");
  }
  HeaderHandler handler;
  const bool parsed = Json::sax_parse(text.begin(), text.end(), &handler);
  LS_RETURN_IF_ERROR(handler.status());
  if (!parsed) return DataLossError("safetensors header is invalid: it is not valid JSON");
  SafetensorsHeader header = handler.Take();
  LS_RETURN_IF_ERROR(CheckNamesDiffer(header.tensors));
  return header;
}

std::optional<uint64_t> TensorBytes(DType dtype, const std::vector<uint64_t>& shape) {
  uint64_t bytes = DTypeBytes(dtype);
  if (bytes == 0) return std::nullopt;
  for (const uint64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, dimension, &bytes)) return std::nullopt;
  }
  return bytes;
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const size_t length = lead < 0x80   ? 1
                          : lead < 0xc2 ? 0
                          : lead < 0xe0 ? 2
                          : lead < 0xf0 ? 3
                          : lead < 0xf5 ? 4
                                        : 0;
    if (length == 0 || length > text.size() - i) return false;
    uint32_t point = length == 1 ? lead : lead & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<uint8_t>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    if (overlong || surrogate || point > 0x10ffff) return false;
    i += length;
  }
  return true;
}

}  // namespace lakestream

#include "s3/get_object.h"

#include <charconv>
#include <cstring>

#include "base/text.h"
#include "s3/times.h"
#include "s3/xml.h"
#include "store/store_rules.h"

namespace lakestream::s3 {
namespace {

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// "bytes 5-9/100"
void ParseContentRange(std::string_view text, ObjectHeaders& headers) {
  const size_t dash = text.find('-');
  const size_t slash = text.find('/');
  if (text.substr(0, 6) != "bytes " || dash == std::string_view::npos ||
      slash == std::string_view::npos || dash > slash) {
    return;
  }
  const auto first = ParseNumber(text.substr(6, dash - 6));
  const auto last = ParseNumber(text.substr(dash + 1, slash - dash - 1));
  const auto size = ParseNumber(text.substr(slash + 1));
  if (!first || !last || !size || *first > *last || *last >= *size) return;
  headers.range = ByteRange{*first, *last - *first + 1};
  headers.object_size = *size;
}

}  // namespace

ObjectHeaders ReadObjectHeaders(const HttpHeaders& headers) {
  ObjectHeaders result;
  const auto value = [&](std::string_view name) -> std::string_view {
    const std::string* found = FindHeader(headers, name);
    return found != nullptr ? std::string_view(*found) : std::string_view();
  };
  result.length = ParseNumber(value("Content-Length"));
  ParseContentRange(value("Content-Range"), result);
  if (!result.object_size) result.object_size = result.length;
  result.etag = NormalizeEtag(value("ETag"));
  result.modified_ms = ParseHttpDate(value("Last-Modified")).value_or(0);
  result.date_ms = ParseHttpDate(value("Date")).value_or(0);
  return result;
}

ObjectSink::ObjectSink(std::string key, const GetOptions& options)
    : key_(std::move(key)), options_(options), first_(options.range ? options.range->offset : 0) {}

HttpHeaders ObjectSink::Headers() const {
  HttpHeaders headers;
  const std::string& etag = resuming() ? info_.etag : options_.if_match;
  if (!etag.empty()) headers.push_back({"If-Match", Str("\"", etag, "\"")});
  if (resuming()) {
    headers.push_back({"Range", Str("bytes=", first_ + received_, "-", first_ + wanted_ - 1)});
  } else if (options_.range) {
    // A range may end behind the largest number; the store cuts it at the object's end anyway.
    const uint64_t last_max = INT64_MAX;
    const uint64_t room = last_max - std::min(first_, last_max);
    const uint64_t last = first_ + std::min(options_.range->size - 1, room);
    headers.push_back({"Range", Str("bytes=", first_, "-", last)});
  } else if (ask_for_range_) {
    headers.push_back({"Range", "bytes=0-"});
  }
  return headers;
}

void ObjectSink::Restart() {
  received_ = 0;
  allocated_ = false;
  block_ = {};
}

// The number of bytes of this response's body.
Result<uint64_t> ObjectSink::CheckHeaders(int status, const ObjectHeaders& headers) {
  if (status == 200) {
    if (options_.range || resuming()) {
      return UnimplementedError(
          "the store answered a ranged read with the whole object; it does not support ranges");
    }
    if (!headers.length) {
      return UnavailableError("the answer does not say how long the object is");
    }
    return *headers.length;
  }
  if (status != 206 || !headers.range ||
      (headers.length && *headers.length != headers.range->size)) {
    return UnavailableError(
        Str("HTTP ", status, " without a usable Content-Range and Content-Length"));
  }
  if (headers.range->offset != first_ + received_) {
    return UnavailableError(Str("the store sent bytes from ", headers.range->offset,
                                " on, not from ", first_ + received_));
  }
  return headers.range->size;
}

bool ObjectSink::Begin(const HttpResponse& head) {
  const ObjectHeaders headers = ReadObjectHeaders(head.headers);
  problem_ = Status();
  Result<uint64_t> body_bytes = CheckHeaders(head.status, headers);
  if (!body_bytes.ok()) {
    if (head.status == 200 && !headers.length) ask_for_range_ = true;
    problem_ = body_bytes.status();
    return false;
  }
  const uint64_t object_size = *headers.object_size;
  if (resuming() && (headers.etag != info_.etag || object_size != info_.size)) {
    Restart();
    problem_ = UnavailableError("the object was overwritten while it was read");
    return false;
  }
  info_ = {.key = key_,
           .size = object_size,
           .etag = headers.etag,
           .modified_ms = headers.modified_ms,
           .date_ms = headers.date_ms};
  if (!allocated_) {
    const Result<ByteRange> cut = CutRange(options_.range, object_size, key_);
    auto block = cut.ok() ? AllocateFor(options_.allocator, cut->size, key_)
                          : Result<BufferAllocator::Block>(cut.status());
    if (!block.ok()) {
      problem_ = block.status();
      return false;
    }
    block_ = *std::move(block);
    wanted_ = cut->size;
    allocated_ = true;
  }
  if (*body_bytes > wanted_ - received_) {
    problem_ = UnavailableError("the store sent more bytes than were asked for");
    return false;
  }
  return true;
}

bool ObjectSink::Append(ConstBytes bytes) {
  if (bytes.size() > wanted_ - received_) {
    problem_ = UnavailableError("the store sent more bytes than it announced");
    return false;
  }
  std::memcpy(block_.data + received_, bytes.data(), bytes.size());
  received_ += bytes.size();
  return true;
}

Status ObjectSink::CheckComplete() const {
  if (allocated_ && received_ == wanted_) return OkStatus();
  return UnavailableError(Str("the body ended after ", received_, " of ", wanted_, " bytes"));
}

GetResult ObjectSink::Take() {
  return {.data = ToBuffer(std::move(block_), wanted_), .info = std::move(info_)};
}

}  // namespace lakestream::s3

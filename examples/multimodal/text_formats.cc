#include "multimodal/text_formats.h"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <utility>

#include "multimodal/item.h"

namespace multimodal {

using lakestream::DataLossError;
using lakestream::Result;
using lakestream::Status;

namespace {

constexpr size_t kTextBytesMax = 64u << 20;

// R's serialisation, as far as lists, numbers and strings go. Every length is checked against what
// is left; nesting is bounded.
class RReader {
 public:
  struct Value {
    std::vector<std::string> strings;
    std::vector<int64_t> numbers;
    std::vector<Value> items;
    std::vector<std::string> names;  // attribute "names"
  };

  explicit RReader(std::string_view bytes) : bytes_(bytes) {}

  Result<Value> ReadRoot() {
    if (bytes_.substr(0, 2) != "X\n") return DataLossError("not R's XDR serialisation");
    at_ = 2;
    const int64_t version = Int();
    Int();
    Int();
    if (version == 3) Text(Int());  // native encoding
    Value value = Read(0);
    if (bad_) return DataLossError("a damaged or unsupported R object");
    return value;
  }

 private:
  int64_t Int() {
    if (bytes_.size() - at_ < 4) {
      bad_ = true;
      return 0;
    }
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes_[at_++]);
    return static_cast<int32_t>(value);
  }

  std::string Text(int64_t size) {
    if (size == -1) return "";  // NA
    if (size < 0 || static_cast<uint64_t>(size) > bytes_.size() - at_) {
      bad_ = true;
      return "";
    }
    at_ += static_cast<size_t>(size);
    return std::string(bytes_.substr(at_ - static_cast<size_t>(size), static_cast<size_t>(size)));
  }

  // A count of elements of at least 4 bytes each.
  int64_t Count() {
    const int64_t count = Int();
    if (count < 0 || static_cast<uint64_t>(count) > (bytes_.size() - at_) / 4) bad_ = true;
    return bad_ ? 0 : count;
  }

  void ReadPairs(Value& owner, int depth, bool has_attributes, bool has_tag) {
    if (has_attributes) Read(depth + 1);
    std::string tag;
    if (has_tag) {
      Value symbol = Read(depth + 1);
      if (!symbol.strings.empty()) tag = symbol.strings[0];
    }
    Value value = Read(depth + 1);
    if (tag == "names") owner.names = value.strings;
    owner.items.push_back(std::move(value));
    Value rest = Read(depth + 1);
    if (!rest.names.empty()) owner.names = std::move(rest.names);
  }

  Value Read(int depth) {
    Value value;
    if (bad_ || depth > 64) {
      bad_ = true;
      return value;
    }
    const auto flags = static_cast<uint32_t>(Int());
    const uint32_t type = flags & 0xFF;
    bool has_attributes = (flags & 0x200) != 0;
    switch (type) {
      case 254:  // NULL
        return value;
      case 255: {  // a symbol seen before
        const uint32_t index = flags >> 8;
        if (index == 0 || index > symbols_.size()) {
          bad_ = true;
          return value;
        }
        value.strings.push_back(symbols_[index - 1]);
        return value;
      }
      case 1: {  // symbol
        Value name = Read(depth + 1);
        symbols_.push_back(name.strings.empty() ? "" : name.strings[0]);
        value.strings.push_back(symbols_.back());
        return value;
      }
      case 2:  // pair list
        ReadPairs(value, depth, has_attributes, (flags & 0x400) != 0);
        return value;
      case 9:  // one string
        value.strings.push_back(Text(Int()));
        return value;
      case 10:    // logical
      case 13: {  // integer
        for (int64_t n = Count(); n > 0 && !bad_; --n) value.numbers.push_back(Int());
        break;
      }
      case 16: {  // strings
        for (int64_t n = Count(); n > 0 && !bad_; --n) {
          Value text = Read(depth + 1);
          value.strings.push_back(text.strings.empty() ? "" : std::move(text.strings[0]));
        }
        break;
      }
      case 19: {  // list
        for (int64_t n = Count(); n > 0 && !bad_; --n) value.items.push_back(Read(depth + 1));
        break;
      }
      default:
        bad_ = true;
        return value;
    }
    if (has_attributes) value.names = Read(depth + 1).names;
    return value;
  }

  std::string_view bytes_;
  size_t at_ = 0;
  bool bad_ = false;
  std::vector<std::string> symbols_;
};

uint32_t LittleEndian32(lakestream::ConstBytes bytes, size_t at) {
  return static_cast<uint32_t>(bytes[at]) | static_cast<uint32_t>(bytes[at + 1]) << 8 |
         static_cast<uint32_t>(bytes[at + 2]) << 16 | static_cast<uint32_t>(bytes[at + 3]) << 24;
}

// True if `tag` (without brackets) is <name ...>, </name> or <name/>.
bool IsTag(std::string_view tag, std::string_view name) {
  if (!tag.empty() && tag.front() == '/') tag.remove_prefix(1);
  if (tag.substr(0, name.size()) != name) return false;
  return tag.size() == name.size() || tag[name.size()] == ' ' || tag[name.size()] == '/';
}

// Collects lines with single spaces.
class LineWriter {
 public:
  void Add(char c) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      space_ = true;
      return;
    }
    if (space_ && !line_.empty()) line_ += ' ';
    space_ = false;
    line_ += c;
  }
  void EndLine() {
    if (!line_.empty()) text_ += line_ + '\n';
    line_.clear();
    space_ = false;
  }
  std::string Take() {
    EndLine();
    return std::move(text_);
  }

 private:
  std::string text_;
  std::string line_;
  bool space_ = false;
};

struct Entity {
  std::string_view name;
  char value;
};
constexpr std::array<Entity, 5> kEntities = {
    {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};

}  // namespace

Result<std::string> Inflate(lakestream::ConstBytes bytes, size_t size_max) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 32) != Z_OK) return DataLossError("cannot start zlib");
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  std::vector<char> piece(256 << 10);
  int code = Z_OK;
  while (code == Z_OK && out.size() <= size_max) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    code = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || out.size() > size_max) {
    return DataLossError("a damaged or too large zlib stream");
  }
  return out;
}

Result<std::vector<std::string>> ReadRStrings(std::string_view bytes) {
  LS_ASSIGN_OR_RETURN(RReader::Value value, RReader(bytes).ReadRoot());
  return std::move(value.strings);
}

Result<std::vector<Document>> ReadRDatabase(const std::string& folder, const std::string& prefix) {
  LS_ASSIGN_OR_RETURN(std::vector<uint8_t> packed_index, ReadFile(folder + "/Rdata.rdx"));
  LS_ASSIGN_OR_RETURN(std::vector<uint8_t> data, ReadFile(folder + "/Rdata.rdb"));
  LS_ASSIGN_OR_RETURN(std::string index_bytes, Inflate(packed_index, kTextBytesMax));
  LS_ASSIGN_OR_RETURN(RReader::Value index, RReader(index_bytes).ReadRoot());
  if (index.items.empty() || index.items[0].names.size() != index.items[0].items.size()) {
    return DataLossError("'" + folder + "/Rdata.rdx' has no list of variables");
  }
  const RReader::Value& variables = index.items[0];
  std::vector<Document> documents;
  for (size_t i = 0; i < variables.items.size(); ++i) {
    const std::vector<int64_t>& place = variables.items[i].numbers;  // offset, size
    if (place.size() != 2 || place[0] < 0 || place[1] < 4 ||
        static_cast<uint64_t>(place[0]) + static_cast<uint64_t>(place[1]) > data.size()) {
      return DataLossError("a variable outside of '" + folder + "/Rdata.rdb'");
    }
    // Four bytes hold the raw size; the stream itself says as much.
    const lakestream::ConstBytes chunk(data.data() + place[0] + 4,
                                       static_cast<size_t>(place[1]) - 4);
    LS_ASSIGN_OR_RETURN(std::string object, Inflate(chunk, kTextBytesMax));
    LS_ASSIGN_OR_RETURN(std::vector<std::string> lines, ReadRStrings(object));
    Document document{prefix + "/" + variables.names[i], ""};
    for (const std::string& line : lines) document.text += line + '\n';
    documents.push_back(std::move(document));
  }
  return documents;
}

Result<std::vector<Document>> ReadSwordModule(const std::string& base, const std::string& prefix) {
  LS_ASSIGN_OR_RETURN(std::vector<uint8_t> index, ReadFile(base + "s"));
  LS_ASSIGN_OR_RETURN(std::vector<uint8_t> data, ReadFile(base + "z"));
  std::vector<Document> documents;
  for (size_t at = 0; at + 12 <= index.size(); at += 12) {
    const uint64_t offset = LittleEndian32(index, at);
    const uint64_t stored = LittleEndian32(index, at + 4);
    const uint64_t raw = LittleEndian32(index, at + 8);
    if (offset + stored > data.size()) return DataLossError("a block outside of '" + base + "z'");
    LS_ASSIGN_OR_RETURN(std::string osis,
                        Inflate(lakestream::ConstBytes(data.data() + offset, stored), raw));
    documents.push_back({prefix + "/" + std::to_string(at / 12), PlainText(osis)});
  }
  return documents;
}

std::string PlainText(std::string_view osis) {
  LineWriter out;
  for (size_t at = 0; at < osis.size();) {
    if (osis[at] == '&') {
      size_t length = 1;
      char c = '&';
      for (const Entity& entity : kEntities) {
        if (osis.substr(at, entity.name.size()) == entity.name) {
          length = entity.name.size();
          c = entity.value;
        }
      }
      out.Add(c);
      at += length;
      continue;
    }
    if (osis[at] != '<') {
      out.Add(osis[at++]);
      continue;
    }
    size_t end = osis.find('>', at);
    if (end == std::string_view::npos) break;
    const std::string_view tag = osis.substr(at + 1, end - at - 1);
    if (IsTag(tag, "note") && tag.front() != '/' && tag.back() != '/') {
      const size_t close = osis.find("</note>", end);
      end = close == std::string_view::npos ? osis.size() - 1 : close + 6;
    }
    for (std::string_view name : {"div", "title", "row", "item", "l", "lb"}) {
      if (IsTag(tag, name)) out.EndLine();
    }
    at = end + 1;
  }
  return out.Take();
}

}  // namespace multimodal

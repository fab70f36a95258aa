#include "multimodal/item.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "multimodal/image_source.h"
#include "multimodal/text_source.h"
#include "multimodal/video_source.h"

namespace multimodal {

using lakestream::Result;
using lakestream::Status;

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kVideo:
      return "video";
    case Kind::kImage:
      return "image";
    case Kind::kText:
      return "text";
  }
  return "unknown";
}

std::optional<Kind> KindFromName(std::string_view name) {
  for (Kind kind : {Kind::kVideo, Kind::kImage, Kind::kText}) {
    if (KindName(kind) == name) return kind;
  }
  return std::nullopt;
}

uint64_t UnitBytes(Kind kind) {
  switch (kind) {
    case Kind::kVideo:
      return uint64_t{kFrameWidth} * kFrameHeight * 3;
    case Kind::kImage:
      return uint64_t{kImageSide} * 3;
    case Kind::kText:
      return 4;
  }
  return 1;
}

uint64_t ContentHash(lakestream::ConstBytes bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string Hex64(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

Result<std::unique_ptr<ItemSource>> OpenSource(Kind kind, const std::string& data, uint64_t seed) {
  switch (kind) {
    case Kind::kVideo:
      return OpenVideoSource(data, seed);
    case Kind::kImage:
      return OpenImageSource(data, seed);
    case Kind::kText:
      return OpenTextSource(data, seed);
  }
  return lakestream::InvalidArgumentError("unknown kind of items");
}

Result<std::vector<uint8_t>> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return lakestream::NotFoundError("cannot open '" + path + "': " + std::strerror(errno) +
                                     "; run examples/multimodal/fetch_data.sh and demo_prepare");
  }
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(in)),
                             std::istreambuf_iterator<char>());
  if (in.bad()) return lakestream::DataLossError("cannot read '" + path + "' to its end");
  return bytes;
}

namespace {

Status FileError(const std::string& what, const std::string& path) {
  return lakestream::UnavailableError("cannot " + what + " '" + path +
                                      "': " + std::strerror(errno) + "; nothing was replaced");
}

Status SyncFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError("open the folder of", path);
  const bool synced = ::fsync(fd) == 0;
  ::close(fd);
  return synced ? lakestream::OkStatus() : FileError("sync the folder of", path);
}

}  // namespace

Status WriteFile(const std::string& path, std::string_view content, bool durable) {
  const std::string temporary = path + ".new";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return FileError("create", temporary);
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      Status status = FileError("write", temporary);
      ::close(fd);
      return status;
    }
    done += static_cast<size_t>(n);
  }
  const bool synced = !durable || ::fdatasync(fd) == 0;
  if (::close(fd) != 0 || !synced) return FileError("write", temporary);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return FileError("rename", temporary);
  return durable ? SyncFolder(path) : lakestream::OkStatus();
}

}  // namespace multimodal

#include "multimodal/rank_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "multimodal/item.h"

namespace multimodal {

using lakestream::Result;
using lakestream::Status;

namespace {

Status LogError(const std::string& what, const std::string& path) {
  return lakestream::UnavailableError("cannot " + what + " the rank's log '" + path +
                                      "': " + std::strerror(errno));
}

}  // namespace

std::string RankPosition::Encode() const {
  char text[256];
  std::snprintf(text, sizeof text,
                "{\"step\":%" PRIu64 ",\"log_bytes\":%" PRIu64 ",\"lives\":%" PRIu64
                ",\"slice_bytes\":%" PRIu64 ",\"bytes_read\":%" PRIu64 ",\"requests\":%" PRIu64
                ",\"rereads\":%" PRIu64 "}\n",
                step, log_bytes, lives, slice_bytes, bytes_read, requests, rereads);
  return text;
}

Result<RankPosition> RankPosition::Decode(const std::string& text) {
  RankPosition p;
  const int found = std::sscanf(text.c_str(),
                                "{\"step\":%" SCNu64 ",\"log_bytes\":%" SCNu64 ",\"lives\":%" SCNu64
                                ",\"slice_bytes\":%" SCNu64 ",\"bytes_read\":%" SCNu64
                                ",\"requests\":%" SCNu64 ",\"rereads\":%" SCNu64 "}",
                                &p.step, &p.log_bytes, &p.lives, &p.slice_bytes, &p.bytes_read,
                                &p.requests, &p.rereads);
  if (found != 7 || p.Encode() != text) {
    return lakestream::DataLossError("the rank's position file is damaged");
  }
  return p;
}

RankLog::~RankLog() {
  if (fd_ >= 0) ::close(fd_);
}

Status RankLog::Open(const std::string& path, uint64_t start_step) {
  path_ = path;
  position_.step = start_step;
  std::error_code error;
  if (std::filesystem::exists(path + ".position", error)) {
    LS_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, ReadFile(path + ".position"));
    LS_ASSIGN_OR_RETURN(position_, RankPosition::Decode(std::string(lakestream::AsText(bytes))));
  }
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) return LogError("open", path);
  const off_t size = ::lseek(fd_, 0, SEEK_END);
  if (size < 0 || static_cast<uint64_t>(size) < position_.log_bytes) {
    return lakestream::DataLossError("the rank's log '" + path + "' is shorter than its position");
  }
  if (::ftruncate(fd_, static_cast<off_t>(position_.log_bytes)) != 0) return LogError("cut", path);
  bytes_ = position_.log_bytes;
  ++position_.lives;
  return Save(position_);
}

Status RankLog::Append(const std::string& line) {
  const std::string text = line + '\n';
  if (::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return LogError("append to", path_);
  }
  bytes_ += text.size();
  return lakestream::OkStatus();
}

Status RankLog::Save(RankPosition position) {
  if (::fdatasync(fd_) != 0) return LogError("sync", path_);
  position.log_bytes = bytes_;
  position_ = position;
  return WriteFile(path_ + ".position", position.Encode(), true);
}

}  // namespace multimodal

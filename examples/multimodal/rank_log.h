// What a rank writes down: one line for each step that it has consumed, and its durable position.
#pragma once

#include <cstdint>
#include <string>

#include "lakestream/status.h"

namespace multimodal {

// Saved together: how far the rank has come, and how long its log was then.
struct RankPosition {
  uint64_t step = 0;       // the next one to consume
  uint64_t log_bytes = 0;  // of the log that belong to the steps before it
  uint64_t lives = 0;      // processes so far, this one included
  // Over all lives, as far as they were saved.
  uint64_t slice_bytes = 0;
  uint64_t bytes_read = 0;
  uint64_t requests = 0;
  uint64_t rereads = 0;

  std::string Encode() const;
  static lakestream::Result<RankPosition> Decode(const std::string& text);
};

// An append-only file whose tail may be lost: after a crash it is cut to what the last Save() made
// durable, so that no step stands in it twice. Confined to one thread.
class RankLog {
 public:
  RankLog() = default;
  ~RankLog();
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  // Opens <path> and <path>.position and cuts the log; without a position, starts at `start_step`
  // with an empty log.
  lakestream::Status Open(const std::string& path, uint64_t start_step);
  const RankPosition& position() const { return position_; }

  lakestream::Status Append(const std::string& line);
  // Makes durable all lines, then `position` (its log_bytes is filled in).
  lakestream::Status Save(RankPosition position);

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t bytes_ = 0;
  RankPosition position_;
};

}  // namespace multimodal

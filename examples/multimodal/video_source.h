// Video: random clips of whole files, decoded with FFmpeg's libraries and scaled to 160 x 90 RGB.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "multimodal/item.h"

namespace multimodal {

inline constexpr uint32_t kFrameWidth = 160;
inline constexpr uint32_t kFrameHeight = 90;
inline constexpr uint32_t kClipFramesMax = 16;

// One video file, its compressed packets in memory. Frames are numbered by presentation time.
// Confined to one thread (decoding uses the caller's thread only).
class VideoFile {
 public:
  static lakestream::Result<std::unique_ptr<VideoFile>> Open(const std::string& path);
  virtual ~VideoFile() = default;

  virtual uint32_t frames() const = 0;
  // Frames [first, first + count), decoded from the last key frame at or before `first`.
  virtual lakestream::Result<std::vector<uint8_t>> Clip(uint32_t first, uint32_t count) = 0;
  // All frames, decoded once from the start: the slow and sure way, for the checker.
  virtual lakestream::Result<std::vector<uint8_t>> DecodeAll() = 0;
};

// The files of the demo, in the order that item identities use, relative to the data folder.
const std::vector<std::string>& VideoPaths();

// What item k is, without decoding it.
struct ClipPlan {
  uint64_t epoch = 0;
  uint32_t file = 0;
  uint32_t first = 0;
  uint32_t count = 0;
};
ClipPlan PlanClip(uint64_t seed, uint64_t k, const std::vector<uint32_t>& frames_by_file);
std::string ClipIdentity(const ClipPlan& plan);

lakestream::Result<std::unique_ptr<ItemSource>> OpenVideoSource(const std::string& data,
                                                                uint64_t seed);
// The same items, cut from files that were decoded from start to end.
lakestream::Result<std::unique_ptr<ItemSource>> OpenSequentialVideoSource(const std::string& data,
                                                                          uint64_t seed);

}  // namespace multimodal

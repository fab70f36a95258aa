#include "multimodal/video_source.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libswscale/swscale.h>
}

#include <algorithm>
#include <filesystem>
#include <utility>

#include "multimodal/prng.h"

namespace multimodal {

using lakestream::Result;
using lakestream::Status;

namespace {

constexpr size_t kFrameBytes = size_t{kFrameWidth} * kFrameHeight * 3;

struct FormatCloser {
  void operator()(AVFormatContext* format) const { avformat_close_input(&format); }
};
struct CodecFreer {
  void operator()(AVCodecContext* codec) const { avcodec_free_context(&codec); }
};
struct PacketFreer {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
struct FrameFreer {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
struct ScalerFreer {
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
};
using Format = std::unique_ptr<AVFormatContext, FormatCloser>;
using Codec = std::unique_ptr<AVCodecContext, CodecFreer>;
using Packet = std::unique_ptr<AVPacket, PacketFreer>;
using Frame = std::unique_ptr<AVFrame, FrameFreer>;
using Scaler = std::unique_ptr<SwsContext, ScalerFreer>;

Status VideoError(const std::string& path, const std::string& what, int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = "";
  av_strerror(error, text, sizeof text);
  return lakestream::DataLossError("cannot " + what + " '" + path + "': " + text);
}

class VideoFileImpl final : public VideoFile {
 public:
  explicit VideoFileImpl(std::string path) : path_(std::move(path)), frame_(av_frame_alloc()) {}

  // Reads all packets of the best video stream and opens its decoder.
  Status Load() {
    AVFormatContext* raw = nullptr;
    if (int error = avformat_open_input(&raw, path_.c_str(), nullptr, nullptr); error < 0) {
      return VideoError(path_, "open", error);
    }
    Format format(raw);
    if (int error = avformat_find_stream_info(raw, nullptr); error < 0) {
      return VideoError(path_, "probe", error);
    }
    const AVCodec* decoder = nullptr;
    const int stream = av_find_best_stream(raw, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    if (stream < 0) return VideoError(path_, "find a video stream in", stream);
    codec_.reset(avcodec_alloc_context3(decoder));
    avcodec_parameters_to_context(codec_.get(), raw->streams[stream]->codecpar);
    codec_->thread_count = 1;
    if (int error = avcodec_open2(codec_.get(), decoder, nullptr); error < 0) {
      return VideoError(path_, "open the decoder of", error);
    }
    while (true) {
      Packet packet(av_packet_alloc());
      if (av_read_frame(raw, packet.get()) < 0) break;
      if (packet->stream_index != stream) continue;
      if (packet->pts == AV_NOPTS_VALUE) {
        return lakestream::DataLossError("a frame of '" + path_ + "' has no presentation time");
      }
      times_.push_back(packet->pts);
      packets_.push_back(std::move(packet));
    }
    std::sort(times_.begin(), times_.end());
    if (times_.empty()) return lakestream::DataLossError("'" + path_ + "' has no frames");
    // Encoders describe themselves in the first frame only (x264 its version, and FFmpeg decodes
    // 4:4:4 of old versions wrongly without it): whoever seeks must have decoded it once.
    return Decode(0, 0, 1).status();
  }

  uint32_t frames() const override { return static_cast<uint32_t>(times_.size()); }

  Result<std::vector<uint8_t>> Clip(uint32_t first, uint32_t count) override {
    if (count == 0 || uint64_t{first} + count > times_.size()) {
      return lakestream::InvalidArgumentError("a clip beyond the end of '" + path_ + "'");
    }
    // Frames shown from a key frame on depend on nothing before it, also where groups are open.
    size_t start = 0;
    for (size_t i = 0; i < packets_.size(); ++i) {
      const AVPacket& packet = *packets_[i];
      if ((packet.flags & AV_PKT_FLAG_KEY) != 0 && packet.pts <= times_[first]) start = i;
    }
    return Decode(start, first, count);
  }

  Result<std::vector<uint8_t>> DecodeAll() override { return Decode(0, 0, frames()); }

 private:
  Result<std::vector<uint8_t>> Decode(size_t start_packet, uint32_t first, uint32_t count) {
    avcodec_flush_buffers(codec_.get());
    std::vector<uint8_t> out;
    out.reserve(count * kFrameBytes);
    uint32_t next = first;
    for (size_t i = start_packet; next < first + count && i <= packets_.size(); ++i) {
      const AVPacket* packet = i < packets_.size() ? packets_[i].get() : nullptr;  // null: drain
      if (int error = avcodec_send_packet(codec_.get(), packet); error < 0) {
        return VideoError(path_, "decode", error);
      }
      while (next < first + count && avcodec_receive_frame(codec_.get(), frame_.get()) == 0) {
        if (frame_->pts < times_[next]) continue;
        if (frame_->pts > times_[next]) {
          return lakestream::DataLossError("frame " + std::to_string(next) + " of '" + path_ +
                                           "' was not decoded");
        }
        LS_RETURN_IF_ERROR(AppendScaled(out));
        ++next;
      }
    }
    if (next != first + count) {
      return lakestream::DataLossError("'" + path_ + "' ended before frame " +
                                       std::to_string(next));
    }
    return out;
  }

  Status AppendScaled(std::vector<uint8_t>& out) {
    scaler_.reset(sws_getCachedContext(
        scaler_.release(), frame_->width, frame_->height,
        static_cast<AVPixelFormat>(frame_->format), kFrameWidth, kFrameHeight, AV_PIX_FMT_RGB24,
        SWS_BILINEAR | SWS_ACCURATE_RND | SWS_BITEXACT, nullptr, nullptr, nullptr));
    if (scaler_ == nullptr) return lakestream::DataLossError("cannot scale '" + path_ + "'");
    // The scaler writes whole vectors: give it a line length with room, then pack the rows.
    constexpr int kStride = kFrameWidth * 3 + 32;
    scaled_.resize(size_t{kStride} * kFrameHeight + 64);
    uint8_t* const planes[4] = {scaled_.data(), nullptr, nullptr, nullptr};
    const int strides[4] = {kStride, 0, 0, 0};
    sws_scale(scaler_.get(), frame_->data, frame_->linesize, 0, frame_->height, planes, strides);
    for (uint32_t row = 0; row < kFrameHeight; ++row) {
      const uint8_t* line = scaled_.data() + size_t{row} * kStride;
      out.insert(out.end(), line, line + size_t{kFrameWidth} * 3);
    }
    return lakestream::OkStatus();
  }

  std::string path_;
  Codec codec_;
  Frame frame_;
  Scaler scaler_;
  std::vector<Packet> packets_;  // in decoding order
  std::vector<int64_t> times_;   // presentation times, sorted: frame n is shown at times_[n]
  std::vector<uint8_t> scaled_;
};

// Both ways of decoding behind one source.
class VideoSource final : public ItemSource {
 public:
  VideoSource(std::vector<std::unique_ptr<VideoFile>> files, uint64_t seed, bool sequential)
      : files_(std::move(files)), seed_(seed), sequential_(sequential), whole_(files_.size()) {
    for (const auto& file : files_) frames_.push_back(file->frames());
  }

  Result<Item> Load(uint64_t k) override {
    const ClipPlan plan = PlanClip(seed_, k, frames_);
    Item item;
    item.id = ItemId(Kind::kVideo, k);
    item.identity = ClipIdentity(plan);
    item.units = plan.count;
    if (!sequential_) {
      LS_ASSIGN_OR_RETURN(item.content, files_[plan.file]->Clip(plan.first, plan.count));
      return item;
    }
    std::vector<uint8_t>& whole = whole_[plan.file];
    if (whole.empty()) {
      LS_ASSIGN_OR_RETURN(whole, files_[plan.file]->DecodeAll());
    }
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(plan.first * kFrameBytes);
    item.content.assign(begin, begin + static_cast<std::ptrdiff_t>(plan.count * kFrameBytes));
    return item;
  }

 private:
  std::vector<std::unique_ptr<VideoFile>> files_;
  uint64_t seed_;
  bool sequential_;
  std::vector<uint32_t> frames_;
  std::vector<std::vector<uint8_t>> whole_;
};

Result<std::unique_ptr<ItemSource>> OpenFiles(const std::string& data, uint64_t seed,
                                              bool sequential) {
  std::vector<std::unique_ptr<VideoFile>> files;
  for (const std::string& path : VideoPaths()) {
    LS_ASSIGN_OR_RETURN(auto file, VideoFile::Open((std::filesystem::path(data) / path).string()));
    files.push_back(std::move(file));
  }
  return std::unique_ptr<ItemSource>(
      std::make_unique<VideoSource>(std::move(files), seed, sequential));
}

}  // namespace

Result<std::unique_ptr<VideoFile>> VideoFile::Open(const std::string& path) {
  av_log_set_level(AV_LOG_ERROR);
  auto file = std::make_unique<VideoFileImpl>(path);
  LS_RETURN_IF_ERROR(file->Load());
  return std::unique_ptr<VideoFile>(std::move(file));
}

const std::vector<std::string>& VideoPaths() {
  static const std::vector<std::string> kPaths = {
      "video/cockatoo.mp4",
      "video/cityCC0.mpg",
      "video/realshort.mp4",
  };
  return kPaths;
}

ClipPlan PlanClip(uint64_t seed, uint64_t k, const std::vector<uint32_t>& frames_by_file) {
  const auto count = static_cast<uint32_t>(frames_by_file.size());
  constexpr uint64_t kKind = static_cast<uint64_t>(Kind::kVideo);
  ClipPlan plan;
  plan.epoch = k / count;
  plan.file = EpochOrder(seed, kKind, plan.epoch, count)[k % count];
  SplitMix64 random = KeyedStream(seed, kKind, Purpose::kItem, k);
  plan.count = static_cast<uint32_t>(4 * (1 + random.Below(kClipFramesMax / 4)));
  plan.first = static_cast<uint32_t>(random.Below(frames_by_file[plan.file] - plan.count + 1));
  return plan;
}

std::string ClipIdentity(const ClipPlan& plan) {
  return "{\"epoch\":" + std::to_string(plan.epoch) +
         ",\"source\":" + Quoted(VideoPaths()[plan.file]) +
         ",\"first\":" + std::to_string(plan.first) + ",\"frames\":" + std::to_string(plan.count) +
         "}";
}

Result<std::unique_ptr<ItemSource>> OpenVideoSource(const std::string& data, uint64_t seed) {
  return OpenFiles(data, seed, false);
}

Result<std::unique_ptr<ItemSource>> OpenSequentialVideoSource(const std::string& data,
                                                              uint64_t seed) {
  return OpenFiles(data, seed, true);
}

}  // namespace multimodal

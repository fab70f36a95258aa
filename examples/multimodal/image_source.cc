#include "multimodal/image_source.h"

#include <turbojpeg.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "multimodal/prng.h"

namespace multimodal {

using lakestream::Result;
using lakestream::Status;

namespace {

struct HandleDeleter {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Handle = std::unique_ptr<void, HandleDeleter>;

Status JpegError(const Handle& handle, const std::string& what) {
  return lakestream::DataLossError("cannot " + what + ": " + tjGetErrorStr2(handle.get()));
}

// One axis of the resize: for each target position the two sources and the weight of the second.
struct Tap {
  uint32_t first = 0;
  uint32_t second = 0;
  uint32_t weight = 0;  // of `second`, 0..255 of 256
};

std::vector<Tap> Taps(uint32_t size) {
  std::vector<Tap> taps(kImageSide);
  for (uint32_t i = 0; i < kImageSide; ++i) {
    const int64_t centre = int64_t{2 * i + 1} * size * 256 / (2 * kImageSide) - 128;
    const int64_t place = std::clamp<int64_t>(centre, 0, int64_t{size - 1} * 256);
    taps[i].first = static_cast<uint32_t>(place >> 8);
    taps[i].second = std::min(taps[i].first + 1, size - 1);
    taps[i].weight = static_cast<uint32_t>(place & 255);
  }
  return taps;
}

class ImageSource final : public ItemSource {
 public:
  ImageSource(std::vector<std::string> names, std::vector<std::vector<uint8_t>> tiles,
              uint64_t seed)
      : names_(std::move(names)),
        tiles_(std::move(tiles)),
        seed_(seed),
        jpeg_(tjInitDecompress()) {}

  Result<Item> Load(uint64_t k) override {
    const auto count = static_cast<uint32_t>(tiles_.size());
    const uint64_t epoch = k / count;
    if (order_.empty() || epoch != epoch_) {
      order_ = EpochOrder(seed_, static_cast<uint64_t>(Kind::kImage), epoch, count);
      epoch_ = epoch;
    }
    const uint32_t tile = order_[k % count];
    SplitMix64 random = KeyedStream(seed_, static_cast<uint64_t>(Kind::kImage), Purpose::kItem, k);
    Crop crop;
    crop.size = static_cast<uint32_t>(kImageSide + random.Below(kTileSide - kImageSide + 1));
    crop.x = static_cast<uint32_t>(random.Below(kTileSide - crop.size + 1));
    crop.y = static_cast<uint32_t>(random.Below(kTileSide - crop.size + 1));
    crop.flip = random.Below(2) == 1;
    Item item;
    item.id = ItemId(Kind::kImage, k);
    item.identity = "{\"epoch\":" + std::to_string(epoch) + ",\"source\":" + Quoted(names_[tile]) +
                    ",\"size\":" + std::to_string(crop.size) + ",\"x\":" + std::to_string(crop.x) +
                    ",\"y\":" + std::to_string(crop.y) +
                    ",\"flip\":" + (crop.flip ? "true" : "false") + "}";
    item.units = kImageSide;
    LS_ASSIGN_OR_RETURN(item.content, Decode(tile, crop));
    return item;
  }

 private:
  Result<std::vector<uint8_t>> Decode(uint32_t tile, const Crop& crop) {
    const uint32_t scale = crop.size >= kHalfScaleFrom ? 2 : 1;
    const uint32_t side = kTileSide / scale;
    pixels_.resize(size_t{side} * side * 3);
    const std::vector<uint8_t>& bytes = tiles_[tile];
    if (tjDecompress2(jpeg_.get(), bytes.data(), bytes.size(), pixels_.data(),
                      static_cast<int>(side), 0, static_cast<int>(side), TJPF_RGB,
                      TJFLAG_ACCURATEDCT) != 0) {
      return JpegError(jpeg_, "decode tile '" + names_[tile] + "'");
    }
    return ResizeSquare(pixels_, side, crop.x / scale, crop.y / scale, crop.size / scale,
                        crop.flip);
  }

  std::vector<std::string> names_;
  std::vector<std::vector<uint8_t>> tiles_;
  uint64_t seed_;
  Handle jpeg_;
  std::vector<uint8_t> pixels_;
  std::vector<uint32_t> order_;
  uint64_t epoch_ = 0;
};

}  // namespace

std::vector<uint8_t> ResizeSquare(const std::vector<uint8_t>& rgb, uint32_t width, uint32_t x,
                                  uint32_t y, uint32_t size, bool flip) {
  std::vector<uint8_t> out(size_t{kImageSide} * kImageSide * 3);
  const std::vector<Tap> taps = Taps(size);
  for (uint32_t row = 0; row < kImageSide; ++row) {
    const Tap& down = taps[row];
    const uint8_t* top = &rgb[(size_t{y + down.first} * width + x) * 3];
    const uint8_t* bottom = &rgb[(size_t{y + down.second} * width + x) * 3];
    for (uint32_t column = 0; column < kImageSide; ++column) {
      const Tap& across = taps[flip ? kImageSide - 1 - column : column];
      uint8_t* pixel = &out[(size_t{row} * kImageSide + column) * 3];
      for (uint32_t c = 0; c < 3; ++c) {
        const uint32_t a = across.first * 3 + c;
        const uint32_t b = across.second * 3 + c;
        const uint32_t upper = top[a] * (256 - across.weight) + top[b] * across.weight;
        const uint32_t lower = bottom[a] * (256 - across.weight) + bottom[b] * across.weight;
        const uint32_t mixed = upper * (256 - down.weight) + lower * down.weight;
        pixel[c] = static_cast<uint8_t>((mixed + 32768) >> 16);
      }
    }
  }
  return out;
}

Result<std::vector<std::vector<uint8_t>>> CutTiles(const std::vector<uint8_t>& jpeg) {
  Handle handle(tjInitTransform());
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(handle.get(), jpeg.data(), jpeg.size(), &width, &height, &subsampling,
                          &colours) != 0) {
    return JpegError(handle, "read the header of a photograph");
  }
  std::vector<tjtransform> cuts;
  constexpr int kSide = static_cast<int>(kTileSide);
  for (int y = 0; y + kSide <= height; y += kSide) {
    for (int x = 0; x + kSide <= width; x += kSide) {
      tjtransform cut{};
      cut.r = {x, y, kSide, kSide};
      cut.options = TJXOPT_CROP | TJXOPT_COPYNONE;
      cuts.push_back(cut);
    }
  }
  std::vector<unsigned char*> buffers(cuts.size(), nullptr);
  std::vector<unsigned long> sizes(cuts.size(), 0);
  const int failed =
      tjTransform(handle.get(), jpeg.data(), jpeg.size(), static_cast<int>(cuts.size()),
                  buffers.data(), sizes.data(), cuts.data(), 0);
  std::vector<std::vector<uint8_t>> tiles;
  for (size_t i = 0; i < cuts.size(); ++i) {
    if (failed == 0) tiles.emplace_back(buffers[i], buffers[i] + sizes[i]);
    tjFree(buffers[i]);
  }
  if (failed != 0) return JpegError(handle, "cut a photograph into tiles");
  return tiles;
}

Result<std::unique_ptr<ItemSource>> OpenImageSource(const std::string& data, uint64_t seed) {
  const std::filesystem::path folder = std::filesystem::path(data) / "prepared" / "tiles";
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".jpg") names.push_back(entry.path().filename().string());
  }
  if (names.empty()) {
    return lakestream::NotFoundError("no tiles in '" + folder.string() +
                                     "'; run examples/multimodal/fetch_data.sh and demo_prepare");
  }
  std::sort(names.begin(), names.end());
  std::vector<std::vector<uint8_t>> tiles;
  for (const std::string& name : names) {
    LS_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, ReadFile((folder / name).string()));
    tiles.push_back(std::move(bytes));
  }
  return std::unique_ptr<ItemSource>(
      std::make_unique<ImageSource>(std::move(names), std::move(tiles), seed));
}

}  // namespace multimodal

// Photographs: 512 x 512 tiles of them, cropped at random and resized to 224 x 224 RGB.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "multimodal/item.h"

namespace multimodal {

inline constexpr uint32_t kTileSide = 512;
inline constexpr uint32_t kImageSide = 224;
// From this crop size on, tiles are decoded at half scale: fewer coefficients, no visible loss.
inline constexpr uint32_t kHalfScaleFrom = 2 * kImageSide;

// Square region of a tile, mirrored or not.
struct Crop {
  uint32_t size = 0;  // kImageSide..kTileSide
  uint32_t x = 0;
  uint32_t y = 0;
  bool flip = false;
};

// Bilinear resize of the square at (x, y) of an RGB picture of `width` to kImageSide^2, in fixed
// point (8 fractional bits; pixel centres), so that every machine and the checker get the same
// bytes.
std::vector<uint8_t> ResizeSquare(const std::vector<uint8_t>& rgb, uint32_t width, uint32_t x,
                                  uint32_t y, uint32_t size, bool flip);

// Cuts a photograph without loss into its full tiles, row by row (coefficients are moved, nothing
// is decoded; progressive files become baseline). kDataLoss if it is not a JPEG that can be cut.
lakestream::Result<std::vector<std::vector<uint8_t>>> CutTiles(const std::vector<uint8_t>& jpeg);

// Over <data>/prepared/tiles/*.jpg.
lakestream::Result<std::unique_ptr<ItemSource>> OpenImageSource(const std::string& data,
                                                                uint64_t seed);

}  // namespace multimodal

#include "codec/zstd_codec.h"

#include <zstd.h>

#include <string>

namespace lakestream {

Result<std::vector<uint8_t>> ZstdCompress(ConstBytes bytes, int level) {
  std::vector<uint8_t> out(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size)) {
    return InternalError(std::string("zstd compression: ").append(ZSTD_getErrorName(size)));
  }
  out.resize(size);
  return out;
}

Status ZstdDecompress(ConstBytes frame, MutableBytes out) {
  const size_t size = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(size)) {
    return DataLossError(std::string("zstd frame is invalid: ").append(ZSTD_getErrorName(size)));
  }
  if (size != out.size()) {
    return DataLossError("zstd frame holds " + std::to_string(size) + " bytes, expected " +
                         std::to_string(out.size()));
  }
  return OkStatus();
}

}  // namespace lakestream

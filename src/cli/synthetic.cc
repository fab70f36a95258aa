#include "cli/synthetic.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace lakestream::cli {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t Next(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

uint64_t SeedOf(const std::string& producer, uint64_t item, uint32_t dp, uint32_t cp) {
  uint64_t seed = item * 1000003 + dp * 8191 + cp;
  for (const char c : producer) seed = seed * 31 + static_cast<uint8_t>(c);
  return seed;
}

void Fill(uint64_t seed, std::vector<uint8_t>& bytes) {
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t word = Next(seed);
    std::memcpy(bytes.data() + i, &word, std::min<size_t>(8, bytes.size() - i));
  }
}

}  // namespace

Result<Tgb> MakeSynthetic(const StreamSpec& spec, const std::string& producer, uint64_t item,
                          uint64_t slice_bytes, double spread) {
  const Mesh& mesh = spec.mesh;
  const uint64_t samples = spec.samples_multiple;
  std::map<std::string, std::string> metadata = {{"lakestream.type.producer", "utf8"}};
  if (samples > 0) {
    metadata["lakestream.samples"] = std::to_string(samples);
    metadata["lakestream.whole.item"] = metadata["lakestream.whole.producer"] = "";
  }
  Tgb tgb(mesh);
  const std::string names[] = {producer};
  RaggedStorage storage;
  for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
    for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
      const uint64_t seed = SeedOf(producer, item, dp, cp);
      uint64_t size_seed = ~seed;
      const double unit = static_cast<double>(Next(size_seed) >> 11) * 0x1.0p-53;
      const double scale = 1 + spread * (2 * unit - 1);
      auto size = static_cast<size_t>(static_cast<double>(slice_bytes) * scale);
      if (samples > 0) size = (size + samples - 1) / samples * samples;
      std::vector<uint8_t> data(size);
      Fill(seed, data);
      std::vector<TensorView> tensors = StringTensors("producer", names, storage);
      tensors.push_back(
          {"item", DType::kU64, {}, {reinterpret_cast<const uint8_t*>(&item), sizeof item}});
      std::vector<uint64_t> shape = {size};
      if (samples > 0) shape = {samples, size / samples};
      tensors.push_back({"data", DType::kU8, std::move(shape), data});
      LS_RETURN_IF_ERROR(tgb.SetSlice(dp, cp, tensors, metadata));
    }
  }
  return tgb;
}

Status CheckSynthetic(const SliceView& slice, const SlicePart& at) {
  const TensorView* item = slice.Find("item");
  const TensorView* data = slice.Find("data");
  const auto producer = ReadStrings(slice, "producer");
  if (item == nullptr || item->data.size() != 8 || data == nullptr || !producer.ok() ||
      producer->size() != 1) {
    return DataLossError("the slice was not written by 'lakestream produce'");
  }
  uint64_t number = 0;
  std::memcpy(&number, item->data.data(), sizeof number);
  const size_t size = data->data.size();
  std::vector<uint8_t> expected(size * at.parts);
  Fill(SeedOf(producer->front(), number, at.dp, at.cp), expected);
  if (std::ranges::equal(ConstBytes(expected).subspan(size * at.part, size), data->data))
    return OkStatus();
  return DataLossError("the data of item " + std::to_string(number) + " of producer " +
                       producer->front() + " is not what was produced");
}

}  // namespace lakestream::cli

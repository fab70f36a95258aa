// What the stream must hold, worked out from the source files alone: no stream, no store.
//   demo_expected --data FOLDER --kind video|image|text --items N --seed S --dp 4 --cp 2 [--plan]
// Prints JSON lines:
//   {"step":n,"next":cursor,"rows":[[item ids of dp 0],...]}
//   {"id":i,"units":u,"identity":{...},"hashes":["XXH3-64 of the part of cp 0",...]}
// With --plan only the step lines. Videos are decoded from start to end here, not clip by clip, so
// that a wrong seek in the producer shows.

#include <cstdio>
#include <string>
#include <vector>

#include "multimodal/arguments.h"
#include "multimodal/packing.h"
#include "multimodal/video_source.h"

namespace multimodal {
namespace {

using lakestream::Result;
using lakestream::Status;

// Items of known length that need no decoding: enough to plan the steps of video and images.
class LengthSource final : public ItemSource {
 public:
  LengthSource(Kind kind, uint64_t seed, std::vector<uint32_t> frames)
      : kind_(kind), seed_(seed), frames_(std::move(frames)) {}
  Result<Item> Load(uint64_t k) override {
    Item item;
    item.id = ItemId(kind_, k);
    item.units = kind_ == Kind::kImage ? SliceBudget(kind_) / 3 : PlanClip(seed_, k, frames_).count;
    return item;
  }

 private:
  Kind kind_;
  uint64_t seed_;
  std::vector<uint32_t> frames_;
};

Result<std::unique_ptr<ItemSource>> Open(Kind kind, const Arguments& arguments, bool plan) {
  const std::string data = arguments.Text("data");
  const uint64_t seed = arguments.Number("seed");
  if (plan && kind != Kind::kText) {
    std::vector<uint32_t> frames;
    if (kind == Kind::kVideo) {
      for (const std::string& path : VideoPaths()) {
        LS_ASSIGN_OR_RETURN(auto file, VideoFile::Open(data + "/" + path));
        frames.push_back(file->frames());
      }
    }
    return std::unique_ptr<ItemSource>(
        std::make_unique<LengthSource>(kind, seed, std::move(frames)));
  }
  if (kind == Kind::kVideo) return OpenSequentialVideoSource(data, seed);
  return OpenSource(kind, data, seed);
}

void PrintItem(const Item& item, Kind kind, uint32_t cp) {
  std::printf("{\"id\":%llu,\"units\":%llu,\"identity\":%s,\"hashes\":[",
              static_cast<unsigned long long>(item.id), static_cast<unsigned long long>(item.units),
              item.identity.c_str());
  const lakestream::ConstBytes content(item.content);
  for (uint32_t part = 0; part < cp; ++part) {
    const uint64_t begin = CpStart(item.units, cp, part) * UnitBytes(kind);
    const uint64_t end = CpStart(item.units, cp, part + 1) * UnitBytes(kind);
    std::printf("%s\"%s\"", part == 0 ? "" : ",",
                Hex64(ContentHash(content.subspan(begin, end - begin))).c_str());
  }
  std::printf("]}\n");
}

void PrintStep(const PackedStep& step, uint64_t number) {
  std::printf("{\"step\":%llu,\"next\":%llu,\"rows\":[", static_cast<unsigned long long>(number),
              static_cast<unsigned long long>(step.next));
  for (size_t dp = 0; dp < step.rows.size(); ++dp) {
    std::printf("%s[", dp == 0 ? "" : ",");
    for (size_t i = 0; i < step.rows[dp].size(); ++i) {
      std::printf("%s%llu", i == 0 ? "" : ",",
                  static_cast<unsigned long long>(step.items[step.rows[dp][i]].id));
    }
    std::printf("]");
  }
  std::printf("]}\n");
}

Status Run(const Arguments& arguments) {
  const auto kind = KindFromName(arguments.Text("kind"));
  if (!kind) return lakestream::InvalidArgumentError("--kind must be video, image or text");
  const bool plan = arguments.Has("plan");
  LS_ASSIGN_OR_RETURN(auto source, Open(*kind, arguments, plan));
  const auto dp = static_cast<uint32_t>(arguments.Number("dp"));
  const auto cp = static_cast<uint32_t>(arguments.Number("cp"));
  Packer packer(source.get(), *kind, dp, 0, arguments.Number("items"));
  for (uint64_t number = 0; !packer.done(); ++number) {
    LS_ASSIGN_OR_RETURN(PackedStep step, packer.Next());
    PrintStep(step, number);
    if (plan) continue;
    for (const Item& item : step.items) PrintItem(item, *kind, cp);
  }
  return lakestream::OkStatus();
}

}  // namespace
}  // namespace multimodal

int main(int argc, char** argv) {
  return multimodal::RunProgram("demo_expected", argc, argv,
                                {"data", "kind", "items", "seed", "dp", "cp"}, {"plan"},
                                &multimodal::Run);
}

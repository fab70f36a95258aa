#include "multimodal/text_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "multimodal/prng.h"

namespace multimodal {

using lakestream::Result;
using lakestream::Status;

namespace {

class TextSource final : public ItemSource {
 public:
  TextSource(std::vector<Document> documents, std::unique_ptr<Tokenizer> tokenizer, uint64_t seed)
      : documents_(std::move(documents)), tokenizer_(std::move(tokenizer)), seed_(seed) {
    for (uint32_t i = 0; i < documents_.size(); ++i) {
      const auto cut = CutSegments(documents_[i].text, i);
      segments_.insert(segments_.end(), cut.begin(), cut.end());
    }
  }

  Result<Item> Load(uint64_t k) override {
    const auto count = static_cast<uint32_t>(segments_.size());
    const uint64_t epoch = k / count;
    if (order_.empty() || epoch != epoch_) {
      order_ = EpochOrder(seed_, static_cast<uint64_t>(Kind::kText), epoch, count);
      epoch_ = epoch;
    }
    const Segment& segment = segments_[order_[k % count]];
    const Document& document = documents_[segment.document];
    LS_ASSIGN_OR_RETURN(
        std::vector<int32_t> tokens,
        tokenizer_->Encode(
            std::string_view(document.text).substr(segment.begin, segment.end - segment.begin)));
    Item item;
    item.id = ItemId(Kind::kText, k);
    item.identity = "{\"epoch\":" + std::to_string(epoch) + ",\"source\":" + Quoted(document.name) +
                    ",\"begin\":" + std::to_string(segment.begin) +
                    ",\"end\":" + std::to_string(segment.end) + "}";
    item.units = tokens.size();
    item.content.resize(tokens.size() * 4);
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto token = static_cast<uint32_t>(tokens[i]);
      for (int byte = 0; byte < 4; ++byte) {
        item.content[i * 4 + static_cast<size_t>(byte)] = static_cast<uint8_t>(token >> (8 * byte));
      }
    }
    return item;
  }

 private:
  std::vector<Document> documents_;
  std::vector<Segment> segments_;
  std::unique_ptr<Tokenizer> tokenizer_;
  uint64_t seed_;
  std::vector<uint32_t> order_;
  uint64_t epoch_ = 0;
};

}  // namespace

Result<std::vector<Document>> ReadDocuments(const std::string& data) {
  const std::string text = (std::filesystem::path(data) / "text").string();
  LS_ASSIGN_OR_RETURN(std::vector<Document> all,
                      ReadRDatabase(text + "/janeaustenr", "janeaustenr"));
  struct Module {
    const char* base;
    const char* prefix;
  };
  for (const Module& module :
       {Module{"/mhcc/ot.bz", "mhcc/ot"}, Module{"/mhcc/nt.bz", "mhcc/nt"},
        Module{"/tdavid/ot.cz", "tdavid/ot"}, Module{"/engWEB2015eb/ot.bz", "engWEB2015eb/ot"},
        Module{"/engWEB2015eb/nt.bz", "engWEB2015eb/nt"}}) {
    LS_ASSIGN_OR_RETURN(std::vector<Document> part,
                        ReadSwordModule(text + module.base, module.prefix));
    std::move(part.begin(), part.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<Segment> CutSegments(std::string_view text, uint32_t document) {
  SplitMix64 random =
      KeyedStream(0, static_cast<uint64_t>(Kind::kText), Purpose::kSegments, document);
  std::vector<Segment> segments;
  for (uint64_t begin = 0; begin < text.size();) {
    const uint64_t base = uint64_t{256} << random.Below(6);
    const uint64_t length = base + random.Below(base);
    const size_t stop = text.find_first_of(" \n", begin + length);
    const uint64_t end = stop == std::string_view::npos ? text.size() : stop + 1;
    segments.push_back({document, begin, end});
    begin = end;
  }
  return segments;
}

Result<std::unique_ptr<ItemSource>> OpenTextSource(const std::string& data, uint64_t seed) {
  LS_ASSIGN_OR_RETURN(std::vector<Document> documents, ReadDocuments(data));
  LS_ASSIGN_OR_RETURN(auto tokenizer, Tokenizer::Load(data + "/prepared/tokenizer.model"));
  return std::unique_ptr<ItemSource>(
      std::make_unique<TextSource>(std::move(documents), std::move(tokenizer), seed));
}

}  // namespace multimodal

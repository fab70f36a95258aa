// Text: segments of uneven length of real books, tokenised with SentencePiece.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "multimodal/item.h"
#include "multimodal/text_formats.h"

namespace multimodal {

// All documents of the data folder, in the order that segment numbers use.
lakestream::Result<std::vector<Document>> ReadDocuments(const std::string& data);

// A piece of a document. Segments tile it: each byte is in exactly one.
struct Segment {
  uint32_t document = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};
// Cuts a document: lengths are drawn (256 << d) + [0, 256 << d) for d in [0, 6), then extended to
// just behind the next space or line end.
std::vector<Segment> CutSegments(std::string_view text, uint32_t document);

// A SentencePiece model. No text is changed on the way: Decode(Encode(x)) == x.
class Tokenizer {
 public:
  static lakestream::Result<std::unique_ptr<Tokenizer>> Load(const std::string& path);
  virtual ~Tokenizer() = default;
  virtual lakestream::Result<std::vector<int32_t>> Encode(std::string_view text) = 0;
  virtual lakestream::Result<std::string> Decode(const std::vector<int32_t>& tokens) = 0;
  virtual int32_t vocabulary() const = 0;
};

// Trains a model on a part of the documents and writes it to `path` (about ten seconds).
lakestream::Status TrainTokenizer(const std::vector<Document>& documents, const std::string& path);

// Over <data>/text and <data>/prepared/tokenizer.model.
lakestream::Result<std::unique_ptr<ItemSource>> OpenTextSource(const std::string& data,
                                                               uint64_t seed);

}  // namespace multimodal

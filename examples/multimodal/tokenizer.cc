// The only file that includes SentencePiece: its header does not mix with every other one.
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <fstream>
#include <utility>

#include "multimodal/text_source.h"

namespace multimodal {

using lakestream::Result;
using lakestream::Status;

namespace {

// Lines of at most this many bytes go into training, from each n-th line only: enough for a good
// vocabulary, and ten seconds instead of a minute.
constexpr size_t kTrainingLineBytesMax = 4000;
constexpr size_t kTrainingLineStride = 4;

class SentencePieceTokenizer final : public Tokenizer {
 public:
  Status Open(const std::string& path) {
    const auto status = processor_.Load(path);
    if (status.ok()) return lakestream::OkStatus();
    return lakestream::NotFoundError("cannot load the tokenizer '" + path +
                                     "': " + status.ToString() + "; run demo_prepare");
  }

  Result<std::vector<int32_t>> Encode(std::string_view text) override {
    std::vector<int> tokens;
    const auto status = processor_.Encode(absl::string_view(text.data(), text.size()), &tokens);
    if (!status.ok()) return lakestream::DataLossError("cannot tokenise: " + status.ToString());
    return std::vector<int32_t>(tokens.begin(), tokens.end());
  }

  Result<std::string> Decode(const std::vector<int32_t>& tokens) override {
    std::string text;
    const auto status = processor_.Decode(std::vector<int>(tokens.begin(), tokens.end()), &text);
    if (!status.ok()) return lakestream::DataLossError("cannot decode: " + status.ToString());
    return text;
  }

  int32_t vocabulary() const override { return processor_.GetPieceSize(); }

 private:
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::Load(const std::string& path) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>();
  LS_RETURN_IF_ERROR(tokenizer->Open(path));
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

Status TrainTokenizer(const std::vector<Document>& documents, const std::string& path) {
  const std::string lines_path = path + ".lines";
  {
    std::ofstream lines(lines_path, std::ios::binary);
    size_t number = 0;
    for (const Document& document : documents) {
      for (size_t at = 0; at < document.text.size();) {
        const size_t end = std::min(document.text.find('\n', at), document.text.size());
        if (end > at && end - at < kTrainingLineBytesMax && number++ % kTrainingLineStride == 0) {
          lines << std::string_view(document.text).substr(at, end - at) << '\n';
        }
        at = end + 1;
      }
    }
    if (!lines.flush()) {
      return lakestream::ResourceExhaustedError("cannot write '" + lines_path +
                                                "'; free space in the data folder");
    }
  }
  // "identity" and the two whitespace settings keep every byte; bytes outside of the vocabulary
  // become <0xNN> pieces.
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      "--input=" + lines_path + " --model_prefix=" + path + ".part" +
      " --vocab_size=8000 --model_type=unigram --byte_fallback=true --character_coverage=0.9999"
      " --normalization_rule_name=identity --remove_extra_whitespaces=false"
      " --add_dummy_prefix=false --num_threads=2 --minloglevel=2");
  std::remove(lines_path.c_str());
  if (!status.ok()) {
    return lakestream::InternalError("training the tokenizer failed: " + status.ToString());
  }
  std::remove((path + ".part.vocab").c_str());
  if (std::rename((path + ".part.model").c_str(), path.c_str()) != 0) {
    return lakestream::UnavailableError("cannot rename the trained model to '" + path + "'");
  }
  return lakestream::OkStatus();
}

}  // namespace multimodal

// Set-up of the demo's data, once: cuts the photographs into tiles and trains the tokenizer.
//   demo_prepare DATA_FOLDER
// Does nothing where the results are there already.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "multimodal/image_source.h"
#include "multimodal/text_source.h"

namespace multimodal {
namespace {

using lakestream::Status;
namespace fs = std::filesystem;

Status PrepareTiles(const std::string& data) {
  const fs::path folder = fs::path(data) / "prepared" / "tiles";
  std::error_code error;
  if (fs::exists(folder, error)) return lakestream::OkStatus();
  std::vector<fs::path> photos;
  for (const auto& entry : fs::directory_iterator(fs::path(data) / "photos", error)) {
    if (entry.path().extension() == ".jpg") photos.push_back(entry.path());
  }
  if (photos.empty()) {
    return lakestream::NotFoundError("no photographs in '" + data +
                                     "/photos'; run examples/multimodal/fetch_data.sh");
  }
  std::sort(photos.begin(), photos.end());
  const fs::path part = folder.string() + ".part";
  fs::remove_all(part, error);
  fs::create_directories(part, error);
  size_t count = 0;
  for (const fs::path& photo : photos) {
    LS_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, ReadFile(photo.string()));
    auto tiles = CutTiles(bytes);
    if (!tiles.ok()) return tiles.status().WithContext(photo.string());
    for (size_t i = 0; i < tiles->size(); ++i, ++count) {
      char number[32];
      std::snprintf(number, sizeof number, "-%03zu.jpg", i);
      const std::vector<uint8_t>& tile = (*tiles)[i];
      LS_RETURN_IF_ERROR(WriteFile((part / (photo.stem().string() + number)).string(),
                                   lakestream::AsText(tile), false));
    }
  }
  fs::rename(part, folder, error);
  if (error) return lakestream::UnavailableError("cannot rename '" + part.string() + "'");
  std::fprintf(stderr, "demo_prepare: %zu tiles of %zu photographs\n", count, photos.size());
  return lakestream::OkStatus();
}

Status PrepareTokenizer(const std::string& data) {
  const std::string model = data + "/prepared/tokenizer.model";
  std::error_code error;
  if (fs::exists(model, error)) return lakestream::OkStatus();
  fs::create_directories(data + "/prepared", error);
  LS_ASSIGN_OR_RETURN(std::vector<Document> documents, ReadDocuments(data));
  size_t bytes = 0;
  for (const Document& document : documents) bytes += document.text.size();
  std::fprintf(stderr, "demo_prepare: training a tokenizer on %zu documents, %.1f MB of text\n",
               documents.size(), static_cast<double>(bytes) / 1e6);
  return TrainTokenizer(documents, model);
}

int Main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: demo_prepare DATA_FOLDER\n");
    return 2;
  }
  for (Status (*prepare)(const std::string&) : {&PrepareTiles, &PrepareTokenizer}) {
    if (Status status = prepare(argv[1]); !status.ok()) {
      std::fprintf(stderr, "demo_prepare: %s\n", status.ToString().c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace multimodal

int main(int argc, char** argv) { return multimodal::Main(argc, argv); }

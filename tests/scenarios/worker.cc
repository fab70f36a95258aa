// A producer process for kill tests: worker <uri> <name> <items> [<names of all producers>...]
// Writes the items that its state says are still to come, one TGB each, and finishes. Exit code 0
// when done, also if the stream was sealed before (a run that died after its last commit).
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "lakestream/object_store.h"
#include "lakestream/producer.h"

using namespace lakestream;

namespace {

int Fail(const Status& status) {
  std::fprintf(stderr, "worker: %s\n", status.ToString().c_str());
  return 1;
}

// The tensor is named after the producer.
Tgb MakeTgb(const Mesh& mesh, const std::string& producer, uint64_t item) {
  Tgb tgb(mesh);
  const std::vector<uint64_t> values(2000, item);
  const TensorView tensor{producer,
                          DType::kU64,
                          {values.size()},
                          {reinterpret_cast<const uint8_t*>(values.data()), values.size() * 8}};
  for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
    for (uint32_t cp = 0; cp < mesh.cp; ++cp) (void)tgb.SetSlice(dp, cp, std::span(&tensor, 1));
  }
  return tgb;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  auto runtime = RealRuntime();
  const auto soon = [&] { return After(*runtime, std::chrono::seconds(60)); };
  auto store = OpenStore(argv[1], {}, runtime);
  if (!store.ok()) return Fail(store.status());
  StreamSpec spec{.mesh = {2, 2}, .snapshot_interval = 8, .index_page_steps = 8};
  for (int i = 4; i < argc; ++i) spec.producers.push_back(argv[i]);
  auto stream = Stream::OpenOrCreate(*store, runtime, spec, soon());
  if (!stream.ok()) return Fail(stream.status());
  ProducerOptions options;
  options.name = argv[2];
  options.commit_interval = std::chrono::milliseconds(3);
  options.object_bytes_target = 200000;
  auto producer = Producer::Open(*stream, options, soon());
  if (!producer.ok())
    return producer.status().reason() == Reason::kSealed ? 0 : Fail(producer.status());
  const std::string& state = (*producer)->recovered_state();
  const uint64_t items = std::strtoull(argv[3], nullptr, 10);
  for (uint64_t item = state.empty() ? 0 : std::strtoull(state.c_str(), nullptr, 10); item < items;
       ++item) {
    const Status written = (*producer)->Write(MakeTgb(spec.mesh, options.name, item),
                                              std::to_string(item + 1), soon());
    if (!written.ok()) return Fail(written);
  }
  const Status finished = (*producer)->Finish(soon());
  return finished.ok() ? 0 : Fail(finished);
}

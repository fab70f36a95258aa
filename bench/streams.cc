#include "bench/streams.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/report.h"
#include "ledger/step_index.h"

namespace lakestream::bench {
namespace {

std::vector<uint8_t> RandomBytes(uint64_t seed, size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i + 8 <= size; i += 8) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX
    std::memcpy(bytes.data() + i, &seed, 8);
  }
  return bytes;
}

}  // namespace

void Require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "benchmark: %s\n", status.ToString().c_str());
  std::exit(1);
}

std::shared_ptr<Stream> MakeStream(const StreamShape& shape, std::shared_ptr<ObjectStore> store,
                                   std::shared_ptr<Runtime> runtime) {
  const Deadline never = Deadline::Never();
  auto opened = Stream::Open(store, runtime, never);
  if (opened.ok()) return *opened;
  auto stream =
      Require(Stream::Create(store, runtime, {.mesh = shape.mesh, .producers = {"bench"}}, never));
  ProducerOptions options;
  options.name = "bench";
  options.object_bytes_target = shape.object_bytes_target;
  auto producer = Require(Producer::Open(stream, options, never));
  for (uint64_t step = 0; step < shape.steps; ++step) {
    const std::vector<uint8_t> data = RandomBytes(step, shape.slice_bytes);
    const TensorView tensor{"data", DType::kU8, {data.size()}, data};
    const Buffer payload = Require(EncodeSlice(std::span(&tensor, 1)));
    Tgb tgb(shape.mesh);
    for (uint32_t dp = 0; dp < shape.mesh.dp; ++dp) {
      for (uint32_t cp = 0; cp < shape.mesh.cp; ++cp) Require(tgb.SetSlice(dp, cp, payload));
    }
    Require(producer->Write(std::move(tgb), "", never));
  }
  Require(producer->Finish(never));
  return stream;
}

std::vector<FrameRange> FramesOfRank0(Stream& stream) {
  Follower follower({stream.store(), stream.runtime(), stream.info()});
  Require(follower.Start(Deadline::Never()));
  StepIndex index(follower);
  std::vector<FrameRange> frames;
  for (Step step = 0; step < follower.state().next_step; ++step) {
    const StepPlace place = Require(index.Locate(step, Deadline::Never()));
    frames.push_back(
        {DataKey(kMainBranch, place.entry->session, place.entry->object),
         place.entry->layout.FrameRange(stream.info().spec.mesh, place.tgb_ordinal, 0, 0)});
  }
  return frames;
}

ReadOutcome ReadAll(std::shared_ptr<Stream> stream, const ConsumerOptions& options) {
  const double began = NowSeconds();
  auto consumer = Require(Consumer::Open(std::move(stream), options, Deadline::Never()));
  ReadOutcome outcome;
  while (auto next = Require(consumer->Next(Deadline::Never()))) {
    outcome.payload_bytes += next->slice().payload.size();
  }
  outcome.seconds = NowSeconds() - began;
  outcome.stats = consumer->stats();
  return outcome;
}

}  // namespace lakestream::bench

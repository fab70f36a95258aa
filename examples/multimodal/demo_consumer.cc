// One rank: reads its slice of every step in order and writes down what it saw.
//   demo_consumer --uri URI --dp D --cp C --start-step S --out LOG --save-steps N
// The training is a stand-in (a fixed small computation over each slice); the reading, checking and
// resuming are real. LOG gets one JSON line a step, with hashes recomputed here from the bytes that
// were read; the position is made durable each N steps. Killed and started again with the same
// arguments, it cuts its log to the durable position and goes on there. Progress goes to stderr.

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <string>

#include "lakestream/consumer.h"
#include "multimodal/arguments.h"
#include "multimodal/rank_log.h"
#include "multimodal/slices.h"

namespace multimodal {
namespace {

using lakestream::CancelToken;
using lakestream::ConsumedStep;
using lakestream::Consumer;
using lakestream::ConsumerStats;
using lakestream::Runtime;
using lakestream::Status;

constexpr auto kPatience = std::chrono::seconds(120);
constexpr auto kProgressInterval = std::chrono::milliseconds(200);

CancelToken g_stop;
void OnSignal(int) { g_stop.Cancel(); }

// EMULATED: stands for the forward and backward pass of a model; about a third of a millisecond.
float EmulatedTrainingStep(lakestream::ConstBytes payload) {
  float loss = 0;
  const size_t stride = std::max<size_t>(payload.size() / 65536, 1);
  for (int pass = 0; pass < 4; ++pass) {
    for (size_t i = 0; i < payload.size(); i += stride) {
      loss = loss * 0.999F + static_cast<float>(payload[i]) * 0.001F;
    }
  }
  return loss;
}

struct SeenStep {
  std::string line;
  uint64_t wrong_hashes = 0;
};

lakestream::Result<SeenStep> Describe(const ConsumedStep& consumed) {
  LS_ASSIGN_OR_RETURN(SliceParts slice, ReadParts(consumed.slice()));
  SeenStep seen;
  seen.line = "{\"step\":" + std::to_string(consumed.step) + ",\"payload\":\"" +
              Hex64(ContentHash(consumed.slice().payload.bytes())) +
              "\",\"bytes\":" + std::to_string(consumed.slice().payload.size()) + ",\"kind\":\"" +
              std::string(KindName(slice.kind)) + "\",\"items\":[";
  for (size_t i = 0; i < slice.parts.size(); ++i) {
    const Part& part = slice.parts[i];
    const uint64_t hash = ContentHash(part.bytes);
    if (hash != part.hash) ++seen.wrong_hashes;
    seen.line += (i == 0 ? "[" : ",[") + std::to_string(part.id) + "," +
                 std::to_string(part.start) + "," + std::to_string(part.length) + ",\"" +
                 Hex64(hash) + "\"]";
  }
  seen.line += "]}";
  return seen;
}

class Rank {
 public:
  Rank(const Arguments& arguments, Runtime* runtime)
      : dp_(static_cast<uint32_t>(arguments.Number("dp"))),
        cp_(static_cast<uint32_t>(arguments.Number("cp"))),
        save_steps_(std::max<uint64_t>(arguments.Number("save-steps"), 1)),
        runtime_(runtime) {}

  Status Run(const Arguments& arguments, std::shared_ptr<lakestream::Stream> stream) {
    LS_RETURN_IF_ERROR(log_.Open(arguments.Text("out"), arguments.Number("start-step")));
    before_ = log_.position();
    lakestream::ConsumerOptions options;
    options.dp_index = dp_;
    options.cp_index = cp_;
    options.start_step = before_.step;
    options.prefetch_bytes = 64u << 20;
    options.poll_max = std::chrono::milliseconds(250);
    const auto deadline = [&] { return lakestream::After(*runtime_, kPatience, &g_stop); };
    LS_ASSIGN_OR_RETURN(consumer_, Consumer::Open(std::move(stream), options, deadline()));
    Report("open");
    while (true) {
      LS_ASSIGN_OR_RETURN(std::optional<ConsumedStep> slice, consumer_->Next(deadline()));
      if (!slice) break;
      LS_RETURN_IF_ERROR(Consume(*slice));
    }
    LS_RETURN_IF_ERROR(Save());
    Report("end");
    return lakestream::OkStatus();
  }

 private:
  Status Consume(const ConsumedStep& slice) {
    auto seen = Describe(slice);
    if (!seen.ok()) {
      return seen.status().WithContext("step " + std::to_string(slice.step));
    }
    LS_RETURN_IF_ERROR(log_.Append(seen->line));
    wrong_hashes_ += seen->wrong_hashes;
    loss_ = EmulatedTrainingStep(slice.slice().payload.bytes());
    if (consumer_->position() % save_steps_ == 0) LS_RETURN_IF_ERROR(Save());
    if (runtime_->Now() - reported_ >= kProgressInterval) Report("progress");
    return lakestream::OkStatus();
  }

  Status Save() {
    const ConsumerStats stats = consumer_->stats();
    RankPosition position = before_;
    position.step = consumer_->position();
    position.slice_bytes += stats.slice_bytes;
    position.bytes_read += stats.bytes_read;
    position.requests += stats.requests;
    position.rereads += stats.rereads;
    return log_.Save(position);
  }

  void Report(const char* event) {
    reported_ = runtime_->Now();
    const ConsumerStats stats = consumer_->stats();
    std::fprintf(stderr,
                 "{\"event\":\"%s\",\"dp\":%u,\"cp\":%u,\"step\":%" PRIu64 ",\"lives\":%" PRIu64
                 ",\"slice_bytes\":%" PRIu64 ",\"bytes_read\":%" PRIu64
                 ",\"wait_ms\":%lld"
                 ",\"wrong_hashes\":%" PRIu64 ",\"emulated_loss\":%.4f}\n",
                 event, dp_, cp_, consumer_->position(), before_.lives,
                 before_.slice_bytes + stats.slice_bytes, before_.bytes_read + stats.bytes_read,
                 static_cast<long long>(stats.wait.count() / 1000000), wrong_hashes_,
                 static_cast<double>(loss_));
  }

  uint32_t dp_;
  uint32_t cp_;
  uint64_t save_steps_;
  Runtime* runtime_;
  RankLog log_;
  RankPosition before_;  // as this process found it
  std::unique_ptr<Consumer> consumer_;
  uint64_t wrong_hashes_ = 0;
  float loss_ = 0;
  lakestream::TimePoint reported_{};
};

Status Run(const Arguments& arguments) {
  std::signal(SIGTERM, OnSignal);
  std::signal(SIGINT, OnSignal);
  auto runtime = lakestream::RealRuntime([](lakestream::LogLevel level, std::string_view message) {
    if (level < lakestream::LogLevel::kWarning) return;
    std::fprintf(stderr, "demo_consumer: %.*s\n", static_cast<int>(message.size()), message.data());
  });
  LS_ASSIGN_OR_RETURN(auto store, lakestream::OpenStore(arguments.Text("uri"), {}, runtime));
  LS_ASSIGN_OR_RETURN(
      auto stream,
      lakestream::Stream::Open(store, runtime, lakestream::After(*runtime, kPatience, &g_stop)));
  return Rank(arguments, runtime.get()).Run(arguments, std::move(stream));
}

}  // namespace
}  // namespace multimodal

int main(int argc, char** argv) {
  return multimodal::RunProgram("demo_consumer", argc, argv,
                                {"uri", "dp", "cp", "start-step", "out", "save-steps"}, {},
                                &multimodal::Run);
}

// One preprocessing worker: decodes, packs, publishes; restarted, it goes on at its cursor.
//   demo_producer --uri URI --name NAME --kind video|image|text --data FOLDER --items N --seed S
//                 --pace-ms P
//   demo_producer ... --create       creates the demo's stream and ends
// Items [0, N) are published, each once over all restarts. With a pace, TGB n is offered no sooner
// than n * P ms after the start, as if the raw data came in live. Progress goes to stderr, one JSON
// object a line.

#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>

#include "lakestream/producer.h"
#include "multimodal/arguments.h"
#include "multimodal/slices.h"

namespace multimodal {
namespace {

using lakestream::CancelToken;
using lakestream::Deadline;
using lakestream::Producer;
using lakestream::ProducerStats;
using lakestream::Result;
using lakestream::Runtime;
using lakestream::Status;
using lakestream::Stream;

constexpr lakestream::Mesh kMesh{4, 2};
constexpr auto kPatience = std::chrono::seconds(120);
constexpr auto kProgressInterval = std::chrono::milliseconds(150);

CancelToken g_stop;
void OnSignal(int) { g_stop.Cancel(); }

// The state that travels with each TGB: what to do next.
struct Cursor {
  uint64_t next = 0;  // item
  uint64_t tgbs = 0;

  std::string Encode() const {
    return "{\"next\":" + std::to_string(next) + ",\"tgbs\":" + std::to_string(tgbs) + "}";
  }
  static Result<Cursor> Decode(const std::string& text) {
    Cursor cursor;
    if (text.empty()) return cursor;
    const int found = std::sscanf(text.c_str(), "{\"next\":%" SCNu64 ",\"tgbs\":%" SCNu64 "}",
                                  &cursor.next, &cursor.tgbs);
    if (found != 2 || cursor.Encode() != text) {
      return lakestream::DataLossError("the committed state '" + text + "' is not a cursor");
    }
    return cursor;
  }
};

class Reporter {
 public:
  Reporter(std::string name, uint64_t session, Runtime* runtime)
      : name_(std::move(name)), session_(session), runtime_(runtime) {}

  void Report(const char* event, const Cursor& cursor, const ProducerStats& stats) {
    last_ = runtime_->Now();
    std::fprintf(stderr,
                 "{\"event\":\"%s\",\"producer\":\"%s\",\"session\":%" PRIu64 ",\"next\":%" PRIu64
                 ",\"tgbs\":%" PRIu64 ",\"committed\":%" PRIu64 ",\"bytes\":%" PRIu64
                 ",\"commits\":%" PRIu64 ",\"attempts\":%" PRIu64 ",\"conflicts\":%" PRIu64
                 ",\"undecided\":%" PRIu64 ",\"next_step\":%" PRIu64 "}\n",
                 event, name_.c_str(), session_, cursor.next, cursor.tgbs, stats.tgbs_committed,
                 stats.payload_bytes, stats.commits, stats.commit_attempts, stats.conflicts,
                 stats.undecided, stats.next_step);
  }
  bool Due() const { return runtime_->Now() - last_ >= kProgressInterval; }

 private:
  std::string name_;
  uint64_t session_;
  Runtime* runtime_;
  lakestream::TimePoint last_{};
};

// Waits for the pace, reporting on the way: commits go on behind our back.
Status AwaitPace(Runtime& runtime, lakestream::TimePoint due, Reporter& reporter,
                 const Cursor& cursor, Producer& producer) {
  while (runtime.Now() < due) {
    const auto wait = std::min<lakestream::Duration>(due - runtime.Now(), kProgressInterval);
    LS_RETURN_IF_ERROR(SleepFor(runtime, wait, {lakestream::TimePoint::max(), &g_stop}));
    if (reporter.Due()) reporter.Report("progress", cursor, producer.stats());
  }
  return lakestream::OkStatus();
}

Status Produce(const Arguments& arguments, Kind kind, const std::shared_ptr<Stream>& stream) {
  Runtime& runtime = stream->runtime();
  const auto deadline = [&] { return lakestream::After(runtime, kPatience, &g_stop); };
  LS_ASSIGN_OR_RETURN(auto source,
                      OpenSource(kind, arguments.Text("data"), arguments.Number("seed")));
  lakestream::ProducerOptions options;
  options.name = arguments.Text("name");
  options.pending_bytes_max = 64u << 20;
  LS_ASSIGN_OR_RETURN(auto producer, Producer::Open(stream, options, deadline()));
  LS_ASSIGN_OR_RETURN(Cursor cursor, Cursor::Decode(producer->recovered_state()));
  if (cursor.tgbs != producer->recovered_tgbs()) {
    return lakestream::DataLossError("the committed cursor counts " + std::to_string(cursor.tgbs) +
                                     " TGBs, the manifest " +
                                     std::to_string(producer->recovered_tgbs()));
  }
  Reporter reporter(options.name, producer->session(), &runtime);
  reporter.Report("open", cursor, producer->stats());

  Packer packer(source.get(), kind, kMesh.dp, cursor.next, arguments.Number("items"));
  const auto pace = std::chrono::milliseconds(arguments.Number("pace-ms"));
  lakestream::TimePoint due = runtime.Now();
  while (!packer.done()) {
    LS_ASSIGN_OR_RETURN(PackedStep step, packer.Next());
    LS_ASSIGN_OR_RETURN(lakestream::Tgb tgb, BuildTgb(step, kind, kMesh));
    LS_RETURN_IF_ERROR(AwaitPace(runtime, due, reporter, cursor, *producer));
    due += pace;
    cursor = {step.next, cursor.tgbs + 1};
    LS_RETURN_IF_ERROR(producer->Write(std::move(tgb), cursor.Encode(), deadline()));
    if (reporter.Due()) reporter.Report("progress", cursor, producer->stats());
  }
  LS_RETURN_IF_ERROR(producer->Finish(deadline()));
  reporter.Report("finished", cursor, producer->stats());
  return lakestream::OkStatus();
}

Status Run(const Arguments& arguments) {
  std::signal(SIGTERM, OnSignal);
  std::signal(SIGINT, OnSignal);
  const auto kind = KindFromName(arguments.Text("kind"));
  if (!kind) return lakestream::InvalidArgumentError("--kind must be video, image or text");
  auto runtime = lakestream::RealRuntime([](lakestream::LogLevel level, std::string_view message) {
    if (level < lakestream::LogLevel::kWarning) return;
    std::fprintf(stderr, "demo_producer: %.*s\n", static_cast<int>(message.size()), message.data());
  });
  LS_ASSIGN_OR_RETURN(auto store, lakestream::OpenStore(arguments.Text("uri"), {}, runtime));
  const Deadline deadline = lakestream::After(*runtime, kPatience, &g_stop);
  if (arguments.Has("create")) {
    lakestream::StreamSpec spec;
    spec.mesh = kMesh;
    spec.producers = {"video", "image", "text"};
    return Stream::Create(store, runtime, spec, deadline).status();
  }
  LS_ASSIGN_OR_RETURN(auto stream, Stream::Open(store, runtime, deadline));
  if (stream->info().spec.mesh != kMesh) {
    return lakestream::FailedPreconditionError("the stream's mesh is not the demo's 4 x 2",
                                               lakestream::Reason::kMeshMismatch);
  }
  return Produce(arguments, *kind, stream);
}

}  // namespace
}  // namespace multimodal

int main(int argc, char** argv) {
  return multimodal::RunProgram("demo_producer", argc, argv,
                                {"uri", "name", "kind", "data", "items", "seed", "pace-ms"},
                                {"create"}, &multimodal::Run);
}

#include "base/text.h"
#include "lakestream/admin.h"
#include "lakestream/consumer.h"
#include "lakestream/producer.h"
#include "manifest/keys.h"
#include "sim/actors/actors.h"

namespace lakestream::sim {
namespace {

// A newcomer that knows nothing reads everything.
void ReadAll(World& world) {
  Process* process = world.NewProcess("auditor");
  Step saved = 0;
  const uint32_t rank = static_cast<uint32_t>(world.random.Below(world.options.mesh.slice_count()));
  if (RunConsumer(world, process, rank, 0, saved) != ActorEnd::kDone) {
    world.Report("no_coordinator", "a new reader can't read the finished stream");
  }
}

// A sealed stream takes no more sessions.
void OpenAll(World& world) {
  for (uint32_t p = 0; p < world.options.producers; ++p) {
    const auto runtime = world.RuntimeOf(world.NewProcess("late producer"));
    const Deadline deadline = After(*runtime, Duration(10 * kMinute));
    auto stream = Stream::Open(world.StoreOf(runtime), runtime, deadline);
    if (!stream.ok()) return world.Report("no_coordinator", stream.status().ToString());
    ProducerOptions options;
    options.name = ProducerName(p);
    const auto producer = Producer::Open(*stream, options, deadline);
    if (producer.ok() || producer.status().reason() != Reason::kSealed) {
      world.Report("no_zombie", Str("a session was opened on a sealed stream: ",
                                    producer.status().ToString()));
    }
  }
}

#if LS_SIM_ADMIN
// The product's own check of the stream must agree.
void VerifyAll(World& world) {
  const auto runtime = world.RuntimeOf(world.NewProcess("verifier"));
  const Deadline deadline = After(*runtime, Duration(30 * kMinute));
  auto stream = Stream::Open(world.StoreOf(runtime), runtime, deadline);
  if (!stream.ok()) return world.Report("no_coordinator", stream.status().ToString());
  const Result<VerifyReport> report = Verify(**stream, VerifyOptions(), deadline);
  if (!report.ok()) return world.Report("verify", report.status().ToString());
  for (const Finding& finding : report->errors) {
    world.Report("verify", Str(finding.kind, " ", finding.object, ": ", finding.detail));
  }
}

#endif

}  // namespace

void Audit(World& world) {
  if (world.random.Chance(0.3)) world.storage->Remove(HeadKey(kMainBranch));
  ReadAll(world);
  OpenAll(world);
#if LS_SIM_ADMIN
  if (world.random.Chance(0.3)) VerifyAll(world);
#endif
}

}  // namespace lakestream::sim

#include "base/text.h"
#include "lakestream/admin.h"
#include "lakestream/consumer.h"
#include "lakestream/lifecycle.h"
#include "lakestream/producer.h"
#include "manifest/keys.h"
#include "sim/actors/actors.h"

namespace lakestream::sim {
namespace {

// The store has no faults any more, but may still be slower than a client with short time-outs
// waits.
template <typename Call>
auto Patiently(Runtime& runtime, const Call& call) {
  auto result = call();
  for (int tries = 1; !result.ok() && tries < 100; ++tries) {
    const Code code = result.status().code();
    if (code != Code::kUnavailable && code != Code::kUnknownOutcome &&
        code != Code::kDeadlineExceeded)
      break;
    runtime.SleepUntil(runtime.Now() + Duration(kSecond));
    result = call();
  }
  return result;
}

// A newcomer that knows nothing reads everything.
void ReadAll(World& world) {
  Process* process = world.NewProcess("auditor");
  Step saved = 0;
  const uint32_t rank = static_cast<uint32_t>(world.random.Below(world.options.mesh.slice_count()));
  Timeline& line = world.main();
  const ReaderPlan plan{rank, line.log.trim_step(), std::nullopt};
  if (RunConsumer(world, line, process, plan, saved) != ActorEnd::kDone) {
    world.Report("no_coordinator", "a new reader can't read the finished stream");
  }
}

// A sealed stream takes no more sessions.
void OpenAll(World& world) {
  for (uint32_t p = 0; p < world.options.producers; ++p) {
    const auto runtime = world.RuntimeOf(world.NewProcess("late producer"));
    const Deadline deadline = After(*runtime, Duration(10 * kMinute));
    const auto stream = Patiently(
        *runtime, [&] { return Stream::Open(world.StoreOf(runtime), runtime, deadline); });
    if (!stream.ok()) return world.Report("no_coordinator", stream.status().ToString());
    ProducerOptions options;
    options.name = ProducerName(p);
    const auto producer =
        Patiently(*runtime, [&] { return Producer::Open(*stream, options, deadline); });
    if (producer.ok() || producer.status().reason() != Reason::kSealed) {
      world.Report("no_zombie",
                   Str("a session was opened on a sealed stream: ", producer.status().ToString()));
    }
  }
}

// The product's own check of the stream must agree.
void VerifyAll(World& world) {
  const auto runtime = world.RuntimeOf(world.NewProcess("verifier"));
  const Deadline deadline = After(*runtime, Duration(30 * kMinute));
  const auto stream =
      Patiently(*runtime, [&] { return Stream::Open(world.StoreOf(runtime), runtime, deadline); });
  if (!stream.ok()) return world.Report("no_coordinator", stream.status().ToString());
  // Reads every object through one client: it needs time-outs that a healthy store keeps.
  const auto report =
      Patiently(*runtime, [&] { return Verify(**stream, VerifyOptions(), deadline); });
  if (!report.ok()) return world.Report("verify", report.status().ToString());
  for (const Finding& finding : report->errors) {
    world.Report("verify", Str(finding.kind, " ", finding.object, ": ", finding.detail));
  }
}

// What is given up goes within two graces and two passes (docs/protocol.md); a closed branch costs
// one more, since its parent learns of it only when it is gone.
void ReclaimAll(World& world) {
  const auto runtime = world.RuntimeOf(world.NewProcess("last reclaimer"));
  const Deadline deadline = After(*runtime, Duration(50 * kMinute));
  runtime->SleepUntil(runtime->Now() + Duration(world.options.profile.list_lag));
  ReclaimOptions options;
  options.fence_after = options.abandon_after = Duration(kSecond);
  for (int pass = 0; pass < 5; ++pass) {
    const auto report = Patiently(*runtime, [&]() -> Result<ReclaimReport> {
      LS_ASSIGN_OR_RETURN(auto stream, Stream::Open(world.StoreOf(runtime), runtime, deadline));
      return Reclaim(*stream, options, deadline);
    });
    if (!report.ok()) return world.Report("no_coordinator", report.status().ToString());
    runtime->SleepUntil(runtime->Now() + Duration(world.options.reclaim_grace +
                                                  world.options.profile.list_lag + kSecond));
  }
}

}  // namespace

void Audit(World& world) {
  if (world.random.Chance(0.3)) world.storage->Remove(HeadKey(kMainBranch));
  ReadAll(world);
  OpenAll(world);
  if (world.options.lifecycle && world.options.profile.put_if_match) ReclaimAll(world);
  if (world.random.Chance(0.3)) VerifyAll(world);
}

}  // namespace lakestream::sim

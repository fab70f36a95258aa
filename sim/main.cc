// lakestream-sim: plays simulated runs by seed.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "base/text.h"
#include "sim/seed_runner.h"
#include "sim/small_scope.h"

namespace lakestream::sim {
namespace {

struct Arguments {
  std::string seed;
  std::string seeds;
  double minutes = 0;
  bool verbose = false;
  bool large = false;
  bool mutations = false;
  bool exhaustive = false;
  uint64_t failures_max = 3;
};

void Print(const std::string& text) { std::fputs(text.c_str(), stdout); }

std::string ReplayLine(uint64_t seed, RunSize size) {
  return Str("replay: build/bin/lakestream-sim --seed ", seed,
             size == RunSize::kLarge ? " --large" : "", " --verbose\n");
}

int PlayOne(uint64_t seed, RunSize size, bool verbose) {
  const SeedReport report = ReplaySeed(seed, size);
  if (verbose || report.failed)
    Print(report.report);
  else
    Print(DrawOptions(seed, size).ToText());
  Print(Str("seed ", seed, ": ", report.failed ? "FAILED (" + report.checker + ")" : "ok", ", ",
            report.numbers.steps, " steps, ", report.numbers.versions, " versions, ",
            report.numbers.sessions, " sessions, ", report.numbers.requests, " requests, ",
            TimeText(report.numbers.virtual_time), " of virtual time, event hash ",
            report.event_hash, "\n"));
  if (report.failed) Print(ReplayLine(seed, size));
  return report.failed ? 1 : 0;
}

int PlayMany(const Arguments& arguments, SeedPlan plan) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  if (arguments.minutes > 0) {
    plan.count = UINT64_MAX - plan.first;
    plan.stop = [&] { return seconds() > arguments.minutes * 60; };
  }
  plan.failures_max = arguments.failures_max;
  Totals totals;
  std::vector<SeedReport> failed;
  double next_note = 10;
  RunSeeds(plan, [&](const SeedReport& report) {
    totals.Add(report);
    if (report.failed) {
      failed.push_back(report);
      Print(Str("seed ", report.seed, ": FAILED (", report.checker, ")\n", report.report,
                ReplayLine(report.seed, plan.size)));
    }
    if (seconds() > next_note) {
      next_note += 10;
      Print(Str(totals.seeds, " seeds, ", totals.failed, " failed, at seed ", report.seed, "\n"));
    }
    std::fflush(stdout);
  });
  if (!failed.empty() && arguments.verbose) Print(ReplaySeed(failed[0].seed, plan.size).report);
  Print(totals.ToText());
  Print(Str(static_cast<double>(totals.seeds) / seconds(), " seeds/s\n"));
  return failed.empty() ? 0 : 1;
}

int PlaySmallScope() {
  const SmallScopeResult result = SearchSmallScope({});
  Print(Str(result.states, " states, ", result.transitions, " transitions: ",
            result.violation.empty() ? "every interleaving holds" : result.violation, "\n"));
  return result.violation.empty() ? 0 : 1;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Plays Lakestream's simulated runs. A run depends on its seed alone.\n"
      "Example: lakestream-sim --seeds 1..2000");
  app.add_option("--seed", arguments.seed, "one seed");
  app.add_option("--seeds", arguments.seeds, "a range A..B, both included");
  app.add_option("--minutes", arguments.minutes, "for so long, from seed A (or 1) on");
  app.add_option("--failures", arguments.failures_max, "stop after so many failed seeds");
  app.add_flag("--verbose", arguments.verbose, "print the history of the (first failed) seed");
  app.add_flag("--large", arguments.large, "dozens of actors a run instead of a few");
  app.add_flag("--mutations", arguments.mutations,
               "see that each deliberate bug in sim/mutations is caught (an hour or so)");
  app.add_flag("--exhaustive", arguments.exhaustive,
               "every interleaving of two clients, a reclaimer and four slots");
  CLI11_PARSE(app, argc, argv);
  if (arguments.exhaustive) return PlaySmallScope();
  if (arguments.mutations) {
    execl(LS_SIM_MUTATIONS, LS_SIM_MUTATIONS, static_cast<char*>(nullptr));
    std::perror(LS_SIM_MUTATIONS);
    return 1;
  }
  const RunSize size = arguments.large ? RunSize::kLarge : RunSize::kSmall;
  if (!arguments.seed.empty()) {
    return PlayOne(std::strtoull(arguments.seed.c_str(), nullptr, 10), size, arguments.verbose);
  }
  SeedPlan plan;
  plan.size = size;
  plan.count = 1000;
  if (const size_t dots = arguments.seeds.find(".."); dots != std::string::npos) {
    plan.first = std::strtoull(arguments.seeds.c_str(), nullptr, 10);
    const uint64_t last = std::strtoull(arguments.seeds.c_str() + dots + 2, nullptr, 10);
    plan.count = last >= plan.first ? last - plan.first + 1 : 0;
  } else if (!arguments.seeds.empty()) {
    plan.first = std::strtoull(arguments.seeds.c_str(), nullptr, 10);
    plan.count = 1;
  }
  return PlayMany(arguments, plan);
}

}  // namespace
}  // namespace lakestream::sim

int main(int argc, char** argv) { return lakestream::sim::Main(argc, argv); }

#include <charconv>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/synthetic.h"
#include "lakestream/producer.h"

namespace lakestream::cli {
namespace {

struct Options {
  ProducerOptions producer;
  uint64_t tgbs = 100;
  uint64_t slice_bytes = 1 << 20;
  double spread = 0;
  double rate = 0;
  uint64_t commit_interval_ms = 200;
  uint64_t run_timeout_ms = 600'000;
  uint64_t reclaim_interval_ms = 0;
  bool finish = false;
};

double SecondsBetween(TimePoint from, TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

void Print(const Session& session, const ProducerStats& stats, uint64_t resumed_at, double seconds,
           bool finished) {
  const double mib_per_s = static_cast<double>(stats.payload_bytes) / (1 << 20) / seconds;
  if (session.json) {
    PrintJson({{"synthetic", true},
               {"resumed_at", resumed_at},
               {"tgbs", stats.tgbs_committed},
               {"payload_bytes", stats.payload_bytes},
               {"commits", stats.commits},
               {"commit_attempts", stats.commit_attempts},
               {"conflicts", stats.conflicts},
               {"undecided", stats.undecided},
               {"held_back", stats.held_back},
               {"seconds", seconds},
               {"mib_per_second", mib_per_s},
               {"next_step", stats.next_step},
               {"finished", finished}});
    return;
  }
  if (resumed_at > 0) PrintLine("resumed at item " + std::to_string(resumed_at));
  char rate[64];
  std::snprintf(rate, sizeof rate, "%.1f MiB/s", mib_per_s);
  PrintLine(Plural(stats.tgbs_committed, "synthetic TGB") + ", " + Bytes(stats.payload_bytes) +
            " in " + Seconds(seconds) + " (" + rate + "), " + Plural(stats.commits, "commit") +
            " in " + Plural(stats.commit_attempts, "attempt") +
            (stats.held_back > 0 ? ", held back by readers" : "") + (finished ? ", finished" : ""));
}

Status WriteAll(Session& session, const Options& options, const StreamSpec& spec,
                Producer& producer, uint64_t first) {
  const Deadline deadline = session.deadline();
  const TimePoint began = session.runtime->Now();
  Progress progress("produce");
  for (uint64_t item = first; item < options.tgbs; ++item) {
    if (options.rate > 0) {
      const std::chrono::duration<double> due(static_cast<double>(item - first) / options.rate);
      const Duration wait =
          began + std::chrono::duration_cast<Duration>(due) - session.runtime->Now();
      if (wait > Duration::zero()) LS_RETURN_IF_ERROR(SleepFor(*session.runtime, wait, deadline));
    }
    LS_ASSIGN_OR_RETURN(Tgb tgb, MakeSynthetic(spec, options.producer.name, item,
                                               options.slice_bytes, options.spread));
    LS_RETURN_IF_ERROR(producer.Write(std::move(tgb), std::to_string(item + 1), deadline));
    progress.Show(item + 1, options.tgbs);
  }
  return options.finish ? producer.Finish(deadline) : producer.Close(deadline);
}

Result<ExitCode> Run(Session& session, Options options) {
  options.producer.commit_interval = std::chrono::milliseconds(options.commit_interval_ms);
  options.producer.run_timeout = std::chrono::milliseconds(options.run_timeout_ms);
  options.producer.reclaim_interval = std::chrono::milliseconds(options.reclaim_interval_ms);
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(auto producer, Producer::Open(stream, options.producer, session.deadline()));
  uint64_t first = 0;
  const std::string& state = producer->recovered_state();
  if (!state.empty()) {
    const auto [end, error] = std::from_chars(state.data(), state.data() + state.size(), first);
    if (error != std::errc() || end != state.data() + state.size()) {
      return FailedPreconditionError(
          "producer " + options.producer.name +
          " has a state that 'lakestream produce' did not write; use another name");
    }
  }
  const TimePoint began = session.runtime->Now();
  const Status written = WriteAll(session, options, stream->info().spec, *producer, first);
  Print(session, producer->stats(), first, SecondsBetween(began, session.runtime->Now()),
        written.ok() && options.finish);
  LS_RETURN_IF_ERROR(written);
  return kExitOk;
}

}  // namespace

void AddProduce(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, session, chosen, "produce", "write synthetic TGBs, to try and to measure a stream",
      "lakestream produce s3://bucket/stream --name a --tgbs 1000 --slice-bytes 1048576",
      [options](Session& s) { return Run(s, *options); });
  command
      ->add_option("--name", options->producer.name,
                   "the producer's name; started again, it goes on where it was")
      ->required();
  command->add_option("--tgbs", options->tgbs, "how many TGBs this producer writes in all")
      ->check(Whole())
      ->capture_default_str();
  command->add_option("--slice-bytes", options->slice_bytes, "bytes in a slice")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 36));
  command->add_option("--spread", options->spread, "vary slice sizes by this fraction")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--rate", options->rate, "TGBs a second; 0: as fast as it goes")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e9));
  command
      ->add_option("--commit-interval-ms", options->commit_interval_ms, "mean time between commits")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{0}, uint64_t{86400000}));
  command
      ->add_option("--ahead-steps", options->producer.ahead_steps_max,
                   "wait while so many steps ahead of the slowest run that reads; 0: never")
      ->check(Whole())
      ->capture_default_str();
  command
      ->add_option("--ahead-bytes", options->producer.ahead_bytes_max,
                   "... or so much stored data, such as 20GiB; 0: never")
      ->transform(ByteSize())
      ->type_name("SIZE")
      ->capture_default_str();
  command
      ->add_option("--run-timeout", options->run_timeout_ms,
                   "a run without a sign of life for so long is not waited for")
      ->transform(Milliseconds())
      ->type_name("TIME")
      ->default_str("10m");
  command
      ->add_option("--reclaim-interval", options->reclaim_interval_ms,
                   "a pass of reclamation about this often, beside producing; 0: none")
      ->transform(Milliseconds())
      ->type_name("TIME")
      ->default_str("0");
  command->add_flag("--finish", options->finish,
                    "record at the end that this producer has no more");
  AddBranchOption(command, session);
}

}  // namespace lakestream::cli

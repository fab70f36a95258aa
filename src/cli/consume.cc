#include "cli/command.h"
#include "cli/output.h"
#include "cli/synthetic.h"
#include "lakestream/consumer.h"
#include "lakestream/lifecycle.h"

namespace lakestream::cli {
namespace {

struct Options {
  ConsumerOptions consumer;
  std::string mesh;
  std::string checkpoint;
  ConsumerRun run;
  uint64_t save_every = 1;
  uint64_t max_steps = UINT64_MAX;
  uint64_t prefetch_mib = 256;
  double step_time_ms = 0;
  bool check = false;
};

struct Outcome {
  std::vector<double> waits_s;  // of each Next()
  double seconds = 0;
  uint64_t wrong = 0;
  bool ended = false;
};

double SecondsBetween(TimePoint from, TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

// Slice number `index` of those that a step gives to the position, in the stream's mesh.
SlicePart PartOf(const ConsumerOptions& options, const Mesh& written, uint32_t index) {
  const Mesh job = options.mesh.value_or(written);
  if (job.dp <= written.dp)
    return {options.dp_index * (written.dp / job.dp) + index, options.cp_index, 0, 1};
  const uint32_t parts = job.dp / written.dp;
  return {options.dp_index / parts, options.cp_index, options.dp_index % parts, parts};
}

// Whether each slice is what was produced; a message for each that is not.
bool Check(const ConsumedStep& step, const ConsumerOptions& options, const Mesh& written) {
  bool right = true;
  for (uint32_t i = 0; i < step.slices.size(); ++i) {
    const Status slice = CheckSynthetic(step.slices[i], PartOf(options, written, i));
    right = right && slice.ok();
    if (!slice.ok()) PrintMessage("step " + std::to_string(step.step) + ": " + slice.message());
  }
  return right;
}

Status ReadSteps(Session& session, const Options& options, const Mesh& written, Consumer& consumer,
                 Outcome& outcome) {
  const Deadline deadline = session.deadline();
  const TimePoint began = session.runtime->Now();
  Status failure;
  while (outcome.waits_s.size() < options.max_steps) {
    const TimePoint asked = session.runtime->Now();
    auto next = consumer.Next(deadline);
    if (!next.ok()) failure = next.status();
    if (!next.ok() || !*next) {
      outcome.ended = next.ok();
      break;
    }
    outcome.waits_s.push_back(SecondsBetween(asked, session.runtime->Now()));
    if (options.check) outcome.wrong += !Check(**next, options.consumer, written);
    if (options.step_time_ms > 0) {
      const std::chrono::duration<double, std::milli> emulated(options.step_time_ms);
      failure =
          SleepFor(*session.runtime, std::chrono::duration_cast<Duration>(emulated), deadline);
      if (!failure.ok()) break;
    }
    if (options.consumer.run && outcome.waits_s.size() % options.save_every == 0)
      LS_RETURN_IF_ERROR(consumer.SetDurable(consumer.position()));
  }
  outcome.seconds = SecondsBetween(began, session.runtime->Now());
  return failure;
}

void Print(const Session& session, const Options& options, const Consumer& consumer,
           Outcome& outcome) {
  const ConsumerStats stats = consumer.stats();
  const double mib_per_s =
      static_cast<double>(stats.slice_bytes) / (1 << 20) / std::max(outcome.seconds, 1e-9);
  const double amplification = stats.slice_bytes == 0 ? 0
                                                      : static_cast<double>(stats.bytes_read) /
                                                            static_cast<double>(stats.slice_bytes);
  const double p50 = Quantile(outcome.waits_s, 0.5);
  const double p99 = Quantile(outcome.waits_s, 0.99);
  if (session.json) {
    PrintJson({{"steps", stats.steps},
               {"next_step", consumer.position()},
               {"end_of_stream", outcome.ended},
               {"slice_bytes", stats.slice_bytes},
               {"bytes_read", stats.bytes_read},
               {"read_amplification", amplification},
               {"requests", stats.requests},
               {"rereads", stats.rereads},
               {"seconds", outcome.seconds},
               {"mib_per_second", mib_per_s},
               {"wait_p50_s", p50},
               {"wait_p99_s", p99},
               {"emulated_step_ms", options.step_time_ms},
               {"checked", options.check},
               {"wrong", outcome.wrong}});
    return;
  }
  char rate[64];
  std::snprintf(rate, sizeof rate, "%.1f MiB/s", mib_per_s);
  char factor[64];
  std::snprintf(factor, sizeof factor, "%.3f", amplification);
  PrintLine(Plural(stats.steps, "step") + ", " + Bytes(stats.slice_bytes) + " in " +
            Seconds(outcome.seconds) + " (" + rate + "); wait p50 " + Seconds(p50) + ", p99 " +
            Seconds(p99));
  PrintLine(Plural(stats.requests, "request") + ", " + Bytes(stats.bytes_read) + " read, " +
            factor + " of the slices; next step " + std::to_string(consumer.position()) +
            (outcome.ended ? ", end of stream" : ""));
  if (options.step_time_ms > 0)
    PrintLine("each step took an emulated " + Seconds(options.step_time_ms / 1e3));
  if (options.check)
    PrintLine(outcome.wrong == 0 ? "every slice is what was produced"
                                 : Plural(outcome.wrong, "wrong slice"));
}

Result<ExitCode> Run(Session& session, Options options) {
  options.consumer.prefetch_bytes = options.prefetch_mib << 20;
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  const Mesh written = stream->info().spec.mesh;
  if (!options.mesh.empty()) {
    LS_ASSIGN_OR_RETURN(options.consumer.mesh, ParseMesh(options.mesh));
  }
  if (!options.checkpoint.empty()) {
    LS_ASSIGN_OR_RETURN(const CheckpointInfo checkpoint,
                        FindCheckpoint(*stream, options.checkpoint, session.deadline()));
    options.consumer.start_step = checkpoint.step;
  }
  if (!options.run.job.empty()) {
    const Mesh mesh = options.consumer.mesh.value_or(written);
    options.run.rank = mesh.SliceIndex(options.consumer.dp_index, options.consumer.cp_index);
    options.run.ranks = mesh.slice_count();
    options.consumer.run = options.run;
  }
  LS_ASSIGN_OR_RETURN(auto consumer, Consumer::Open(stream, options.consumer, session.deadline()));
  Outcome outcome;
  Status read = ReadSteps(session, options, written, *consumer, outcome);
  if (options.consumer.run && read.ok()) read = consumer->Close(session.deadline());
  Print(session, options, *consumer, outcome);
  LS_RETURN_IF_ERROR(read);
  if (options.consumer.run) {
    PrintMessage("run " + options.run.run + " of job " + options.run.job +
                 " stays attached and holds what it needs until it is detached: 'lakestream runs " +
                 session.uri + " --detach " + options.run.job + "'");
  }
  return outcome.wrong == 0 ? kExitOk : kExitFindings;
}

}  // namespace

void AddConsume(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, session, chosen, "consume", "read as one rank, to try and to measure a stream",
      "lakestream consume s3://bucket/stream --dp 0 --cp 1 --start-step 1000",
      [options](Session& s) { return Run(s, *options); });
  command->add_option("--dp", options->consumer.dp_index, "data-parallel position")
      ->check(Whole())
      ->capture_default_str();
  command->add_option("--cp", options->consumer.cp_index, "context-parallel position")
      ->check(Whole())
      ->capture_default_str();
  command->add_option("--mesh", options->mesh,
                      "the job's own mesh, DPxCP; without it, the stream's");
  auto* start = command->add_option("--start-step", options->consumer.start_step, "first step")
                    ->check(Whole())
                    ->capture_default_str();
  command->add_option("--checkpoint", options->checkpoint, "begin where this checkpoint is")
      ->excludes(start);
  auto* job = command->add_option("--job", options->run.job,
                                  "read in this job's name: hold what it needs, report progress");
  auto* run = command->add_option("--run", options->run.run,
                                  "which start of the job; all its ranks give the same");
  job->needs(run);
  run->needs(job);
  command
      ->add_option("--save-every", options->save_every,
                   "steps after which the job would restart no earlier, as if it saved its model")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->needs(job)
      ->capture_default_str();
  command
      ->add_option("--max-steps", options->max_steps,
                   "stop after so many steps; without it, at the end of the stream")
      ->check(Whole());
  command->add_option("--prefetch-steps", options->consumer.prefetch_steps, "read ahead: steps")
      ->check(Whole())
      ->capture_default_str();
  command->add_option("--prefetch-mib", options->prefetch_mib, "read ahead: MiB")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 20));
  command
      ->add_option("--step-time-ms", options->step_time_ms, "emulate a training step of this time")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e9));
  command->add_flag("--check", options->check,
                    "check that each slice is what 'lakestream produce' wrote");
  AddBranchOption(command, session);
}

}  // namespace lakestream::cli

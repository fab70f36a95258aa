#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/lifecycle.h"

namespace lakestream::cli {
namespace {

constexpr uint64_t kHourMs = 3'600'000;

struct Options {
  uint64_t fence_after_ms = 7 * 24 * kHourMs;
  uint64_t abandon_after_ms = 24 * kHourMs;
  uint64_t detach_after_ms = 0;
  bool dry_run = false;
};

Json ToJson(const ReclaimReport& report, bool dry_run) {
  return {{"dry_run", dry_run},
          {"data_objects", report.data_objects},
          {"data_bytes", report.data_bytes},
          {"log_records", report.log_records},
          {"snapshots", report.snapshots},
          {"index_pages", report.index_pages},
          {"small_objects", report.small_objects},
          {"uploads", report.uploads},
          {"ended", report.ended},
          {"waiting_steps", report.waiting_steps},
          {"waiting_bytes", report.waiting_bytes},
          {"next_release_ms", report.next_release_ms}};
}

void PrintForPeople(const ReclaimReport& report, bool dry_run) {
  const std::string removed = dry_run ? "would remove " : "removed ";
  if (report.removed() + report.uploads == 0) {
    PrintLine(removed + "nothing");
  } else {
    Table table({dry_run ? "would remove" : "removed", ">objects", ">bytes"});
    const auto add = [&](const char* what, uint64_t objects, const std::string& bytes) {
      if (objects > 0) table.Add({what, std::to_string(objects), bytes});
    };
    add("data", report.data_objects, Bytes(report.data_bytes));
    add("log records", report.log_records, "");
    add("snapshots", report.snapshots, "");
    add("index pages", report.index_pages, "");
    add("parts, watermarks, probes", report.small_objects, "");
    add("unfinished uploads", report.uploads, "");
    table.Print();
  }
  for (const std::string& ended : report.ended)
    PrintLine((dry_run ? "would end " : "ended ") + ended);
  if (report.next_release_ms == 0 && report.waiting_steps == 0) {
    PrintLine("nothing waits");
    return;
  }
  std::string waits = "waiting: ";
  waits +=
      report.waiting_steps == 0
          ? std::string("log records, or what only a deleted branch held")
          : "about " + Bytes(report.waiting_bytes) + " of " + Plural(report.waiting_steps, "step");
  waits += report.next_release_ms == 0
               ? "; another pass releases them"
               : ", to be removed by a pass after " + Time(report.next_release_ms);
  PrintLine(waits);
}

Result<ExitCode> Run(Session& session, const Options& options) {
  ReclaimOptions reclaim;
  reclaim.dry_run = options.dry_run;
  reclaim.fence_after = std::chrono::milliseconds(options.fence_after_ms);
  reclaim.abandon_after = std::chrono::milliseconds(options.abandon_after_ms);
  reclaim.detach_after = std::chrono::milliseconds(options.detach_after_ms);
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  ReclaimReport report;
  {
    Progress progress("gc");
    reclaim.progress = [&](uint64_t removed) { progress.ShowCount(removed, "objects"); };
    LS_ASSIGN_OR_RETURN(report, Reclaim(*stream, reclaim, session.deadline()));
  }
  if (session.json) {
    PrintJson(ToJson(report, options.dry_run));
  } else {
    PrintForPeople(report, options.dry_run);
  }
  return kExitOk;
}

}  // namespace

void AddGc(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, session, chosen, "gc",
      "remove what nothing can reach: trimmed steps after their grace, orphans, deleted branches",
      "lakestream gc s3://bucket/stream --timeout 0",
      [options](Session& s) { return Run(s, *options); });
  command->add_flag("--dry-run", options->dry_run, "say what would go now, and change nothing");
  const auto span = [&](const char* name, uint64_t& ms, const char* what, const char* text) {
    command->add_option(name, ms, what)
        ->transform(Milliseconds())
        ->type_name("TIME")
        ->default_str(text);
  };
  span("--fence-after", options->fence_after_ms,
       "end sessions whose uploads have been unpublished for so long", "7d");
  span("--abandon-after", options->abandon_after_ms,
       "drop incomplete checkpoints and uploads that are older", "24h");
  span("--detach-after", options->detach_after_ms,
       "detach runs without a sign of life for so long; 0: never", "0");
}

}  // namespace lakestream::cli

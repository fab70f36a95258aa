#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/lifecycle.h"

namespace lakestream::cli {
namespace {

struct Options {
  uint64_t keep_newer_ms = 0;
  TrimOptions trim;
};

Json ToJson(const TrimReport& report, bool dry_run) {
  Json json = {{"dry_run", dry_run},        {"from", report.from},
               {"to", report.to},           {"steps", report.to - report.from},
               {"bytes", report.bytes},     {"dropped", report.dropped},
               {"held_by", report.held_by}, {"over_max_bytes", report.over_bytes_max},
               {"kept", Json::array()}};
  for (const KeptStep& kept : report.kept)
    json["kept"].push_back({{"what", kept.what}, {"step", kept.step}, {"why", kept.why}});
  return json;
}

// "steps 0..899 (about 1.2 GiB) and 2 checkpoints"
std::string WhatGoes(const TrimReport& report) {
  std::string text;
  if (report.to > report.from) {
    text = "steps " + std::to_string(report.from) + ".." + std::to_string(report.to - 1) +
           " (about " + Bytes(report.bytes) + ")";
  }
  if (report.dropped.empty()) return text.empty() ? "nothing" : text;
  if (!text.empty()) text += " and ";
  text += Plural(report.dropped.size(), "checkpoint") + ":";
  for (const std::string& name : report.dropped) text += " " + name;
  return text;
}

void PrintForPeople(const TrimReport& report, bool dry_run) {
  PrintLine((dry_run ? "would give up " : "gave up ") + WhatGoes(report));
  PrintLine("the first step that stays is " + std::to_string(report.to));
  if (report.over_bytes_max)
    PrintMessage("still above --max-bytes: what is left is pinned or being read");
  if (report.kept.empty()) {
    PrintLine("no checkpoint and no run keeps steps");
    return;
  }
  PrintLine("");
  Table table({">step", "kept for", "why"});
  for (const KeptStep& kept : report.kept)
    table.Add({std::to_string(kept.step), kept.what, kept.why});
  table.Print();
}

Result<ExitCode> Run(Session& session, const Options& options) {
  TrimOptions trim = options.trim;
  trim.rules.keep_newer = std::chrono::milliseconds(options.keep_newer_ms);
  const bool dry_run = trim.dry_run;
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  trim.dry_run = true;
  LS_ASSIGN_OR_RETURN(TrimReport report, Trim(*stream, trim, session.deadline()));
  const bool changes = report.to > report.from || !report.dropped.empty();
  if (changes && !dry_run) {
    LS_RETURN_IF_ERROR(session.Confirm("give up " + WhatGoes(report) + ", for good, at " +
                                       stream->store().Describe()));
    trim.dry_run = false;
    LS_ASSIGN_OR_RETURN(report, Trim(*stream, trim, session.deadline()));
  }
  if (session.json) {
    PrintJson(ToJson(report, dry_run));
  } else {
    PrintForPeople(report, dry_run);
  }
  return kExitOk;
}

}  // namespace

void AddTrim(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, session, chosen, "trim", "give up old steps that no checkpoint and no run needs",
      "lakestream trim s3://bucket/stream --keep-last 3 --keep-every 10000 --keep-for 7d --dry-run",
      [options](Session& s) { return Run(s, *options); });
  RetentionRules& rules = options->trim.rules;
  command->add_option("--keep-last", rules.keep_last, "keep so many of the newest checkpoints")
      ->check(Whole());
  command->add_option("--keep-every", rules.keep_every, "keep those at multiples of this step")
      ->check(Whole());
  command
      ->add_option("--keep-for", options->keep_newer_ms,
                   "keep those that are not older, such as 36h or 7d")
      ->transform(Milliseconds())
      ->type_name("TIME");
  auto* bytes = command
                    ->add_option("--max-bytes", rules.bytes_max,
                                 "above this size, such as 500GiB, the oldest checkpoints go "
                                 "whatever the rules say; pinned ones stay")
                    ->transform(ByteSize())
                    ->type_name("SIZE");
  command
      ->add_option("--to", options->trim.to,
                   "the first step to keep; refused if something needs one below it")
      ->check(Whole())
      ->excludes(bytes);
  command->add_flag("--dry-run", options->trim.dry_run, "say what would go, and change nothing");
  AddBranchOption(command, session);
  AddYesOption(command, session);
}

}  // namespace lakestream::cli

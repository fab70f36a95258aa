#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/admin.h"

namespace lakestream::cli {
namespace {

struct Options {
  Version from = 0;  // 0: the last few
  bool follow = false;
};

constexpr Version kLastShown = 10;

void Print(const Session& session, const CommitInfo& commit) {
  if (session.json) {
    PrintJsonLine({{"version", commit.version},
                   {"first_step", commit.first_step},
                   {"next_step", commit.next_step},
                   {"time_ms", commit.time_ms},
                   {"record_bytes", commit.record_bytes},
                   {"changes", commit.changes}});
    return;
  }
  for (const std::string& change : commit.changes) {
    PrintLine(Time(commit.time_ms) + "  version " + std::to_string(commit.version) + "  " + change);
  }
  std::fflush(stdout);
}

Result<ExitCode> Run(Session& session, const Options& options) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  Version from = options.from;
  if (from == 0) {
    LS_ASSIGN_OR_RETURN(const StreamStatus status, GetStatus(*stream, session.deadline()));
    from = status.version > kLastShown ? status.version - kLastShown + 1 : 1;
  }
  const Deadline deadline =
      options.follow ? Deadline{TimePoint::max(), &session.cancel} : session.deadline();
  const auto print = [&](const CommitInfo& commit) {
    Print(session, commit);
    return std::ferror(stdout) == 0;  // a reader such as head has gone
  };
  LS_RETURN_IF_ERROR(Tail(*stream, from, options.follow, print, deadline));
  return kExitOk;
}

}  // namespace

void AddTail(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddCommand(app, session, chosen, "tail", "the newest commits, and more as they come",
                 "lakestream tail s3://bucket/stream --follow",
                 [options](Session& s) { return Run(s, *options); });
  command->add_option("--from", options->from, "first version; without it, the last ten")
      ->check(Whole());
  command->add_flag("-f,--follow", options->follow, "go on until the stream is sealed, or Ctrl-C");
  AddBranchOption(command, session);
}

}  // namespace lakestream::cli

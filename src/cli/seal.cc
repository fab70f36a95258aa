#include <unistd.h>

#include <cstdio>

#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/admin.h"

namespace lakestream::cli {
namespace {

bool ConfirmedByUser(const std::string& question) {
  std::fprintf(stderr, "%s [y/N] ", question.c_str());
  std::fflush(stderr);
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y';
}

Result<ExitCode> Run(Session& session, bool yes) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(StreamStatus status, GetStatus(*stream, session.deadline()));
  if (!status.sealed && !yes) {
    const std::string what =
        "seal " + stream->store().Describe() + " at " + Plural(status.next_step, "step") +
        ": nothing can be added afterwards, what producers have not committed is refused";
    if (isatty(STDIN_FILENO) != 1)
      return FailedPreconditionError("would " + what + "; give --yes to do it");
    if (!ConfirmedByUser(what + ". Do it?")) {
      PrintMessage("nothing was changed");
      return kExitPrecondition;
    }
  }
  LS_RETURN_IF_ERROR(Seal(*stream, session.deadline()));
  LS_ASSIGN_OR_RETURN(status, GetStatus(*stream, session.deadline()));
  if (session.json) {
    PrintJson(
        {{"sealed", status.sealed}, {"steps", status.next_step}, {"version", status.version}});
  } else {
    PrintLine("sealed at " + Plural(status.next_step, "step"));
  }
  return kExitOk;
}

}  // namespace

void AddSeal(CLI::App& app, Session& session, Action& chosen) {
  auto yes = std::make_shared<bool>(false);
  CLI::App* command = AddCommand(
      app, session, chosen, "seal", "end a stream: nothing can be added afterwards",
      "lakestream seal s3://bucket/stream --yes", [yes](Session& s) { return Run(s, *yes); });
  command->add_flag("-y,--yes", *yes, "do not ask");
}

}  // namespace lakestream::cli

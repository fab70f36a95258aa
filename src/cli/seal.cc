#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/admin.h"

namespace lakestream::cli {
namespace {

Result<ExitCode> Run(Session& session) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(StreamStatus status, GetStatus(*stream, session.deadline()));
  if (!status.sealed) {
    LS_RETURN_IF_ERROR(session.Confirm(
        "seal " + stream->store().Describe() + " at " + Plural(status.next_step, "step") +
        ": nothing can be added afterwards, what producers have not committed is refused"));
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
  CLI::App* command =
      AddCommand(app, session, chosen, "seal", "end a stream: nothing can be added afterwards",
                 "lakestream seal s3://bucket/stream --yes", Run);
  AddBranchOption(command, session);
  AddYesOption(command, session);
}

}  // namespace lakestream::cli

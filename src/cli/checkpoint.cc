#include "cli/command.h"
#include "cli/tables.h"

namespace lakestream::cli {
namespace {

struct Options {
  SaveCheckpointOptions save;
};

std::string StateOf(const CheckpointInfo& checkpoint) {
  return checkpoint.live ? "live" : "pending";
}

Result<ExitCode> Create(Session& session, const Options& options) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_RETURN_IF_ERROR(SaveCheckpoint(*stream, options.save, session.deadline()).status());
  if (session.json) {
    PrintJson({{"name", options.save.name}, {"step", options.save.step}, {"live", true}});
  } else {
    PrintLine("checkpoint " + options.save.name + " keeps step " +
              std::to_string(options.save.step) + " and all that follow");
  }
  return kExitOk;
}

Result<ExitCode> List(Session& session) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(*stream, session.deadline()));
  if (session.json) {
    PrintJson(ToJson(checkpoints));
  } else if (checkpoints.empty()) {
    PrintMessage("there are no checkpoints; 'lakestream checkpoint create' makes one");
  } else {
    PrintCheckpoints(checkpoints);
  }
  return kExitOk;
}

Result<ExitCode> Pin(Session& session, const std::string& name, bool pinned) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_RETURN_IF_ERROR(PinCheckpoint(*stream, name, pinned, session.deadline()));
  if (session.json) {
    PrintJson({{"name", name}, {"pinned", pinned}});
  } else {
    PrintLine("checkpoint " + name +
              (pinned ? " is pinned: no rule drops it" : " is not pinned any more"));
  }
  return kExitOk;
}

Result<ExitCode> Delete(Session& session, const std::string& name) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(*stream, session.deadline()));
  for (const CheckpointInfo& checkpoint : checkpoints) {
    if (checkpoint.name != name || checkpoint.pinned) continue;  // the library says what is wrong
    LS_RETURN_IF_ERROR(session.Confirm("delete " + StateOf(checkpoint) + " checkpoint " + name +
                                       " at step " + std::to_string(checkpoint.step) +
                                       ": a trim may then give up the steps that it keeps"));
  }
  LS_RETURN_IF_ERROR(DeleteCheckpoint(*stream, name, session.deadline()));
  if (session.json) {
    PrintJson({{"name", name}, {"deleted", true}});
  } else {
    PrintLine("checkpoint " + name + " is deleted");
  }
  return kExitOk;
}

}  // namespace

Json ToJson(const std::vector<CheckpointInfo>& checkpoints) {
  Json json = Json::array();
  for (const CheckpointInfo& checkpoint : checkpoints) {
    json.push_back({{"name", checkpoint.name},
                    {"step", checkpoint.step},
                    {"state", StateOf(checkpoint)},
                    {"pinned", checkpoint.pinned},
                    {"parts", checkpoint.parts},
                    {"time_ms", checkpoint.time_ms},
                    {"note", checkpoint.note}});
  }
  return json;
}

void PrintCheckpoints(const std::vector<CheckpointInfo>& checkpoints) {
  Table table({"checkpoint", ">step", "state", "pinned", "made", "note"});
  for (const CheckpointInfo& checkpoint : checkpoints) {
    table.Add({checkpoint.name, std::to_string(checkpoint.step), StateOf(checkpoint),
               checkpoint.pinned ? "yes" : "no", Time(checkpoint.time_ms), checkpoint.note});
  }
  table.Print();
}

void AddCheckpoint(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& group =
      *AddGroup(app, "checkpoint", "steps that a job can return to: create list pin unpin delete");
  std::string& name = options->save.name;
  const auto named = [&](CLI::App* command) {
    command->add_option("name", name, "the checkpoint's name")->required();
    AddBranchOption(command, session);
    return command;
  };

  CLI::App* create = named(AddCommand(
      group, session, chosen, "create", "keep a step and all that follow, until it is deleted",
      "lakestream checkpoint create s3://bucket/stream epoch-1 --step 1000 --note s3://models/1",
      [options](Session& s) { return Create(s, *options); }));
  create
      ->add_option("--step", options->save.step,
                   "the step that a job reads next when it returns to this checkpoint")
      ->check(Whole())
      ->required();
  create->add_option("--note", options->save.note, "the job's own words, such as its model's path");
  create->add_flag("--pin", options->save.pinned, "no retention rule drops it");

  AddBranchOption(AddCommand(group, session, chosen, "list", "all checkpoints, by step",
                             "lakestream checkpoint list s3://bucket/stream", List),
                  session);
  named(AddCommand(group, session, chosen, "pin", "keep a checkpoint whatever the rules say",
                   "lakestream checkpoint pin s3://bucket/stream epoch-1",
                   [options](Session& s) { return Pin(s, options->save.name, true); }));
  named(AddCommand(group, session, chosen, "unpin", "let the rules decide about it again",
                   "lakestream checkpoint unpin s3://bucket/stream epoch-1",
                   [options](Session& s) { return Pin(s, options->save.name, false); }));
  CLI::App* remove =
      named(AddCommand(group, session, chosen, "delete", "a later trim may give up what it kept",
                       "lakestream checkpoint delete s3://bucket/stream epoch-1 --yes",
                       [options](Session& s) { return Delete(s, options->save.name); }));
  AddYesOption(remove, session);
}

}  // namespace lakestream::cli

#include "cli/command.h"
#include "cli/tables.h"

namespace lakestream::cli {
namespace {

struct Options {
  std::string name;
  std::optional<Step> step;
  std::string checkpoint;
};

Result<ExitCode> Create(Session& session, const Options& options) {
  if (!options.step && options.checkpoint.empty())
    return InvalidArgumentError("give --step or --checkpoint: where the branch begins");
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  Step step = options.step.value_or(0);
  if (!options.step) {
    LS_ASSIGN_OR_RETURN(const CheckpointInfo checkpoint,
                        FindCheckpoint(*stream, options.checkpoint, session.deadline()));
    step = checkpoint.step;
  }
  LS_RETURN_IF_ERROR(CreateBranch(*stream, options.name, step, session.deadline()));
  if (session.json) {
    PrintJson({{"name", options.name}, {"parent", session.branch}, {"fork_step", step}});
  } else {
    PrintLine("branch " + options.name + " begins at step " + std::to_string(step) + " of " +
              session.branch);
  }
  return kExitOk;
}

Result<ExitCode> List(Session& session) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(const auto branches, ListBranches(*stream, session.deadline()));
  if (session.json) {
    PrintJson(ToJson(branches));
  } else if (branches.empty()) {
    PrintMessage("there are no branches but main; 'lakestream branch create' makes one");
  } else {
    PrintBranches(branches);
  }
  return kExitOk;
}

Result<ExitCode> Delete(Session& session, const std::string& name) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(const auto branches, ListBranches(*stream, session.deadline()));
  for (const BranchSummary& branch : branches) {
    if (branch.info.name != name || branch.deleted) continue;  // else the library says what it is
    const uint64_t own = branch.next_step - branch.info.fork_step;
    LS_RETURN_IF_ERROR(session.Confirm(
        "delete branch " + name + " with " + Plural(own, "step") +
        " of its own: its writers and readers are told, its data goes with the next passes of gc"));
  }
  LS_RETURN_IF_ERROR(DeleteBranch(*stream, name, session.deadline()));
  if (session.json) {
    PrintJson({{"name", name}, {"deleted", true}});
  } else {
    PrintLine("branch " + name + " is deleted; 'lakestream gc' removes what only it held");
  }
  return kExitOk;
}

}  // namespace

Json ToJson(const std::vector<BranchSummary>& branches) {
  Json json = Json::array();
  for (const BranchSummary& branch : branches) {
    json.push_back({{"name", branch.info.name},
                    {"parent", branch.info.parent},
                    {"fork_step", branch.info.fork_step},
                    {"trim_step", branch.trim_step},
                    {"next_step", branch.next_step},
                    {"deleted", branch.deleted}});
  }
  return json;
}

void PrintBranches(const std::vector<BranchSummary>& branches) {
  Table table({"branch", "parent", ">fork", ">first step", ">end", "state"});
  for (const BranchSummary& branch : branches) {
    const auto step = [&](Step at) { return branch.deleted ? "-" : std::to_string(at); };
    table.Add({branch.info.name, branch.info.parent, std::to_string(branch.info.fork_step),
               step(branch.trim_step), step(branch.next_step),
               branch.deleted ? "deleted, being reclaimed" : "open"});
  }
  table.Print();
}

void AddBranch(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& group =
      *AddGroup(app, "branch",
                "other lines of steps that share what lies below their fork: create list delete");
  const auto named = [&](CLI::App* command) {
    command->add_option("name", options->name, "the branch's name")->required();
    return command;
  };
  CLI::App* create =
      named(AddCommand(group, session, chosen, "create", "begin a branch at a step or a checkpoint",
                       "lakestream branch create s3://bucket/stream new-mix --checkpoint epoch-1",
                       [options](Session& s) { return Create(s, *options); }));
  auto* step =
      create->add_option("--step", options->step, "the first step of its own, or")->check(Whole());
  create->add_option("--checkpoint", options->checkpoint, "the checkpoint to begin at")
      ->excludes(step);
  create->add_option("--parent", session.branch, "the branch that it leaves")
      ->capture_default_str();
  AddCommand(group, session, chosen, "list", "all branches, parents first",
             "lakestream branch list s3://bucket/stream", List);
  AddYesOption(named(AddCommand(group, session, chosen, "delete",
                                "close a branch; reclamation removes what only it held",
                                "lakestream branch delete s3://bucket/stream new-mix --yes",
                                [options](Session& s) { return Delete(s, options->name); })),
               session);
}

}  // namespace lakestream::cli

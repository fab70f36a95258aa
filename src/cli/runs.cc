#include "cli/command.h"
#include "cli/tables.h"

namespace lakestream::cli {
namespace {

struct Options {
  bool ranks = false;
  std::string detach;
};

uint64_t Lag(Step read, Step next_step) { return next_step > read ? next_step - read : 0; }

std::string Quiet(int64_t ms) { return Seconds(static_cast<double>(ms) / 1e3); }

Json RanksToJson(const RunInfo& run) {
  Json json = Json::array();
  for (const RankProgress& rank : run.ranks_seen) {
    json.push_back({{"rank", rank.rank},
                    {"read", rank.read},
                    {"durable", rank.durable},
                    {"quiet_ms", rank.quiet_ms}});
  }
  return json;
}

void PrintRanks(const std::vector<RunInfo>& runs, Step next_step) {
  Table table({"job", ">rank", ">read", ">lag", ">durable", ">quiet"});
  for (const RunInfo& run : runs) {
    for (const RankProgress& rank : run.ranks_seen) {
      table.Add({run.job, std::to_string(rank.rank), std::to_string(rank.read),
                 std::to_string(Lag(rank.read, next_step)), std::to_string(rank.durable),
                 Quiet(rank.quiet_ms)});
    }
  }
  table.Print();
}

Result<ExitCode> List(Session& session, bool ranks) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(const Retention now, GetRetention(*stream, session.deadline()));
  if (session.json) {
    Json json = ToJson(now.runs, now.next_step);
    for (size_t i = 0; ranks && i < now.runs.size(); ++i)
      json[i]["positions"] = RanksToJson(now.runs[i]);
    PrintJson(json);
  } else if (now.runs.empty()) {
    PrintMessage("no job's run is attached: no reader holds steps, none can hold producers back");
  } else if (ranks) {
    PrintRanks(now.runs, now.next_step);
  } else {
    PrintRuns(now.runs, now.next_step);
  }
  return kExitOk;
}

Result<ExitCode> Detach(Session& session, const std::string& job) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(const auto runs, ListRuns(*stream, session.deadline()));
  const auto run =
      std::find_if(runs.begin(), runs.end(), [&](const RunInfo& r) { return r.job == job; });
  if (run == runs.end()) {
    return NotFoundError("no run of a job '" + job + "' is attached; see 'lakestream runs " +
                         session.uri + "'");
  }
  LS_RETURN_IF_ERROR(session.Confirm(
      "detach run " + run->run + " of job " + job + " (heard of " + Quiet(run->quiet_ms) +
      " ago): its readers are told that it is over, and steps from " +
      std::to_string(run->durable) + " on are not kept for it"));
  LS_RETURN_IF_ERROR(DetachRun(*stream, job, run->run, session.deadline()));
  if (session.json) {
    PrintJson({{"job", job}, {"run", run->run}, {"detached", true}});
  } else {
    PrintLine("run " + run->run + " of job " + job + " is detached");
  }
  return kExitOk;
}

}  // namespace

Json ToJson(const std::vector<RunInfo>& runs, Step next_step) {
  Json json = Json::array();
  for (const RunInfo& run : runs) {
    json.push_back({{"job", run.job},
                    {"run", run.run},
                    {"ranks", run.ranks},
                    {"ranks_reporting", run.ranks_reporting},
                    {"start", run.start},
                    {"read", run.read},
                    {"lag", Lag(run.read, next_step)},
                    {"durable", run.durable},
                    {"quiet_ms", run.quiet_ms},
                    {"attached_ms", run.attached_ms}});
  }
  return json;
}

void PrintRuns(const std::vector<RunInfo>& runs, Step next_step) {
  Table table(
      {"job", "run", ">ranks", ">start", ">read", ">lag", ">durable", ">quiet", "attached"});
  for (const RunInfo& run : runs) {
    const std::string ranks = std::to_string(run.ranks_reporting) + "/" + std::to_string(run.ranks);
    table.Add({run.job, run.run, ranks, std::to_string(run.start), std::to_string(run.read),
               std::to_string(Lag(run.read, next_step)), std::to_string(run.durable),
               Quiet(run.quiet_ms), Time(run.attached_ms)});
  }
  table.Print();
}

void AddRuns(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, session, chosen, "runs", "jobs that read: how far their slowest rank is; detach one",
      "lakestream runs s3://bucket/stream --ranks", [options](Session& s) {
        return options->detach.empty() ? List(s, options->ranks) : Detach(s, options->detach);
      });
  command->add_flag("--ranks", options->ranks, "a line for each rank that has reported");
  command->add_option("--detach", options->detach,
                      "end the run of this job: it holds no steps and no producers any more");
  AddBranchOption(command, session);
  AddYesOption(command, session);
}

}  // namespace lakestream::cli

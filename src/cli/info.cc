#include "cli/command.h"
#include "cli/tables.h"
#include "lakestream/admin.h"

namespace lakestream::cli {
namespace {

Json AllToJson(const StreamStatus& status, const Retention& kept, const std::string& uri) {
  Json json = {{"uri", uri},
               {"branch", status.info.branch.name},
               {"uuid", status.info.uuid},
               {"format", status.info.format_version},
               {"created_ms", status.info.created_ms},
               {"mesh", {{"dp", status.info.spec.mesh.dp}, {"cp", status.info.spec.mesh.cp}}},
               {"version", status.version},
               {"steps", status.next_step},
               {"trim_step", kept.trim_step},
               {"sealed", status.sealed},
               {"slice_bytes", status.slice_bytes},
               {"data_objects", status.data_objects},
               {"last_commit_ms", status.last_commit_ms},
               {"snapshot_interval", status.info.spec.snapshot_interval},
               {"index_page_steps", status.info.spec.index_page_steps},
               {"zstd_level", status.info.spec.zstd_level},
               {"samples_multiple", status.info.spec.samples_multiple},
               {"reclaim_grace_ms", status.info.spec.reclaim_grace.count()},
               {"declared_producers", status.info.spec.producers},
               {"producers", Json::array()}};
  for (const ProducerInfo& producer : status.producers) {
    json["producers"].push_back({{"name", producer.name},
                                 {"session", producer.session},
                                 {"tgbs", producer.tgbs},
                                 {"finished", producer.finished},
                                 {"state_bytes", producer.state_bytes}});
  }
  json["checkpoints"] = ToJson(kept.checkpoints);
  json["runs"] = ToJson(kept.runs, kept.next_step);
  json["branches"] = ToJson(kept.branches);
  json["boundary"] = {{"released_step", kept.released_step},
                      {"released_version", kept.released_version},
                      {"release_ms", kept.release_ms}};
  json["reclaimable_steps"] = kept.reclaimable_steps;
  json["reclaimable_bytes"] = kept.reclaimable_bytes;
  return json;
}

// What a trim has given up: whether it is gone, and if not, when it can go.
std::string TrimText(const Retention& kept) {
  if (kept.trim_step == 0) return "nothing";
  std::string text = "steps below " + std::to_string(kept.trim_step);
  if (kept.reclaimable_steps == 0) return text + "; nothing is left to reclaim";
  return text + "; about " + Bytes(kept.reclaimable_bytes) + " of " +
         Plural(kept.reclaimable_steps, "step") + " left for 'lakestream gc'";
}

std::string BoundaryText(const Retention& kept) {
  if (kept.release_ms == 0) return "nothing released so far";
  return "steps below " + std::to_string(kept.released_step) + " and the log up to version " +
         std::to_string(kept.released_version) +
         (kept.now_ms >= kept.release_ms ? " may go since " : " may go from ") +
         Time(kept.release_ms) + (kept.now_ms >= kept.release_ms ? "" : " on");
}

// Those that there are, each table with a line before it.
void PrintTables(const StreamStatus& status, const Retention& kept) {
  if (!status.producers.empty()) {
    PrintLine("");
    Table table({"producer", ">session", ">TGBs", ">state", "finished"});
    for (const ProducerInfo& producer : status.producers) {
      table.Add({producer.name, producer.session == 0 ? "-" : std::to_string(producer.session),
                 std::to_string(producer.tgbs), Bytes(producer.state_bytes),
                 producer.finished ? "yes" : "no"});
    }
    table.Print();
  }
  if (!kept.checkpoints.empty()) PrintLine(""), PrintCheckpoints(kept.checkpoints);
  if (!kept.runs.empty()) PrintLine(""), PrintRuns(kept.runs, kept.next_step);
  if (!kept.branches.empty()) PrintLine(""), PrintBranches(kept.branches);
}

void PrintForPeople(const StreamStatus& status, const Retention& kept, const std::string& uri) {
  const Mesh& mesh = status.info.spec.mesh;
  const BranchInfo& branch = status.info.branch;
  PrintLine("stream    " + uri);
  if (!branch.is_main()) {
    PrintLine("branch    " + branch.name + ", from step " + std::to_string(branch.fork_step) +
              " of " + branch.parent);
  }
  PrintLine("uuid      " + status.info.uuid + ", format " +
            std::to_string(status.info.format_version));
  PrintLine("created   " + Time(status.info.created_ms));
  PrintLine("mesh      dp " + std::to_string(mesh.dp) + " x cp " + std::to_string(mesh.cp));
  PrintLine("steps     " + std::to_string(status.next_step) +
            (status.sealed ? ", sealed" : ", open"));
  PrintLine("version   " + std::to_string(status.version) + ", last commit " +
            Time(status.last_commit_ms));
  PrintLine("data      " + Bytes(status.slice_bytes) + " in " +
            Plural(status.data_objects, "object") + ", committed in all");
  PrintLine("trimmed   " + TrimText(kept));
  PrintLine("boundary  " + BoundaryText(kept));
  PrintTables(status, kept);
}

Result<ExitCode> Run(Session& session) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(const StreamStatus status, GetStatus(*stream, session.deadline()));
  LS_ASSIGN_OR_RETURN(const Retention kept, GetRetention(*stream, session.deadline()));
  const std::string uri = stream->store().Describe();
  if (session.json) {
    PrintJson(AllToJson(status, kept, uri));
  } else {
    PrintForPeople(status, kept, uri);
  }
  return kExitOk;
}

}  // namespace

void AddInfo(CLI::App& app, Session& session, Action& chosen) {
  AddBranchOption(AddCommand(app, session, chosen, "info",
                             "what a stream is, how far it has come, who keeps it",
                             "lakestream info s3://bucket/stream --json", Run),
                  session);
}

}  // namespace lakestream::cli

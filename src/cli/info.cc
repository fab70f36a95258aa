#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/admin.h"

namespace lakestream::cli {
namespace {

Json ToJson(const StreamStatus& status, const std::string& uri) {
  Json json = {{"uri", uri},
               {"uuid", status.info.uuid},
               {"format", status.info.format_version},
               {"created_ms", status.info.created_ms},
               {"mesh", {{"dp", status.info.spec.mesh.dp}, {"cp", status.info.spec.mesh.cp}}},
               {"version", status.version},
               {"steps", status.next_step},
               {"sealed", status.sealed},
               {"slice_bytes", status.slice_bytes},
               {"data_objects", status.data_objects},
               {"last_commit_ms", status.last_commit_ms},
               {"snapshot_interval", status.info.spec.snapshot_interval},
               {"index_page_steps", status.info.spec.index_page_steps},
               {"zstd_level", status.info.spec.zstd_level},
               {"declared_producers", status.info.spec.producers},
               {"producers", Json::array()}};
  for (const ProducerInfo& producer : status.producers) {
    json["producers"].push_back({{"name", producer.name},
                                 {"session", producer.session},
                                 {"tgbs", producer.tgbs},
                                 {"finished", producer.finished},
                                 {"state_bytes", producer.state_bytes}});
  }
  return json;
}

void PrintForPeople(const StreamStatus& status, const std::string& uri) {
  const Mesh& mesh = status.info.spec.mesh;
  PrintLine("stream    " + uri);
  PrintLine("uuid      " + status.info.uuid + ", format " +
            std::to_string(status.info.format_version));
  PrintLine("created   " + Time(status.info.created_ms));
  PrintLine("mesh      dp " + std::to_string(mesh.dp) + " x cp " + std::to_string(mesh.cp));
  PrintLine("steps     " + std::to_string(status.next_step) +
            (status.sealed ? ", sealed" : ", open"));
  PrintLine("version   " + std::to_string(status.version) + ", last commit " +
            Time(status.last_commit_ms));
  PrintLine("data      " + Bytes(status.slice_bytes) + " in " +
            Plural(status.data_objects, "object"));
  if (status.producers.empty()) return;
  PrintLine("");
  Table table({"producer", ">session", ">TGBs", ">state", "finished"});
  for (const ProducerInfo& producer : status.producers) {
    table.Add({producer.name, producer.session == 0 ? "-" : std::to_string(producer.session),
               std::to_string(producer.tgbs), Bytes(producer.state_bytes),
               producer.finished ? "yes" : "no"});
  }
  table.Print();
}

Result<ExitCode> Run(Session& session) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_ASSIGN_OR_RETURN(const StreamStatus status, GetStatus(*stream, session.deadline()));
  const std::string uri = stream->store().Describe();
  if (session.json) {
    PrintJson(ToJson(status, uri));
  } else {
    PrintForPeople(status, uri);
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

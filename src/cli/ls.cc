#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/admin.h"

namespace lakestream::cli {
namespace {

struct Options {
  std::string kind = "steps";
  uint64_t first = 0;
  uint64_t count = 20;
  bool slices = false;
};

Json ToJson(const StepInfo& info, const Mesh& mesh) {
  Json json = {{"step", info.step},
               {"object", info.object},
               {"session", info.session},
               {"bytes", info.bytes},
               {"slices", Json::array()}};
  for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
    for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
      const ByteRange& range = info.slices[mesh.SliceIndex(dp, cp)];
      json["slices"].push_back(
          {{"dp", dp}, {"cp", cp}, {"offset", range.offset}, {"bytes", range.size}});
    }
  }
  return json;
}

void PrintForPeople(const std::vector<StepInfo>& steps, const Mesh& mesh, bool slices) {
  Table table({">step", ">bytes", ">session", slices ? "slice" : "slices", "object"});
  for (const StepInfo& info : steps) {
    const std::string session = std::to_string(info.session);
    if (!slices) {
      table.Add({std::to_string(info.step), Bytes(info.bytes), session,
                 std::to_string(info.slices.size()), info.object});
      continue;
    }
    for (uint32_t dp = 0; dp < mesh.dp; ++dp) {
      for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
        const ByteRange& range = info.slices[mesh.SliceIndex(dp, cp)];
        table.Add({std::to_string(info.step), Bytes(range.size), session,
                   "dp " + std::to_string(dp) + " cp " + std::to_string(cp),
                   info.object + " at " + std::to_string(range.offset)});
      }
    }
  }
  table.Print();
}

Status ShowUsage(Session& session, Stream& stream) {
  LS_ASSIGN_OR_RETURN(const auto usage, GetUsage(stream, session.deadline()));
  Json json = Json::array();
  Table table({"kind", ">objects", ">bytes"});
  for (const KindUsage& of_kind : usage) {
    json.push_back(
        {{"kind", of_kind.kind}, {"objects", of_kind.objects}, {"bytes", of_kind.bytes}});
    table.Add({of_kind.kind, std::to_string(of_kind.objects), Bytes(of_kind.bytes)});
  }
  session.json ? PrintJson(json) : table.Print();
  return OkStatus();
}

Status ShowObjects(Session& session, Stream& stream, const Options& options) {
  LS_ASSIGN_OR_RETURN(const auto objects, ListObjects(stream, options.kind, options.first,
                                                      options.count, session.deadline()));
  Json json = Json::array();
  Table table({">bytes", "written", "object"});
  for (const ObjectInfo& object : objects) {
    json.push_back(
        {{"object", object.key}, {"bytes", object.size}, {"modified_ms", object.modified_ms}});
    table.Add({Bytes(object.size), Time(object.modified_ms), object.key});
  }
  if (session.json) {
    PrintJson(json);
  } else if (objects.empty()) {
    PrintMessage("there is no object of this kind");
  } else {
    table.Print();
  }
  return OkStatus();
}

Status ShowSteps(Session& session, Stream& stream, const Options& options) {
  LS_ASSIGN_OR_RETURN(const auto steps,
                      ListSteps(stream, options.first, options.count, session.deadline()));
  const Mesh& mesh = stream.info().spec.mesh;
  if (session.json) {
    Json json = Json::array();
    for (const StepInfo& info : steps) json.push_back(ToJson(info, mesh));
    PrintJson(json);
  } else if (steps.empty()) {
    PrintMessage("there is no step at or after " + std::to_string(options.first));
  } else {
    if (steps.front().step > options.first)
      PrintMessage("steps below " + std::to_string(steps.front().step) + " were trimmed");
    PrintForPeople(steps, mesh, options.slices);
  }
  return OkStatus();
}

Result<ExitCode> Run(Session& session, const Options& options) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  LS_RETURN_IF_ERROR(options.kind == "steps" ? ShowSteps(session, *stream, options)
                     : options.kind == "all" ? ShowUsage(session, *stream)
                                             : ShowObjects(session, *stream, options));
  return kExitOk;
}

}  // namespace

void AddLs(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddCommand(app, session, chosen, "ls", "steps and where their bytes lie, or objects by kind",
                 "lakestream ls s3://bucket/stream --from 1000 --count 5 --slices",
                 [options](Session& s) { return Run(s, *options); });
  command->add_option("--from", options->first, "first step; or version, page, session")
      ->check(Whole())
      ->capture_default_str();
  command->add_option("--count", options->count, "how many")->check(Whole())->capture_default_str();
  command
      ->add_option("--kind", options->kind,
                   "steps; or the objects of a kind; or all: how much there is of each kind")
      ->check(CLI::IsMember({"steps", "all", "data", "log", "snapshot", "index", "head", "boundary",
                             "branch", "part", "watermark", "probe"}))
      ->capture_default_str();
  command->add_flag("--slices", options->slices, "a line for each slice");
  AddBranchOption(command, session);
}

}  // namespace lakestream::cli

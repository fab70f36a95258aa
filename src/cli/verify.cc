#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/admin.h"

namespace lakestream::cli {
namespace {

Json ToJson(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) {
    Json item = {{"kind", finding.kind}, {"object", finding.object}, {"detail", finding.detail}};
    if (finding.step) item["step"] = *finding.step;
    json.push_back(std::move(item));
  }
  return json;
}

void PrintForPeople(const VerifyReport& report) {
  const auto print = [](const char* severity, const Finding& finding) {
    PrintLine(std::string(severity) + " " + finding.kind + ": " + finding.object +
              (finding.step ? " (step " + std::to_string(*finding.step) + ")" : "") + " " +
              finding.detail);
  };
  for (const Finding& finding : report.errors) print("error  ", finding);
  for (const Finding& finding : report.warnings) print("warning", finding);
  PrintLine((report.branches > 1 ? Plural(report.branches, "branch", "branches") + ", " : "") +
            Plural(report.versions, "version") + ", " + Plural(report.steps, "step") + ", " +
            Plural(report.objects, "data object") + ", " + Bytes(report.bytes_checked) +
            " checked: " + Plural(report.errors.size(), "error") + ", " +
            Plural(report.warnings.size(), "warning"));
  if (report.reclaimable_objects > 0) {
    PrintLine(Plural(report.reclaimable_objects, "object") + ", " +
              Bytes(report.reclaimable_bytes) + ", given up: 'lakestream gc' removes them in time");
  }
}

Result<ExitCode> Run(Session& session, const VerifyOptions& options) {
  LS_ASSIGN_OR_RETURN(auto stream, session.OpenStream());
  VerifyReport report;
  {
    Progress progress("verify");
    VerifyOptions with_progress = options;
    with_progress.progress = [&](uint64_t done, uint64_t total) { progress.Show(done, total); };
    LS_ASSIGN_OR_RETURN(report, Verify(*stream, with_progress, session.deadline()));
  }
  if (session.json) {
    PrintJson({{"branches", report.branches},
               {"versions", report.versions},
               {"steps", report.steps},
               {"objects", report.objects},
               {"bytes_checked", report.bytes_checked},
               {"reclaimable_objects", report.reclaimable_objects},
               {"reclaimable_bytes", report.reclaimable_bytes},
               {"errors", ToJson(report.errors)},
               {"warnings", ToJson(report.warnings)}});
  } else {
    PrintForPeople(report);
  }
  return report.errors.empty() ? kExitOk : kExitFindings;
}

}  // namespace

void AddVerify(CLI::App& app, Session& session, Action& chosen) {
  auto no_data = std::make_shared<bool>(false);
  CLI::App* command = AddCommand(
      app, session, chosen, "verify",
      "check a whole stream, or a branch: order, checksums, references, orphans",
      "lakestream verify s3://bucket/stream --timeout 0",
      [no_data](Session& s) { return Run(s, {.read_data = !*no_data, .progress = {}}); });
  command->add_flag("--no-data", *no_data,
                    "presence and size of data objects only; read no slices");
  AddBranchOption(command, session);
}

}  // namespace lakestream::cli

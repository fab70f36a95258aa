#include "admin/verify.h"

#include <set>

#include "base/text.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

// Data objects that no version refers to. A running producer has some for a while: it uploads
// before it commits.
Status FindOrphans(const LedgerContext& context, const std::set<DataObjectId>& referred,
                   Findings& findings, const Deadline& deadline) {
  ListOptions options{.prefix = DataPrefix(context.branch())};
  while (true) {
    LS_ASSIGN_OR_RETURN(const ListPage page, context.store.List(options, deadline));
    for (const ObjectInfo& object : page.objects) {
      const auto id = ParseDataKey(object.key, context.branch());
      if (!id) {
        findings.Warning("orphan", object.key,
                         "is no data object by its name; delete it if it is not yours");
      } else if (!referred.contains(*id)) {
        findings.Warning("orphan", object.key,
                         Str("no version refers to its ", object.size,
                             " bytes: a producer is about to commit it, or died before it did"));
      }
    }
    if (!page.more || page.objects.empty()) return OkStatus();
    options.start_after = page.objects.back().key;
  }
}

}  // namespace

void Findings::Error(std::string kind, const std::string& key, std::optional<Step> step,
                     std::string detail) {
  report_.errors.push_back(
      {std::move(kind), Str(store_.Describe(), "/", key), step, std::move(detail)});
}

void Findings::Warning(std::string kind, const std::string& key, std::string detail) {
  report_.warnings.push_back(
      {std::move(kind), Str(store_.Describe(), "/", key), std::nullopt, std::move(detail)});
}

Result<VerifyReport> Verify(Stream& stream, const VerifyOptions& options,
                            const Deadline& deadline) {
  const LedgerContext context = ContextOf(stream);
  VerifyReport report;
  Findings findings(stream.store(), report);
  // Only for the progress: a damaged manifest is what the walk below is for.
  Follower follower(context);
  if (Status started = follower.Start(deadline); !started.ok() && started.code() != Code::kDataLoss)
    return started;
  const uint64_t total = follower.state().data_objects;
  std::set<DataObjectId> referred;
  Status data_status;
  const auto on_object = [&](const ExpectedObject& expected) {
    referred.insert({expected.entry.session, expected.entry.object});
    if (!data_status.ok()) return;
    data_status = VerifyObject(context, expected, options.read_data, findings, report, deadline);
    if (options.progress) options.progress(report.objects, total);
  };
  LS_RETURN_IF_ERROR(VerifyManifest(context, findings, report, on_object, deadline));
  LS_RETURN_IF_ERROR(data_status);
  LS_RETURN_IF_ERROR(FindOrphans(context, referred, findings, deadline));
  return report;
}

}  // namespace lakestream

#include <algorithm>

#include "admin/verify.h"
#include "base/text.h"

namespace lakestream {
namespace {

constexpr char kLogAdvice[] =
    "restore the object from a copy of the store; nothing behind it can be read";

class ManifestWalk {
 public:
  ManifestWalk(const LedgerContext& context, Findings& findings, VerifyReport& report,
               const std::function<void(ExpectedObject)>& on_object, const Deadline& deadline)
      : context_(context),
        findings_(findings),
        report_(report),
        on_object_(on_object),
        deadline_(deadline) {}

  Status Run() {
    LS_ASSIGN_OR_RETURN(const Version newest, NewestListed());
    State state = EmptyState(context_.info);
    while (true) {
      const Version version = state.version + 1;
      const std::string key = LogKey(context_.branch(), version);
      auto read = ReadSlot(context_, version, deadline_);
      if (!read.ok() && !IsDamage(read.status())) return read.status();
      if (!read.ok()) {
        findings_.Error("bad_record", key, std::nullopt,
                        Str(read.status().message(), "; ", kLogAdvice));
        break;
      }
      if (!*read) {
        if (version <= newest) {
          findings_.Error("gap", key, std::nullopt,
                          Str("is missing, but versions up to ", newest, " exist; ", kLogAdvice));
        }
        break;
      }
      auto pages = Apply(context_.info, (*read)->record, (*read)->hash, state);
      if (!pages.ok()) {
        findings_.Error("bad_record", key, std::nullopt,
                        Str(pages.status().message(), "; ", kLogAdvice));
        break;
      }
      ++report_.versions;
      Publish((*read)->record, state);
      LS_RETURN_IF_ERROR(CheckDerived(state, *pages));
    }
    report_.steps = state.next_step;
    return OkStatus();
  }

 private:
  static bool IsDamage(const Status& status) {
    return status.code() == Code::kDataLoss || status.reason() == Reason::kFormatTooNew;
  }

  // The largest version in a listing of the log: what lies behind a gap.
  Result<Version> NewestListed() {
    const std::string prefix = LogPrefix(context_.branch());
    ListOptions options{.prefix = prefix};
    Version newest = 0;
    while (true) {
      LS_ASSIGN_OR_RETURN(const ListPage page, context_.store.List(options, deadline_));
      for (const ObjectInfo& object : page.objects) {
        const auto version = ParseNumberedKey(object.key, prefix);
        if (!version)
          findings_.Warning("orphan", object.key,
                            "is no log record by its name; delete it if it is not yours");
        newest = std::max(newest, version.value_or(0));
      }
      if (!page.more || page.objects.empty()) return newest;
      options.start_after = page.objects.back().key;
    }
  }

  void Publish(const Record& record, const State& state) {
    Step step = record.first_step;
    for (const Change& change : record.changes) {
      const auto* publish = std::get_if<PublishChange>(&change);
      if (publish == nullptr) continue;
      const auto owner = state.producer_of_session.find(publish->entry.session);
      on_object_(
          {step, publish->entry, owner == state.producer_of_session.end() ? "" : owner->second});
      step += publish->entry.tgb_count();
    }
  }

  Status CheckDerived(const State& state, const std::vector<IndexPage>& pages) {
    if (state.version % context_.info.spec.snapshot_interval == 0) {
      LS_RETURN_IF_ERROR(Compare("bad_snapshot", SnapshotKey(context_.branch(), state.version),
                                 EncodeSnapshot(context_.info, state)));
    }
    for (const IndexPage& page : pages) {
      LS_RETURN_IF_ERROR(Compare("bad_index", IndexKey(context_.branch(), page.page),
                                 EncodeIndexPage(context_.info, page)));
    }
    return OkStatus();
  }

  // Snapshots and pages are pure functions of the log: stored bytes must be exactly these.
  Status Compare(const char* kind, const std::string& key, const std::vector<uint8_t>& expected) {
    auto stored = GetBytes(context_.store, key, deadline_);
    if (!stored.ok() && stored.status().code() != Code::kNotFound) return stored.status();
    if (!stored.ok()) {
      findings_.Warning(
          kind, key, "is missing: reading is slower than it need be; a later commit may write it");
    } else if (!std::ranges::equal(stored->bytes(), expected)) {
      findings_.Error(kind, key, std::nullopt,
                      "differs from what the log says: it is damaged, or was written by a "
                      "defective version; delete it "
                      "(the log holds all that it says)");
    }
    return OkStatus();
  }

  const LedgerContext& context_;
  Findings& findings_;
  VerifyReport& report_;
  const std::function<void(ExpectedObject)>& on_object_;
  const Deadline& deadline_;
};

}  // namespace

Status VerifyManifest(const LedgerContext& context, Findings& findings, VerifyReport& report,
                      const std::function<void(ExpectedObject)>& on_object,
                      const Deadline& deadline) {
  return ManifestWalk(context, findings, report, on_object, deadline).Run();
}

}  // namespace lakestream

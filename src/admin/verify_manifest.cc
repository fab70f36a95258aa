#include <algorithm>

#include "admin/verify.h"
#include "base/text.h"

namespace lakestream {
namespace {

constexpr char kLogAdvice[] =
    "restore the object from a copy of the store; nothing behind it can be read";

class ManifestWalk {
 public:
  ManifestWalk(const LedgerContext& context, const RetainedPart& retained, Findings& findings,
               VerifyReport& report, const std::function<void(ExpectedObject)>& on_object,
               const Deadline& deadline)
      : context_(context),
        retained_(retained),
        findings_(findings),
        report_(report),
        on_object_(on_object),
        deadline_(deadline) {}

  Status Run(State& state) {
    LS_ASSIGN_OR_RETURN(const Version newest, NewestListed());
    state = EmptyState(context_.info);
    if (retained_.boundary.snapshot > 0) {
      LS_ASSIGN_OR_RETURN(const bool begun, BeginAtSnapshot(state));
      if (!begun) return OkStatus();
    }
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
    const Step first = std::max(retained_.first_step, context_.info.branch.fork_step);
    report_.steps += state.next_step - std::min(first, state.next_step);
    return OkStatus();
  }

 private:
  static bool IsDamage(const Status& status) {
    return status.code() == Code::kDataLoss || status.reason() == Reason::kFormatTooNew;
  }

  // What the log said up to the boundary: its snapshot, and the index pages of retained steps that
  // were sealed by then. False if the snapshot cannot be used.
  Result<bool> BeginAtSnapshot(State& state) {
    const Version version = retained_.boundary.snapshot;
    const std::string key = SnapshotKey(context_.branch(), version);
    const auto bad = [&](const char* kind, const std::string& what) {
      findings_.Error(kind, key, std::nullopt,
                      Str(what,
                          ", and the log that it was made from is reclaimed; restore the "
                          "object from a copy of the store; nothing can be read without it"));
      return false;
    };
    auto bytes = GetBytes(context_.store, key, deadline_);
    if (bytes.status().code() == Code::kNotFound) return bad("missing_snapshot", "is missing");
    LS_RETURN_IF_ERROR(bytes.status());
    auto decoded = DecodeSnapshot(context_.info, bytes->bytes());
    if (!decoded.ok() && !IsDamage(decoded.status())) return decoded.status();
    if (!decoded.ok()) return bad("bad_snapshot", std::string(decoded.status().message()));
    if (decoded->version != version) return bad("bad_snapshot", "is that of another version");
    state = *std::move(decoded);
    report_.versions += version;
    LS_RETURN_IF_ERROR(CheckEarlierPages(state));
    for (const PlacedEntry& placed : state.tail) Expect(placed, state);
    return true;
  }

  Status CheckEarlierPages(const State& at) {
    const uint64_t steps = context_.info.spec.index_page_steps;
    const Step fork = context_.info.branch.fork_step;
    for (uint64_t page = std::max(retained_.first_step, fork) / steps; page < at.next_step / steps;
         ++page) {
      const std::string key = IndexKey(context_.branch(), page);
      const Step from = std::max(page * steps, fork);
      const auto bad = [&](const char* kind, const std::string& what) {
        findings_.Error(kind, key, from,
                        Str(what,
                            ", and the log that it was made from is reclaimed; restore the "
                            "object from a copy of the store, or its ",
                            steps, " steps cannot be read"));
      };
      auto bytes = GetBytes(context_.store, key, deadline_);
      if (!bytes.ok() && bytes.status().code() != Code::kNotFound) return bytes.status();
      if (!bytes.ok()) {
        bad("missing_index", "is missing");
        continue;
      }
      auto decoded = DecodeIndexPage(context_.info, page, bytes->bytes());
      if (!decoded.ok()) {
        bad("bad_index", std::string(decoded.status().message()));
        continue;
      }
      for (const PlacedEntry& placed : decoded->entries) Expect(placed, at);
    }
    return OkStatus();
  }

  // An object that crosses the ends of pages is in each of them.
  void Expect(const PlacedEntry& placed, const State& state) {
    if (placed.end_step() <= expected_up_to_) return;
    expected_up_to_ = placed.end_step();
    const auto owner = state.producer_of_session.find(placed.entry.session);
    on_object_({placed.first_step, placed.entry,
                owner == state.producer_of_session.end() ? "" : owner->second, context_.branch()});
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
      Expect({step, publish->entry}, state);
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
  const RetainedPart& retained_;
  Step expected_up_to_ = 0;
  Findings& findings_;
  VerifyReport& report_;
  const std::function<void(ExpectedObject)>& on_object_;
  const Deadline& deadline_;
};

}  // namespace

Status VerifyManifest(const LedgerContext& context, const RetainedPart& retained,
                      Findings& findings, VerifyReport& report,
                      const std::function<void(ExpectedObject)>& on_object, State& state,
                      const Deadline& deadline) {
  return ManifestWalk(context, retained, findings, report, on_object, deadline).Run(state);
}

}  // namespace lakestream

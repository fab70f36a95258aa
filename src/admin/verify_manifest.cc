#include <algorithm>

#include "admin/verify.h"
#include "base/text.h"
#include "lifecycle/boundary_store.h"

namespace lakestream {
namespace {

constexpr char kCopyAdvice[] = "restore the object from a copy of the store";

bool IsDamage(const Status& status) {
  return status.code() == Code::kDataLoss || status.reason() == Reason::kFormatTooNew ||
         status.reason() == Reason::kStreamMismatch;
}

class ManifestWalk {
 public:
  ManifestWalk(const Stream& stream, BranchCheck& branch, Findings& findings,
               const Deadline& deadline)
      : branch_(branch),
        state_(branch.state),
        context_(branch.Context(stream)),
        interval_(branch.info.spec.snapshot_interval),
        findings_(findings),
        deadline_(deadline) {}

  Status Run() {
    LS_RETURN_IF_ERROR(ListLog());
    LS_ASSIGN_OR_RETURN(const bool boundary_known, ReadBoundaryObject());
    if (branch_.closed) return OkStatus();
    LS_ASSIGN_OR_RETURN(bool more, Begin(boundary_known));
    while (more) {
      LS_ASSIGN_OR_RETURN(more, Next());
    }
    return OkStatus();
  }

 private:
  // The smallest and largest version in a listing of the log.
  Status ListLog() {
    ListOptions options{.prefix = LogPrefix(context_.branch())};
    while (true) {
      LS_ASSIGN_OR_RETURN(const ListPage page, context_.store.List(options, deadline_));
      for (const ObjectInfo& object : page.objects) {
        const auto version = ParseNumberedKey(object.key, options.prefix);
        if (!version) continue;  // a foreign name, see verify_leftovers.cc
        if (oldest_ == 0) oldest_ = *version;
        newest_ = *version;
      }
      if (!page.more || page.objects.empty()) return OkStatus();
      options.start_after = page.objects.back().key;
    }
  }

  // False: there is one, or should be, and it cannot be read.
  Result<bool> ReadBoundaryObject() {
    const std::string key = BoundaryKey(context_.branch());
    auto stored = ReadBoundary(context_.store, context_.info, context_.branch(), deadline_);
    if (!stored.ok() && !IsDamage(stored.status())) return stored.status();
    if (!stored.ok()) {
      findings_.Error("bad_boundary", key, std::nullopt,
                      Str(stored.status().message(), "; ", kCopyAdvice,
                          ", nothing can be read or written until then"));
      return false;
    }
    branch_.boundary = stored->boundary;
    branch_.closed = stored->boundary.closed;
    if (!stored->etag.empty() || oldest_ <= 1) return true;
    findings_.Error("missing_boundary", key, std::nullopt,
                    Str("is missing, though the log before version ", oldest_,
                        " is reclaimed: a client without a hint takes the branch for empty; stop "
                        "all writers and ",
                        kCopyAdvice));
    return false;
  }

  // To the state that the log is read from. False: there is none.
  Result<bool> Begin(bool boundary_known) {
    state_ = EmptyState(context_.info);
    const Version snapshot = branch_.boundary.snapshot;
    if (!boundary_known && oldest_ > 1) return Resume(oldest_ - 1);
    Remember();
    if (snapshot == 0) return true;
    LS_ASSIGN_OR_RETURN(const std::string damage, Load(snapshot));
    if (damage.empty()) return true;
    return Report("bad_snapshot", SnapshotKey(context_.branch(), snapshot), snapshot + 1,
                  Str(damage, ", and the log before it is reclaimed"));
  }

  // One version further. False: that was all.
  Result<bool> Next() {
    const Version version = state_.version + 1;
    const std::string key = LogKey(context_.branch(), version);
    auto read = ReadSlot(context_, version, deadline_);
    if (!read.ok() && !IsDamage(read.status())) return read.status();
    if (!read.ok()) return Report("bad_record", key, version, read.status().message());
    if (!*read) return NextAfterGap(version, key);
    auto pages = Apply(context_.info, (*read)->record, (*read)->hash, state_);
    if (!pages.ok()) {
      LS_RETURN_IF_ERROR(Rewind(version - 1));
      return Report("bad_record", key, version, pages.status().message());
    }
    ++findings_.report().versions;
    for (const IndexPage& page : *pages)
      branch_.pages[page.page] = HashBytes128(EncodeIndexPage(context_.info, page));
    if (state_.version % interval_ != 0) return true;
    Remember();
    LS_RETURN_IF_ERROR(CompareSnapshot());
    return true;
  }

  Result<bool> NextAfterGap(Version version, const std::string& key) {
    if (version > newest_) return false;
    // A reclaimer may have been at work meanwhile.
    auto now = ReadBoundary(context_.store, context_.info, context_.branch(), deadline_);
    if (now.ok() && now->boundary.first_kept() > version) {
      branch_.boundary = now->boundary;
      return Begin(true);
    }
    return Report("gap", key, version, Str("is missing, but versions up to ", newest_, " exist"));
  }

  // Damage at `version`: goes on behind it, if anything is there to go on from.
  Result<bool> Report(const char* kind, const std::string& key, Version version,
                      const std::string& what) {
    LS_ASSIGN_OR_RETURN(const bool resumed, Resume(version));
    findings_.Error(kind, key, std::nullopt,
                    resumed
                        ? Str(what, "; ", kCopyAdvice,
                              " (readers go on from the snapshot of version ", state_.version, ")")
                        : Str(what, "; stop all writers and ", kCopyAdvice,
                              ", nothing behind it can be read until then"));
    return resumed;
  }

  // Loads the first intact snapshot at or above `version`. If there is none, the state stays.
  Result<bool> Resume(Version version) {
    for (Version at = (version + interval_ - 1) / interval_ * interval_; at <= newest_;
         at += interval_) {
      LS_ASSIGN_OR_RETURN(const std::string damage, Load(at));
      if (damage.empty()) return true;
    }
    branch_.whole = false;
    return false;
  }

  // The state of a stored snapshot; or what is wrong with it.
  Result<std::string> Load(Version version) {
    auto bytes = GetBytes(context_.store, SnapshotKey(context_.branch(), version), deadline_);
    if (bytes.status().code() == Code::kNotFound) return std::string("is missing");
    LS_RETURN_IF_ERROR(bytes.status());
    auto state = DecodeSnapshot(context_.info, bytes->bytes());
    if (!state.ok()) return state.status().message();
    if (state->version != version) return Str("is that of version ", state->version);
    state_ = *std::move(state);
    Remember();
    return std::string();
  }

  // Now and then, so that what a corrupt record has done to the state can be undone.
  void Remember() { remembered_ = state_; }
  Status Rewind(Version version) {
    state_ = remembered_;
    while (state_.version < version) {
      LS_ASSIGN_OR_RETURN(const auto read, ReadSlot(context_, state_.version + 1, deadline_));
      if (!read) return UnavailableError("the log changed while it was verified; try again");
      LS_RETURN_IF_ERROR(Apply(context_.info, read->record, read->hash, state_).status());
    }
    return OkStatus();
  }

  // A snapshot is a pure function of the log: its bytes must be exactly these.
  Status CompareSnapshot() {
    const std::string key = SnapshotKey(context_.branch(), state_.version);
    auto stored = GetBytes(context_.store, key, deadline_);
    if (!stored.ok() && stored.status().code() != Code::kNotFound) return stored.status();
    if (!stored.ok()) {
      findings_.Warning("bad_snapshot", key,
                        "is missing: reading is slower than it need be; a later commit may write "
                        "it");
    } else if (!std::ranges::equal(stored->bytes(), EncodeSnapshot(context_.info, state_))) {
      findings_.Error("bad_snapshot", key, std::nullopt,
                      "differs from what the log says: it is damaged, or was written by a "
                      "defective version; delete it (the log holds all that it says)");
    }
    return OkStatus();
  }

  BranchCheck& branch_;
  State& state_;
  const LedgerContext context_;
  const uint64_t interval_;
  Findings& findings_;
  const Deadline& deadline_;
  Version oldest_ = 0;
  Version newest_ = 0;
  State remembered_;
};

}  // namespace

Status VerifyManifest(const Stream& stream, BranchCheck& branch, Findings& findings,
                      const Deadline& deadline) {
  return ManifestWalk(stream, branch, findings, deadline).Run();
}

}  // namespace lakestream

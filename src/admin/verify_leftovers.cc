// One listing, key by key: is it needed, given up and waiting for reclamation, or does nothing lead
// to it?
#include <charconv>

#include "admin/verify.h"
#include "base/text.h"
#include "lifecycle/boundary_store.h"

namespace lakestream {
namespace {

// Above so many, orphans are only counted: a stream that was never reclaimed may have millions.
constexpr uint64_t kOrphansNamed = 100;

// "kind/branch/..." of a key.
struct KeyParts {
  std::string_view kind;
  std::string_view branch;
};
KeyParts Split(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {key, ""};
  const std::string_view rest = key.substr(slash + 1);
  return {key.substr(0, slash), rest.substr(0, rest.find('/'))};
}

class Leftovers {
 public:
  Leftovers(const Stream& stream, const Branches& branches, Findings& findings,
            const Deadline& deadline)
      : stream_(stream), findings_(findings), deadline_(deadline) {
    for (const BranchCheck& branch : branches) {
      branches_[branch.name()] = &branch;
      complete_ = complete_ && (branch.whole || branch.closed);
    }
  }

  Status Scan(const std::string& prefix) {
    ListOptions options{.prefix = prefix};
    while (true) {
      LS_ASSIGN_OR_RETURN(const ListPage page, stream_.store().List(options, deadline_));
      for (const ObjectInfo& object : page.objects) LS_RETURN_IF_ERROR(Look(object));
      if (!page.more || page.objects.empty()) break;
      options.start_after = page.objects.back().key;
    }
    return OkStatus();
  }

  void ReportInBulk() {
    for (const auto& [prefix, stray] : strays_) {
      findings_.Warning("orphan", prefix,
                        Str(stray.Text(),
                            " belong to no branch of this stream; delete them if they are "
                            "not yours"));
    }
    for (const auto& [prefix, more] : more_) {
      findings_.Warning(
          "orphan", prefix,
          Str(more.Text(), " more, like those above; 'lakestream gc' removes what is dead"));
    }
  }

 private:
  // A listing brings boundary/ first, then branch/, then all that belongs to branches.
  Status Look(const ObjectInfo& object) {
    const KeyParts parts = Split(object.key);
    if (object.key == kStreamKey) return OkStatus();
    if (parts.kind == "probe") return Reclaimable(object), OkStatus();
    const bool ours = parts.kind == "boundary" || parts.kind == "branch" || parts.kind == "head" ||
                      parts.kind == "data" || parts.kind == "log" || parts.kind == "snapshot" ||
                      parts.kind == "index" || parts.kind == "part" || parts.kind == "watermark";
    if (!ours) return Foreign(object), OkStatus();
    const auto found = branches_.find(parts.branch);
    const BranchCheck* const branch = found == branches_.end() ? nullptr : found->second;
    if (branch == nullptr || branch->closed) return LookOutside(object, parts, branch != nullptr);
    if (branch->is_ancestor) return OkStatus();
    if (parts.kind == "head") return LookAtHint(object, *branch);
    if (parts.kind == "data") LookAtData(object, *branch);
    if (parts.kind == "log" || parts.kind == "snapshot" || parts.kind == "index")
      LookAtManifest(object, parts, *branch);
    if (parts.kind == "part") LookAtPart(object, *branch);
    if (parts.kind == "watermark") LookAtWatermark(object, *branch);
    return OkStatus();
  }

  // Of a branch that is deleted, or that the log does not know.
  Status LookOutside(const ObjectInfo& object, const KeyParts& parts, bool closed) {
    const std::string name(parts.branch);
    if (parts.kind == "boundary" && !closed && !gone_.contains(name)) {
      if (!ValidateName("branch", name).ok()) return Foreign(object), OkStatus();
      auto stored = ReadBoundary(stream_.store(), stream_.info(), name, deadline_);
      // A deleted branch leaves its boundary and its description: names are never used again.
      if (stored.ok() && stored->boundary.closed) gone_.insert(name);
      if (!stored.ok() && stored.status().code() != Code::kDataLoss) return stored.status();
      if (gone_.contains(name)) return OkStatus();
    }
    const bool tombstone = parts.kind == "boundary" || parts.kind == "branch";
    if (closed || gone_.contains(name)) {
      if (!tombstone) Reclaimable(object);
      return OkStatus();
    }
    if (!complete_) return OkStatus();  // damage may hide the fork
    if (parts.kind == "branch") {
      findings_.Error(
          "dangling_reference", object.key, std::nullopt,
          "no branch forks it, so its steps cannot be relied on: its parent's log is not "
          "the one that it was made from; restore the log from a copy of the store, or "
          "delete this description");
      return OkStatus();
    }
    Bulk& stray = strays_[Str(parts.kind, "/", name, tombstone || parts.kind == "head" ? "" : "/")];
    stray.Add(object);
    return OkStatus();
  }

  Status LookAtHint(const ObjectInfo& object, const BranchCheck& branch) {
    auto bytes = GetBytes(stream_.store(), object.key, deadline_);
    if (bytes.status().code() == Code::kNotFound) return OkStatus();
    LS_RETURN_IF_ERROR(bytes.status());
    const auto version = DecodeHeadHint(bytes->bytes());
    std::string fault = version.ok() ? "" : version.status().message();
    if (version.ok() && *version > branch.state.version && branch.whole) {
      auto slot = stream_.store().Head(LogKey(branch.name(), *version), deadline_);
      if (slot.status().code() == Code::kNotFound)
        fault = Str("names version ", *version, ", which is not there");
    }
    if (!fault.empty()) {
      findings_.Warning("bad_hint", object.key,
                        Str(fault,
                            "; readers search the newest version instead, the next commit "
                            "writes it anew"));
    }
    return OkStatus();
  }

  void LookAtData(const ObjectInfo& object, const BranchCheck& branch) {
    const auto id = ParseDataKey(object.key, branch.name());
    if (!id) return Foreign(object);
    const State& state = branch.state;
    // Where the manifest is damaged, what looks like an orphan may be all that is left of a step.
    const bool known = branch.whole && branch.found_all && id->session <= state.sessions_opened;
    if (!known || branch.referred.contains(*id)) return;
    if (branch.given_up.contains(*id)) return Reclaimable(object);
    if (++orphans_named_ > kOrphansNamed) return more_[DataPrefix(branch.name())].Add(object);
    const auto owner = state.producer_of_session.find(id->session);
    const bool current = owner != state.producer_of_session.end() && !state.sealed;
    if (current && id->object >= state.rows.at(owner->second).next_object) {
      return findings_.Warning(
          "unpublished", object.key,
          Str("session ", id->session, " of producer ", owner->second, " has uploaded its ",
              object.size,
              " bytes and not committed them: it is about to, or has died; 'lakestream "
              "gc' removes it after the producer was started again, or after a week"));
    }
    findings_.Warning("orphan", object.key,
                      Str("session ", id->session, " ended without committing its ", object.size,
                          " bytes; nothing is lost, 'lakestream gc' removes it"));
  }

  void LookAtManifest(const ObjectInfo& object, const KeyParts& parts, const BranchCheck& branch) {
    const auto number = ParseNumberedKey(object.key, Str(parts.kind, "/", parts.branch, "/"));
    if (!number) return Foreign(object);
    const uint64_t steps = branch.info.spec.index_page_steps;
    const auto is_page_needed = [&] {
      for (const BranchCheck::Need& need : branch.needs)
        if (need.range.Meets(*number * steps, (*number + 1) * steps)) return true;
      return false;
    };
    const bool given_up = (parts.kind == "log" && *number < branch.boundary.first_kept()) ||
                          (parts.kind == "snapshot" && *number < branch.boundary.snapshot) ||
                          (parts.kind == "index" && !is_page_needed());
    if (given_up) Reclaimable(object);
  }

  void LookAtPart(const ObjectInfo& object, const BranchCheck& branch) {
    const auto begun = ParsePartKey(object.key, branch.name());
    if (!begun) return Foreign(object);
    for (const auto& [name, row] : branch.state.checkpoints)
      if (row.begun == *begun && !row.live) return;
    if (*begun <= branch.state.version) Reclaimable(object);
  }

  void LookAtWatermark(const ObjectInfo& object, const BranchCheck& branch) {
    for (const auto& [job, row] : branch.state.runs)
      if (object.key.starts_with(WatermarksPrefix(branch.name(), job, row.run))) return;
    Reclaimable(object);
  }

  void Reclaimable(const ObjectInfo& object) {
    ++findings_.report().reclaimable_objects;
    findings_.report().reclaimable_bytes += object.size;
  }
  void Foreign(const ObjectInfo& object) {
    findings_.Warning("foreign", object.key,
                      "is no object of a stream by its name; delete it if it is not yours");
  }

  struct Bulk {
    void Add(const ObjectInfo& object) {
      ++objects;
      bytes += object.size;
    }
    std::string Text() const {
      return Str(objects, objects == 1 ? " object, " : " objects, ", bytes, " bytes,");
    }
    uint64_t objects = 0;
    uint64_t bytes = 0;
  };

  const Stream& stream_;
  Findings& findings_;
  const Deadline& deadline_;
  std::map<std::string, const BranchCheck*, std::less<>> branches_;
  bool complete_ = true;        // every log was read to its end, so all branches are known
  std::set<std::string> gone_;  // deleted branches
  std::map<std::string, Bulk> strays_;
  std::map<std::string, Bulk> more_;
  uint64_t orphans_named_ = 0;
};

}  // namespace

Status VerifyLeftovers(const Stream& stream, const Branches& branches, bool all, Findings& findings,
                       const Deadline& deadline) {
  Leftovers leftovers(stream, branches, findings, deadline);
  if (all) {
    LS_RETURN_IF_ERROR(leftovers.Scan(""));
    leftovers.ReportInBulk();
    return OkStatus();
  }
  for (const BranchCheck& branch : branches) {
    if (branch.is_ancestor) continue;
    const std::string& name = branch.name();
    for (const std::string& prefix :
         {DataPrefix(name), HeadKey(name), IndexPrefix(name), LogPrefix(name), PartsPrefix(name),
          SnapshotPrefix(name), WatermarksPrefix(name)}) {
      LS_RETURN_IF_ERROR(leftovers.Scan(prefix));
    }
  }
  leftovers.ReportInBulk();
  return OkStatus();
}

}  // namespace lakestream

// A pass over a branch and its descendants: children before their parents, since what a child needs
// of its parent's data is known only then.
#include <algorithm>
#include <memory>
#include <set>

#include "base/text.h"
#include "lakestream/lifecycle.h"
#include "lifecycle/branch_pass.h"
#include "lifecycle/store_clock.h"
#include "manifest/keys.h"

namespace lakestream {
namespace {

class Reclaimer {
 public:
  Reclaimer(Stream& stream, const ReclaimOptions& options) : stream_(stream), options_(options) {}

  Result<ReclaimReport> Run(const Deadline& deadline) {
    LS_ASSIGN_OR_RETURN(auto root, Stream::Open(stream_.shared_store(), stream_.shared_runtime(),
                                                deadline, stream_.info().branch.name));
    LS_RETURN_IF_ERROR(Visit(std::move(root), deadline).status());
    LS_RETURN_IF_ERROR(SweepTombstones(deadline));
    LS_RETURN_IF_ERROR(EndUploads(deadline));
    return std::move(report_);
  }

 private:
  // What crashed producers began to upload and never completed, on any branch.
  Status EndUploads(const Deadline& deadline) {
    LS_ASSIGN_OR_RETURN(const int64_t now_ms, StoreNowMs(stream_.store(), deadline));
    auto ended = stream_.store().AbortStaleUploads(
        {"data/", now_ms - ToMs(options_.abandon_after), options_.dry_run}, deadline);
    if (ended.status().code() == Code::kUnimplemented) {
      stream_.runtime().Log(LogLevel::kWarning, Str("abandoned uploads stay, if there are any: ",
                                                    ended.status().message()));
      return OkStatus();
    }
    LS_RETURN_IF_ERROR(ended.status().WithContext("looking for abandoned uploads"));
    report_.uploads += *ended;
    return OkStatus();
  }

  // A client that slept through the deletion of its branch, and the end of it, may still have put
  // something there. Costs seven listings for each branch that ever was deleted.
  Status SweepTombstones(const Deadline& deadline) {
    if (stream_.info().branch.name != kMainBranch) return OkStatus();
    const std::string prefix = BranchKey("");
    ListOptions options{.prefix = prefix};
    for (bool more = true; more;) {
      LS_ASSIGN_OR_RETURN(const ListPage page, stream_.store().List(options, deadline));
      for (const ObjectInfo& object : page.objects) {
        const std::string name = object.key.substr(prefix.size());
        if (visited_.contains(name)) continue;
        auto branch =
            Stream::Open(stream_.shared_store(), stream_.shared_runtime(), deadline, name);
        if (!branch.ok()) return branch.status().WithContext("sweeping a deleted branch");
        BranchPass pass(*std::move(branch), options_, report_);
        LS_RETURN_IF_ERROR(pass.Start(deadline));
        if (pass.closed()) LS_RETURN_IF_ERROR(pass.Remove({}, deadline));
      }
      more = page.more && !page.objects.empty();
      if (more) options.start_after = page.objects.back().key;
    }
    return OkStatus();
  }

  // Returns the steps that this branch, or one that descends from it, needs: its own and, below its
  // fork, its ancestors'. None: it is gone.
  Result<StepRanges> Visit(std::shared_ptr<Stream> stream, const Deadline& deadline) {
    visited_.insert(stream->info().branch.name);
    BranchPass pass(std::move(stream), options_, report_);
    LS_RETURN_IF_ERROR(pass.Start(deadline));
    StepRanges needed = {{.first = pass.first_needed()}};
    if (pass.closed()) {
      LS_RETURN_IF_ERROR(pass.Remove(needed, deadline));
      return pass.is_gone() ? StepRanges() : needed;
    }
    LS_RETURN_IF_ERROR(pass.DescribeBranches(deadline));
    std::vector<std::string> gone;
    for (const auto& [name, row] : pass.state().branches) {
      LS_ASSIGN_OR_RETURN(const StepRanges by_child, VisitChild(pass, name, row, deadline));
      if (by_child.empty()) gone.push_back(name);
      for (StepRange range : by_child) {
        range.end = std::min(range.end, row.step);  // from its fork on, the child has its own
        if (range.first < range.end) needed.push_back(range);
      }
    }
    LS_RETURN_IF_ERROR(pass.Remove(needed, deadline));
    LS_RETURN_IF_ERROR(pass.CountWaiting(needed, deadline));
    LS_RETURN_IF_ERROR(pass.EndWhatIsAbandoned(deadline));
    for (const std::string& name : gone) LS_RETURN_IF_ERROR(pass.Forget(name, deadline));
    LS_RETURN_IF_ERROR(pass.Advance(needed, deadline));
    return needed;
  }

  Result<StepRanges> VisitChild(const BranchPass& parent, const std::string& name,
                                const BranchRow& row, const Deadline& deadline) {
    const StepRanges all = {{.first = row.trim_step}};
    auto child = Stream::Open(stream_.shared_store(), stream_.shared_runtime(), deadline, name);
    if (child.status().reason() == Reason::kBranchMissing) return all;
    LS_RETURN_IF_ERROR(child.status());
    // A fork that lost its name to another branch's child is undone by its maker.
    if ((*child)->info().branch.parent != parent.name()) return all;
    return Visit(*std::move(child), deadline);
  }

  Stream& stream_;
  const ReclaimOptions& options_;
  ReclaimReport report_;
  std::set<std::string> visited_;
};

}  // namespace

Result<ReclaimReport> Reclaim(Stream& stream, const ReclaimOptions& options,
                              const Deadline& deadline) {
  if (!stream.store().capabilities().put_if_match) {
    return FailedPreconditionError(Str(stream.store().Describe(),
                                       " has no compare-and-swap (a put with If-Match), so nothing "
                                       "can be reclaimed safely; reading and writing go on"),
                                   Reason::kUnsafeStore);
  }
  return Reclaimer(stream, options).Run(deadline);
}

}  // namespace lakestream

#include "admin/verify.h"

#include <algorithm>
#include <memory>
#include <set>

#include "base/text.h"
#include "ledger/step_index.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

// Above so many, orphans are only counted: a stream that was never reclaimed may have millions.
constexpr uint64_t kOrphansNamed = 100;

// One branch, then those that descend from it.
class BranchCheck {
 public:
  BranchCheck(std::shared_ptr<Stream> stream, const VerifyOptions& options, VerifyReport& report,
              const Deadline& deadline)
      : stream_(std::move(stream)),
        context_(ContextOf(*stream_)),
        options_(options),
        report_(report),
        findings_(stream_->store(), report),
        deadline_(deadline) {}

  Status Run() {
    BoundaryGuard guard(context_);
    if (Status looked = guard.Look(deadline_); !looked.ok()) {
      // A deleted branch has nothing to verify.
      return looked.reason() == Reason::kBranchClosed ? OkStatus() : looked;
    }
    // For the trim point and the progress: a damaged manifest is what the walk below is for.
    Follower follower(context_);
    Status started = follower.Start(deadline_);
    if (!started.ok() && started.code() != Code::kDataLoss) return started;
    const Step trim_step = started.ok() ? follower.state().trim_step : guard.boundary().first_step;
    total_ += follower.state().data_objects;
    const size_t errors_before = report_.errors.size();

    State state;
    LS_RETURN_IF_ERROR(VerifyManifest(
        context_, {guard.boundary(), trim_step}, findings_, report_,
        [&](const ExpectedObject& expected) { Check(expected, trim_step); }, state, deadline_));
    LS_RETURN_IF_ERROR(data_status_);
    if (started.ok()) LS_RETURN_IF_ERROR(CheckShared(follower, trim_step));
    LS_RETURN_IF_ERROR(FindOrphans(state));
    if (report_.errors.size() > errors_before) {
      const Boundary before = guard.boundary();
      LS_RETURN_IF_ERROR(guard.Look(deadline_));
      if (guard.boundary() != before) {
        return UnavailableError(Str(context_.store.Describe(),
                                    ": reclamation moved on while branch ", context_.branch(),
                                    " was verified; run it again"));
      }
    }
    return CheckChildren(state);
  }

 private:
  void Check(const ExpectedObject& expected, Step trim_step) {
    if (expected.branch == context_.branch())
      referred_.insert({expected.entry.session, expected.entry.object});
    if (expected.end_step() <= trim_step || !data_status_.ok()) return;
    data_status_ =
        VerifyObject(context_, expected, options_.read_data, findings_, report_, deadline_);
    if (options_.progress) options_.progress(report_.objects, std::max(total_, report_.objects));
  }

  // What this branch still reads of its ancestors, which may have trimmed it for themselves.
  Status CheckShared(const Follower& follower, Step trim_step) {
    StepIndex index(follower);
    for (Step step = trim_step; step < context_.info.branch.fork_step;) {
      const auto place = index.Locate(step, deadline_);
      if (place.status().code() == Code::kDataLoss) {
        findings_.Error("dangling_step", BranchKey(context_.branch()), step,
                        Str("shares a step that its parent cannot "
                            "find: ",
                            place.status().message()));
        return OkStatus();
      }
      LS_RETURN_IF_ERROR(place.status());
      Check({step - place->tgb_ordinal, *place->entry, "", place->branch}, trim_step);
      LS_RETURN_IF_ERROR(data_status_);
      step = place->end_step;
    }
    return OkStatus();
  }

  // Data objects that nothing refers to. A running producer has some for a while: it uploads before
  // it commits.
  Status FindOrphans(const State& state) {
    ListOptions options{.prefix = DataPrefix(context_.branch())};
    uint64_t orphans = 0;
    uint64_t bytes = 0;
    while (true) {
      LS_ASSIGN_OR_RETURN(const ListPage page, context_.store.List(options, deadline_));
      for (const ObjectInfo& object : page.objects) {
        const auto id = ParseDataKey(object.key, context_.branch());
        if (!id) {
          findings_.Warning("orphan", object.key,
                            "is no data object by its name; delete it if it is not yours");
        } else if (!referred_.contains(*id)) {
          bytes += object.size;
          if (++orphans > kOrphansNamed) continue;
          const bool current = state.producer_of_session.contains(id->session) && !state.sealed;
          findings_.Warning("orphan", object.key,
                            Str("nothing refers to its ", object.size, " bytes: ",
                                current ? "a producer is about to commit it, or died before it did"
                                        : "its session is over, or its steps are trimmed",
                                "; 'lakestream gc' removes it once it is surely dead"));
        }
      }
      if (!page.more || page.objects.empty()) break;
      options.start_after = page.objects.back().key;
    }
    if (orphans > kOrphansNamed) {
      findings_.Warning(
          "orphan", DataPrefix(context_.branch()),
          Str("has ", orphans, " objects of ", bytes, " bytes that nothing refers to; the first ",
              kOrphansNamed, " are named above; 'lakestream gc' removes those that are dead"));
    }
    return OkStatus();
  }

  Status CheckChildren(const State& state) {
    for (const auto& [name, row] : state.branches) {
      auto child =
          Stream::Open(stream_->shared_store(), stream_->shared_runtime(), deadline_, name);
      if (child.status().reason() == Reason::kBranchMissing) {
        findings_.Warning("dangling_branch", BranchKey(name),
                          Str("is missing: branch ", name, " was forked at step ", row.step,
                              ", but its maker died before it described it; make it again with "
                              "'lakestream branch create', or 'lakestream gc' completes it"));
        continue;
      }
      LS_RETURN_IF_ERROR(child.status());
      BranchCheck check(*std::move(child), options_, report_, deadline_);
      LS_RETURN_IF_ERROR(check.Run());
    }
    return OkStatus();
  }

  const std::shared_ptr<Stream> stream_;
  const LedgerContext context_;
  const VerifyOptions& options_;
  VerifyReport& report_;
  Findings findings_;
  const Deadline& deadline_;
  std::set<DataObjectId> referred_;
  uint64_t total_ = 0;
  Status data_status_;
};

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
  LS_ASSIGN_OR_RETURN(auto own, Stream::Open(stream.shared_store(), stream.shared_runtime(),
                                             deadline, stream.info().branch.name));
  VerifyReport report;
  LS_RETURN_IF_ERROR(BranchCheck(std::move(own), options, report, deadline).Run());
  return report;
}

}  // namespace lakestream

#include "ledger/step_index.h"

#include <algorithm>

#include "base/text.h"

namespace lakestream {
namespace {

constexpr size_t kPagesCached = 4;

}  // namespace

// The branch below, followed to its head when it is first needed.
struct StepIndex::Parent {
  explicit Parent(const LedgerContext& child)
      : info(child.info),
        follower({child.store, child.runtime, WithBranch(child.ancestors.front()),
                  child.ancestors.subspan(1)}),
        index(follower) {}
  const StreamInfo& WithBranch(const BranchInfo& branch) {
    info.branch = branch;
    return info;
  }

  StreamInfo info;
  Follower follower;
  StepIndex index;
};

StepIndex::StepIndex(const Follower& follower) : follower_(follower) {}
StepIndex::~StepIndex() = default;

Status TrimmedError(const LedgerContext& context, Step step, Step trim_step) {
  return FailedPreconditionError(
      Str("step ", step, " of ", context.store.Describe(),
          " was trimmed; the oldest step that can be "
          "read is ",
          trim_step, ": start there or at a checkpoint ('lakestream checkpoint list')"),
      Reason::kStepTrimmed);
}

Result<StepPlace> StepIndex::Locate(Step step, const Deadline& deadline) {
  const Step trim_step = follower_.state().trim_step;
  if (step < trim_step) return TrimmedError(follower_.context(), step, trim_step);
  return Find(step, deadline);
}

Result<StepIndex*> StepIndex::ParentIndex(const Deadline& deadline) {
  if (parent_ == nullptr) {
    if (follower_.context().ancestors.empty())
      return InternalError("a branch's ledger was opened without its ancestors");
    auto parent = std::make_unique<Parent>(follower_.context());
    LS_RETURN_IF_ERROR(parent->follower.Start(deadline));
    parent_ = std::move(parent);
  }
  return &parent_->index;
}

// A branch's parent may have trimmed what the branch still keeps, so this does not ask for it.
Result<StepPlace> StepIndex::Find(Step step, const Deadline& deadline) {
  if (step < follower_.context().info.branch.fork_step) {
    LS_ASSIGN_OR_RETURN(StepIndex* const parent, ParentIndex(deadline));
    LS_ASSIGN_OR_RETURN(StepPlace place, parent->Find(step, deadline));
    place.end_step = std::min(place.end_step, follower_.context().info.branch.fork_step);
    return place;
  }
  const State& state = follower_.state();
  if (step >= state.next_step) {
    return NotFoundError(
        Str("step ", step, " is not committed yet; the stream ends at step ", state.next_step),
        Reason::kStepNotYet);
  }
  if (const PlacedEntry* placed = FindStep(state.tail, step)) return PlaceIn(*placed, step);
  LS_ASSIGN_OR_RETURN(const IndexPage* page,
                      Page(step / follower_.context().info.spec.index_page_steps, deadline));
  const PlacedEntry* placed = FindStep(page->entries, step);
  if (placed == nullptr) return InternalError(Str("index page ", page->page, " lacks step ", step));
  return PlaceIn(*placed, step);
}

void StepIndex::Remember(const IndexPage& page) {
  pages_.push_back(page);
  if (pages_.size() > kPagesCached) pages_.pop_front();
}

Result<const IndexPage*> StepIndex::Page(uint64_t page, const Deadline& deadline, bool retry) {
  const auto cached = std::find_if(pages_.begin(), pages_.end(),
                                   [&](const IndexPage& p) { return p.page == page; });
  if (cached != pages_.end()) return &*cached;
  const LedgerContext& context = follower_.context();
  const std::string key = IndexKey(context.branch(), page);
  auto bytes = GetBytes(context.store, key, deadline);
  if (bytes.ok()) {
    auto decoded = DecodeIndexPage(context.info, page, bytes->bytes());
    if (!decoded.ok()) return decoded.status().WithContext(Str(context.store.Describe(), "/", key));
    Remember(*decoded);
  } else if (bytes.status().code() == Code::kNotFound) {
    const auto built =
        BuildIndexPage(context, follower_.state(), follower_.boundary(), page, deadline);
    // Reclamation overtook this reader; before it took the log it made sure of the page.
    const bool overtaken = built.status().code() == Code::kUnavailable;
    if (overtaken && !retry) return Page(page, deadline, true);
    LS_RETURN_IF_ERROR(built.status());
    Remember(*built);
  } else {
    return bytes.status();
  }
  return &pages_.back();
}

StepPlace StepIndex::PlaceIn(const PlacedEntry& placed, Step step) {
  if (!last_entry_ || last_.first_step != placed.first_step) {
    last_ = placed;
    last_entry_ = std::make_shared<const Entry>(placed.entry);
  }
  return {step, static_cast<uint32_t>(step - placed.first_step), last_entry_,
          follower_.context().branch(), placed.end_step()};
}

namespace {

// Something is not there that was kept when the boundary stood at `seen`: kUnavailable if it has
// moved since.
Status CheckNotOvertaken(const LedgerContext& context, const Boundary& seen,
                         const Deadline& deadline) {
  BoundaryGuard now(context);
  LS_RETURN_IF_ERROR(now.Look(deadline));
  if (now.boundary() == seen) return OkStatus();
  return UnavailableError(Str(context.store.Describe(), ": the manifest of branch ",
                              context.branch(),
                              " was reclaimed while it was being read; try again"));
}

}  // namespace

Result<IndexPage> BuildIndexPage(const LedgerContext& context, const State& state,
                                 const Boundary& boundary, uint64_t page,
                                 const Deadline& deadline) {
  const uint64_t steps = context.info.spec.index_page_steps;
  const Step from = std::max(page * steps, context.info.branch.fork_step);
  const Step to = (page + 1) * steps;
  const auto read = [&](Version version) -> Result<Record> {
    LS_ASSIGN_OR_RETURN(auto slot, ReadSlot(context, version, deadline));
    if (slot) return std::move(slot->record);
    LS_RETURN_IF_ERROR(CheckNotOvertaken(context, boundary, deadline));
    return DataLossError(Str(context.store.Describe(), "/", LogKey(context.branch(), version),
                             " is missing, but later versions exist; run 'lakestream verify'"));
  };
  // The first version that is kept with next_step > from: it publishes step `from`, unless a
  // reclaimed one did.
  Version low = boundary.snapshot;
  Version high = state.version;
  while (high - low > 1) {
    const Version middle = low + (high - low) / 2;
    LS_ASSIGN_OR_RETURN(const Record record, read(middle));
    (record.next_step > from ? high : low) = middle;
  }
  IndexPage built{page, {}};
  const auto add = [&](PlacedEntry placed) {
    if (placed.end_step() > from && placed.first_step < to)
      built.entries.push_back(std::move(placed));
  };
  LS_ASSIGN_OR_RETURN(const Record first, read(high));
  if (first.first_step > from) {
    // The page began in reclaimed records. If it was still open at the boundary's snapshot, that
    // has its beginning.
    const std::string key = SnapshotKey(context.branch(), boundary.snapshot);
    const auto bytes = GetBytes(context.store, key, deadline);
    if (bytes.status().code() == Code::kNotFound)
      LS_RETURN_IF_ERROR(CheckNotOvertaken(context, boundary, deadline));
    LS_RETURN_IF_ERROR(bytes.status());
    LS_ASSIGN_OR_RETURN(const State base, DecodeSnapshot(context.info, bytes->bytes()));
    if (base.next_step >= to) {
      LS_RETURN_IF_ERROR(CheckNotOvertaken(context, boundary, deadline));
      return DataLossError(Str(context.store.Describe(), "/", IndexKey(context.branch(), page),
                               " is missing, and the log that it could be made from is reclaimed; "
                               "restore it from a copy of the store"));
    }
    for (const PlacedEntry& placed : base.tail) add(placed);
  }
  Step reached = from;
  for (Version version = high; reached < to; ++version) {
    LS_ASSIGN_OR_RETURN(const Record record, read(version));
    Step step = record.first_step;
    for (const Change& change : record.changes) {
      const auto* publish = std::get_if<PublishChange>(&change);
      if (publish == nullptr) continue;
      PlacedEntry placed{step, publish->entry};
      step = placed.end_step();
      add(std::move(placed));
    }
    reached = step;
  }
  return built;
}

}  // namespace lakestream

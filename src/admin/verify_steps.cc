#include <algorithm>
#include <optional>

#include "admin/verify.h"
#include "base/text.h"
#include "ledger/step_index.h"
#include "lifecycle/boundary_store.h"

namespace lakestream {
namespace {

class StepsCheck {
 public:
  StepsCheck(const Stream& stream, BranchCheck& branch, bool read_data, Findings& findings,
             const std::function<void(uint64_t)>& on_steps, const Deadline& deadline)
      : branch_(branch),
        context_(branch.Context(stream)),
        read_data_(read_data),
        findings_(findings),
        on_steps_(on_steps),
        deadline_(deadline) {
    for (const BranchCheck::Need& need : branch.needs) needed_.push_back(need.range);
  }

  Status Run() {
    const uint64_t steps = branch_.info.spec.index_page_steps;
    const Step end = branch_.state.next_step / steps * steps;
    for (Step from = FirstStep() / steps * steps; from < end; from += steps) {
      const bool needed =
          Meets(needed_, std::max(from, branch_.info.branch.fork_step), from + steps);
      LS_ASSIGN_OR_RETURN(const auto page,
                          needed ? NeededPage(from / steps) : OldPage(from / steps));
      if (page) LS_RETURN_IF_ERROR(CheckEntries(page->entries));
      if (needed && !page) {
        branch_.lost.push_back({from, from + steps});
        branch_.found_all = false;
      }
    }
    LS_RETURN_IF_ERROR(CheckEntries(branch_.state.tail));
    return CheckProducerStates();
  }

 private:
  // Below it nothing is there: the boundary moved on only once all that it had released was gone.
  Step FirstStep() const {
    Step first = branch_.boundary.settled_step;
    for (const BranchCheck::Need& need : branch_.needs) first = std::min(first, need.range.first);
    return std::max(first, branch_.info.branch.fork_step);
  }

  // A page of steps that are given up, as far as it is still there: tells which objects are known.
  Result<std::optional<IndexPage>> OldPage(uint64_t page) {
    auto bytes = GetBytes(context_.store, IndexKey(context_.branch(), page), deadline_);
    if (bytes.status().code() == Code::kNotFound) return std::optional<IndexPage>();
    LS_RETURN_IF_ERROR(bytes.status());
    auto decoded = DecodeIndexPage(context_.info, page, bytes->bytes());
    return decoded.ok() ? std::optional(*std::move(decoded)) : std::nullopt;
  }

  // The stored page, compared with the log; if that fails, the one that the log says, as far as the
  // log is there.
  Result<std::optional<IndexPage>> NeededPage(uint64_t page) {
    const std::string key = IndexKey(context_.branch(), page);
    auto bytes = GetBytes(context_.store, key, deadline_);
    if (!bytes.ok() && bytes.status().code() != Code::kNotFound) return bytes.status();
    if (bytes.ok()) {
      auto decoded = DecodeIndexPage(context_.info, page, bytes->bytes());
      const auto by_log = branch_.pages.find(page);
      const bool agrees =
          by_log == branch_.pages.end() || by_log->second == HashBytes128(bytes->bytes());
      if (decoded.ok() && agrees && FitsOn(*decoded)) return std::optional(*std::move(decoded));
      return BadPage(page,
                     decoded.ok() ? "differs from what the log says" : decoded.status().message());
    }
    return BadPage(page, "");
  }

  // An entry that reaches over the edge of a page is in both.
  bool FitsOn(const IndexPage& page) {
    const PlacedEntry& first = page.entries.front();
    const bool fits =
        !last_of_page_ || last_of_page_->end_step() <= first.first_step || *last_of_page_ == first;
    last_of_page_ = page.entries.back();
    return fits;
  }

  // `damage`: empty if the page is missing.
  Result<std::optional<IndexPage>> BadPage(uint64_t page, const std::string& damage) {
    const std::string key = IndexKey(context_.branch(), page);
    auto built = BuildIndexPage(context_, branch_.state, branch_.boundary, page, deadline_);
    const Code code = built.status().code();
    if (!built.ok() && code != Code::kDataLoss && code != Code::kNotFound) return built.status();
    if (built.ok() && damage.empty()) {
      findings_.Warning("bad_index", key,
                        "is missing: reading is slower than it need be; a later commit or "
                        "'lakestream gc' may write it");
    } else if (built.ok()) {
      findings_.Error("bad_index", key, std::nullopt,
                      Str(damage, "; delete it (the log holds all that it says)"));
    } else {
      const uint64_t steps = branch_.info.spec.index_page_steps;
      findings_.Error(
          "bad_index", key, page * steps,
          Str(damage.empty() ? "is missing" : damage,
              ", and the log that it could be made from is reclaimed or damaged: steps ",
              page * steps, "..", (page + 1) * steps - 1,
              " cannot be found; restore the object from a copy of the store"));
      return std::optional<IndexPage>();
    }
    return std::optional(*std::move(built));
  }

  Status CheckEntries(const std::vector<PlacedEntry>& entries) {
    for (const PlacedEntry& placed : entries) {
      if (placed.end_step() <= checked_to_) continue;  // was in the page before as well
      checked_to_ = placed.end_step();
      const DataObjectId id{placed.entry.session, placed.entry.object};
      if (!Meets(needed_, placed.first_step, placed.end_step())) {
        branch_.given_up.insert(id);
        continue;
      }
      branch_.referred.insert(id);
      const auto owner = branch_.state.producer_of_session.find(id.session);
      const bool known = owner != branch_.state.producer_of_session.end();
      const ExpectedObject expected{placed.first_step, placed.entry, known ? owner->second : ""};
      const auto still_needed = [&] { return StillNeeded(placed.first_step, placed.end_step()); };
      LS_ASSIGN_OR_RETURN(const bool there, VerifyObject(context_, expected, read_data_,
                                                         still_needed, findings_, deadline_));
      if (!there) branch_.lost.push_back({placed.first_step, placed.end_step()});
      const uint64_t steps =
          placed.entry.tgb_count() - CountOutside(needed_, placed.first_step, placed.end_step());
      findings_.report().steps += steps;
      on_steps_(steps);
    }
    return OkStatus();
  }

  // Whether reclamation has not taken the steps since the log was read.
  Result<bool> StillNeeded(Step from, Step to) {
    for (const BranchCheck::Need& need : branch_.needs) {
      if (!need.range.Meets(from, to)) continue;
      LS_ASSIGN_OR_RETURN(const StoredBoundary now,
                          ReadBoundary(context_.store, need.by->info, need.by->name(), deadline_));
      if (!now.boundary.closed && now.boundary.first_step < to) return true;
    }
    return false;
  }

  // A producer resumes from its state, which may lie in an object whose steps are given up.
  Status CheckProducerStates() {
    for (const auto& [producer, row] : branch_.state.rows) {
      const DataObjectId id{row.state_session, row.state_object};
      if (id.session == 0 || branch_.is_ancestor || !branch_.referred.insert(id).second) continue;
      branch_.given_up.erase(id);
      const std::string key = DataKey(context_.branch(), id.session, id.object);
      auto read = context_.store.Get(key, {.range = row.state.range()}, deadline_);
      const Code code = read.status().code();
      if (!read.ok() && code != Code::kNotFound && code != Code::kInvalidArgument)
        return read.status();
      if (read.ok() && CheckStateBytes(row.state, read->data.bytes()).ok()) {
        ++findings_.report().objects;
        continue;
      }
      findings_.Error(code == Code::kNotFound ? "missing_object" : "bad_checksum", key,
                      std::nullopt,
                      Str(code == Code::kNotFound ? "is missing" : "is damaged",
                          ": it holds where "
                          "producer ",
                          producer,
                          " goes on; restore the object from a copy of the "
                          "store, or go on under another name"));
    }
    return OkStatus();
  }

  BranchCheck& branch_;
  const LedgerContext context_;
  const bool read_data_;
  Findings& findings_;
  const std::function<void(uint64_t)>& on_steps_;
  const Deadline& deadline_;
  StepRanges needed_;
  Step checked_to_ = 0;
  std::optional<PlacedEntry> last_of_page_;
};

}  // namespace

Status VerifySteps(const Stream& stream, BranchCheck& branch, bool read_data, Findings& findings,
                   const std::function<void(uint64_t)>& on_steps, const Deadline& deadline) {
  return StepsCheck(stream, branch, read_data, findings, on_steps, deadline).Run();
}

}  // namespace lakestream

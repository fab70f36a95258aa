// The whole of a stream: the log of each branch first, since only then it is known which steps
// anybody needs; then those steps, what leads to them, and all that lies around.
#include "admin/verify.h"

#include <algorithm>

#include "base/text.h"
#include "ledger/boundary_guard.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

class Verifier {
 public:
  Verifier(const Stream& stream, const VerifyOptions& options, const Deadline& deadline)
      : stream_(stream),
        options_(options),
        deadline_(deadline),
        findings_(stream.store(), report_) {}

  Result<VerifyReport> Run() {
    for (size_t i = stream_.ancestors().size(); i > 0; --i) {
      LS_RETURN_IF_ERROR(Add(stream_.ancestors()[i - 1], true).status());
    }
    LS_ASSIGN_OR_RETURN(BranchCheck* const root, Add(stream_.info().branch, false));
    if (root->closed) return BranchClosedError(ContextOf(stream_));
    LS_RETURN_IF_ERROR(AddChildren(*root));
    for (BranchCheck& branch : branches_) AddNeeds(branch);
    LS_RETURN_IF_ERROR(CheckSteps());
    for (const BranchCheck& branch : branches_) CheckReferences(branch);
    const bool all = stream_.info().branch.is_main();
    LS_RETURN_IF_ERROR(VerifyLeftovers(stream_, branches_, all, findings_, deadline_));
    return std::move(report_);
  }

 private:
  BranchCheck* Find(const std::string& name) {
    const auto found = std::find_if(branches_.begin(), branches_.end(),
                                    [&](const BranchCheck& b) { return b.name() == name; });
    return found == branches_.end() ? nullptr : &*found;
  }

  // Reads the branch's log; its parent must be there already.
  Result<BranchCheck*> Add(const BranchInfo& info, bool is_ancestor) {
    BranchCheck& branch = branches_.emplace_back();
    branch.info = stream_.info();
    branch.info.branch = info;
    branch.is_ancestor = is_ancestor;
    if (const BranchCheck* const parent = info.is_main() ? nullptr : Find(info.parent)) {
      branch.ancestors = parent->ancestors;
      branch.ancestors.insert(branch.ancestors.begin(), parent->info.branch);
    }
    LS_RETURN_IF_ERROR(VerifyManifest(stream_, branch, findings_, deadline_));
    ++report_.branches;
    return &branch;
  }

  Status AddChildren(const BranchCheck& parent) {
    for (const auto& [name, row] : parent.state.branches) {
      LS_ASSIGN_OR_RETURN(const bool is_it, CheckDescription(parent, name, row));
      if (!is_it) continue;
      LS_ASSIGN_OR_RETURN(BranchCheck* const child,
                          Add(MakeBranchInfo(parent.name(), name, row), false));
      if (!child->closed) LS_RETURN_IF_ERROR(AddChildren(*child));
    }
    return OkStatus();
  }

  // branch/<name> repeats what the fork's record says. False: the name is another branch's.
  Result<bool> CheckDescription(const BranchCheck& parent, const std::string& name,
                                const BranchRow& row) {
    const std::string key = BranchKey(name);
    const BranchInfo said = MakeBranchInfo(parent.name(), name, row);
    auto bytes = GetBytes(stream_.store(), key, deadline_);
    if (!bytes.ok() && bytes.status().code() != Code::kNotFound) return bytes.status();
    if (!bytes.ok()) {
      findings_.Error("dangling_reference", key, row.step,
                      Str("is missing, though version ", row.forked, " of ", parent.name(),
                          " forks the branch, so nothing can open it; 'lakestream gc' writes it "
                          "anew"));
      return true;
    }
    if (std::ranges::equal(bytes->bytes(), EncodeBranch(stream_.info(), said))) return true;
    const auto found = DecodeBranch(stream_.info(), name, bytes->bytes());
    if (found.ok() && found->parent != parent.name()) {
      findings_.Warning(
          "dangling_reference", LogKey(parent.name(), row.forked),
          Str("forks branch ", name, ", but that name went to a branch of ", found->parent,
              " and its maker died before it took the fork back; it "
              "only holds the steps from ",
              row.trim_step, " to ", row.step));
      return false;
    }
    findings_.Error("dangling_reference", key, row.step,
                    Str(found.ok() ? "differs from what its fork says" : found.status().message(),
                        "; delete it, then 'lakestream gc' writes it anew"));
    return true;
  }

  // What `branch` needs of its own steps, and below its fork of its ancestors'.
  void AddNeeds(const BranchCheck& branch) {
    if (branch.closed || branch.is_ancestor) return;
    // The boundary tells too, where damage hides the last trims.
    StepRange range{.first = std::max(branch.state.trim_step, branch.boundary.first_step)};
    for (const BranchCheck* at = &branch; range.first < range.end;) {
      BranchCheck* const owner = Find(at->name());
      owner->needs.push_back({&branch, range});
      if (at->info.branch.is_main()) break;
      range.end = std::min(range.end, at->info.branch.fork_step);
      at = Find(at->info.branch.parent);
    }
  }

  Status CheckSteps() {
    uint64_t total = 0;
    for (const BranchCheck& branch : branches_) {
      StepRanges ranges;
      for (const BranchCheck::Need& need : branch.needs) ranges.push_back(need.range);
      const Step from = branch.info.branch.fork_step;
      total += branch.state.next_step - from - CountOutside(ranges, from, branch.state.next_step);
    }
    uint64_t done = 0;
    const auto on_steps = [&](uint64_t steps) {
      done += steps;
      if (options_.progress) options_.progress(done, total);
    };
    for (BranchCheck& branch : branches_) {
      if (branch.closed) continue;
      LS_RETURN_IF_ERROR(
          VerifySteps(stream_, branch, options_.read_data, findings_, on_steps, deadline_));
    }
    return OkStatus();
  }

  // The lost range that holds a step in [from, to) of `branch`, which may lie in an ancestor.
  struct Lost {
    const BranchCheck* in = nullptr;
    Step step = 0;
  };
  std::optional<Lost> FindLost(const BranchCheck& branch, Step from, Step to) {
    for (const BranchCheck* at = &branch;;) {
      const Step fork = at->info.branch.fork_step;
      for (const StepRange& range : at->lost) {
        if (range.Meets(std::max(from, fork), to))
          return Lost{at, std::max({from, fork, range.first})};
      }
      if (at->info.branch.is_main()) return std::nullopt;
      to = std::min(to, fork);
      at = Find(at->info.branch.parent);
    }
  }

  // Names lead to steps that can be read.
  void CheckReferences(const BranchCheck& branch) {
    if (branch.closed || branch.is_ancestor) return;
    const BranchInfo& info = branch.info.branch;
    if (const auto lost = FindLost(branch, branch.state.trim_step, info.fork_step);
        lost && !info.is_main()) {
      findings_.Error("dangling_reference", BranchKey(info.name), lost->step,
                      Str("branch ", info.name, " reads this step of ", lost->in->name(),
                          ", which is lost; restore what holds it, or trim the branch past it"));
    }
    for (const auto& [name, row] : branch.state.checkpoints) {
      if (!FindLost(branch, row.step, row.step + 1)) continue;
      findings_.Error(
          "dangling_reference", Str("checkpoint ", name), row.step,
          Str("a job that returns to it cannot read on; restore what holds the step, or "
              "delete the checkpoint and return to another"));
    }
    for (const auto& [job, row] : branch.state.runs) {
      if (!FindLost(branch, row.start, row.start + 1)) continue;
      findings_.Error("dangling_reference", Str("job ", job), row.start,
                      "its run begins at a step that is lost; restore what holds the step");
    }
  }

  const Stream& stream_;
  const VerifyOptions& options_;
  const Deadline& deadline_;
  VerifyReport report_;
  Findings findings_;
  Branches branches_;
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
  return Verifier(stream, options, deadline).Run();
}

}  // namespace lakestream

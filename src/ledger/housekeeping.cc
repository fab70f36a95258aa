#include "ledger/housekeeping.h"

#include <algorithm>

#include "base/text.h"
#include "ledger/step_index.h"

namespace lakestream {
namespace {

constexpr Duration kHintInterval = std::chrono::seconds(1);
// Made but unwritten objects that a follower keeps: those of committers that died one after the
// other.
constexpr size_t kSnapshotsKept = 4;
constexpr size_t kPagesKept = 16;

}  // namespace

void Housekeeping::OnFolded(const State& state, const std::vector<IndexPage>& sealed_pages) {
  if (state.version % context_.info.spec.snapshot_interval == 0) {
    snapshots_[state.version] = EncodeSnapshot(context_.info, state);
    if (snapshots_.size() > kSnapshotsKept) snapshots_.erase(snapshots_.begin());
  }
  for (const IndexPage& page : sealed_pages) {
    pages_[page.page] = {state.version, page};
    if (pages_.size() > kPagesKept) pages_.erase(pages_.begin());
  }
}

void Housekeeping::AfterCommits(std::span<const Version> versions, const Deadline& deadline) {
  for (const Version version : versions) {
    if (version % context_.info.spec.snapshot_interval == 0) Report(WriteSnapshots(deadline));
    Report(WritePages(version, deadline));
  }
  if (!versions.empty()) WriteHint(follower_.state().version, false, deadline);
}

void Housekeeping::WriteHint(Version version, bool force, const Deadline& deadline) {
  const TimePoint now = context_.runtime.Now();
  if (version == hint_version_ ||
      (!force && hint_version_ > 0 && now - hint_written_ < kHintInterval))
    return;
  hint_written_ = now;
  hint_version_ = version;
  auto put =
      PutBytes(context_.store, HeadKey(context_.branch()), EncodeHeadHint(version), {}, deadline);
  if (!put.ok()) Report(put.status());
}

// The newest is surely new; older ones are here only if this process has not seen them stored.
Status Housekeeping::WriteSnapshots(const Deadline& deadline) {
  while (!snapshots_.empty()) {
    const auto newest = std::prev(snapshots_.end());
    const std::string key = SnapshotKey(context_.branch(), newest->first);
    LS_RETURN_IF_ERROR(PutPure(key, newest->second, deadline));
    snapshots_.erase(newest);
    if (snapshots_.empty()) break;
    LS_ASSIGN_OR_RETURN(
        const bool stored,
        Exists(SnapshotKey(context_.branch(), std::prev(snapshots_.end())->first), deadline));
    if (stored) snapshots_.clear();  // its writer has looked after the ones before
  }
  return OkStatus();
}

Status Housekeeping::WritePages(Version version, const Deadline& deadline) {
  uint64_t first = UINT64_MAX;
  for (const auto& [number, sealed] : pages_) {
    if (sealed.sealed_by != version) continue;
    first = std::min(first, number);
    LS_RETURN_IF_ERROR(PutPure(IndexKey(context_.branch(), number),
                               EncodeIndexPage(context_.info, sealed.page), deadline));
  }
  if (first == UINT64_MAX) return OkStatus();
  LS_RETURN_IF_ERROR(WriteMissingPagesBefore(first, deadline));
  pages_.clear();
  return OkStatus();
}

// Pages that lie wholly below the trim point are not missed: they may be reclaimed by now.
Status Housekeeping::WriteMissingPagesBefore(uint64_t page, const Deadline& deadline) {
  const State& state = follower_.state();
  const uint64_t steps = context_.info.spec.index_page_steps;
  const uint64_t first = std::max(state.trim_step, context_.info.branch.fork_step) / steps;
  while (page-- > first) {
    const std::string key = IndexKey(context_.branch(), page);
    LS_ASSIGN_OR_RETURN(const bool stored, Exists(key, deadline));
    if (stored) return OkStatus();
    const auto kept = pages_.find(page);
    IndexPage missing;
    if (kept != pages_.end()) {
      missing = kept->second.page;
    } else {
      LS_ASSIGN_OR_RETURN(missing,
                          BuildIndexPage(context_, state, follower_.boundary(), page, deadline));
    }
    LS_RETURN_IF_ERROR(PutPure(key, EncodeIndexPage(context_.info, missing), deadline));
  }
  return OkStatus();
}

Status Housekeeping::PutPure(const std::string& key, const std::vector<uint8_t>& bytes,
                             const Deadline& deadline) {
  auto put = PutBytes(context_.store, key, bytes, PutOptions{.if_absent = true}, deadline);
  if (!put.ok()) return put.status().WithContext(key);
  if (put->stored) return OkStatus();
  LS_ASSIGN_OR_RETURN(const Buffer existing, GetBytes(context_.store, key, deadline));
  if (std::ranges::equal(existing.bytes(), bytes)) return OkStatus();
  return DataLossError(
      Str(context_.store.Describe(), "/", key,
          " differs from what the log says; it is left as it is. Run 'lakestream verify'"));
}

Result<bool> Housekeeping::Exists(const std::string& key, const Deadline& deadline) {
  auto head = context_.store.Head(key, deadline);
  if (head.ok()) return true;
  if (head.status().code() == Code::kNotFound) return false;
  return head.status().WithContext(key);
}

void Housekeeping::Report(const Status& status) {
  if (status.ok()) return;
  const bool damage = status.code() == Code::kDataLoss;
  context_.runtime.Log(damage ? LogLevel::kError : LogLevel::kWarning,
                       Str("a snapshot, index page or hint was not written: ", status.message()));
}

}  // namespace lakestream

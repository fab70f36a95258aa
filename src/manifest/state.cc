#include "manifest/state.h"

#include <algorithm>

#include "base/text.h"
#include "manifest/stream_json.h"

namespace lakestream {

bool CoverDensely(const std::vector<PlacedEntry>& entries, Step from, Step to) {
  if (entries.empty()) return from == to;
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].first_step != entries[i - 1].end_step()) return false;
  }
  return entries.front().first_step <= from && entries.front().end_step() > from &&
         entries.back().end_step() >= to && entries.back().first_step < to;
}

ProducerRow* State::FindSession(SessionId session) {
  const auto owner = producer_of_session.find(session);
  return owner == producer_of_session.end() ? nullptr : &rows[owner->second];
}

Step State::FirstCheckpointStep() const {
  Step first = next_step;
  for (const auto& [name, checkpoint] : checkpoints) first = std::min(first, checkpoint.step);
  return first;
}

State EmptyState(const StreamInfo& info) {
  State state;
  state.hash = info.branch.is_main() ? RootHash(UuidBytes(info)) : info.branch.root;
  state.next_step = info.branch.fork_step;
  state.trim_step = info.branch.trim_step;
  return state;
}

BranchInfo MakeBranchInfo(const std::string& parent, const std::string& name,
                          const BranchRow& row) {
  return {name, parent, row.step, row.forked, row.trim_step, row.root};
}

Status CheckState(const StreamInfo& info, const State& state) {
  uint64_t tgbs = 0;
  for (const auto& [name, row] : state.rows) {
    if (row.session == 0 || row.session > state.sessions_opened) {
      return DataLossError(Str("producer ", name, " has session ", row.session, " of ",
                               state.sessions_opened, " opened"));
    }
    if (row.next_sequence > row.tgbs) {
      return DataLossError(Str("producer ", name, " counts fewer TGBs than its session"));
    }
    tgbs += row.tgbs;
  }
  if (state.producer_of_session.size() != state.rows.size()) {
    return DataLossError("two producers share one session");
  }
  const Step fork = info.branch.fork_step;
  if (state.next_step < fork || tgbs != state.next_step - fork) {
    return DataLossError(Str("producers count ", tgbs, " TGBs, the branch goes from step ", fork,
                             " to ", state.next_step));
  }
  const uint64_t steps = info.spec.index_page_steps;
  const Step page_start = std::max(state.next_step / steps * steps, fork);
  if (!CoverDensely(state.tail, page_start, state.next_step)) {
    return DataLossError(
        Str("the open index page does not cover its steps up to ", state.next_step));
  }
  if (state.trim_step > state.FirstCheckpointStep()) {
    return DataLossError(Str("steps are trimmed to ", state.trim_step, ", past a checkpoint at ",
                             state.FirstCheckpointStep()));
  }
  return OkStatus();
}

const PlacedEntry* FindStep(const std::vector<PlacedEntry>& entries, Step step) {
  auto after =
      std::upper_bound(entries.begin(), entries.end(), step,
                       [](Step s, const PlacedEntry& placed) { return s < placed.first_step; });
  if (after == entries.begin()) return nullptr;
  const PlacedEntry& placed = *std::prev(after);
  return step < placed.end_step() ? &placed : nullptr;
}

}  // namespace lakestream

// Apply: state x record -> next state, or why the record is not valid. The one place where the
// protocol's rules for changes live; committers, followers, verification and the simulation's
// checkers all call it.
//
// Invariants that Apply keeps (named as in docs/protocol.md):
// - one order: a record extends exactly the version whose hash it names, and its steps follow on
// without a gap.
// - exactly once: an entry counts only if its session is its row's current one and its first
// sequence is the row's next.
// - no zombie: a session is replaced only by an open that names it, so an older one never counts
// again.
// - after a seal nothing is opened, fenced, published or finished; after a close nothing follows.
// - nothing needed is lost: no trim passes a checkpoint, live or pending.
#pragma once

#include <vector>

#include "manifest/state.h"

namespace lakestream {

// Moves `state` on by `record`, whose object's bytes hash to `record_hash`. Returns the index pages
// that are now sealed, oldest first; State::tail no longer needs their entries. A failure means
// that the record is corrupt or that history was rewritten (kDataLoss; kHistoryChanged if the chain
// is broken); `state` is then not usable any more.
Result<std::vector<IndexPage>> Apply(const StreamInfo& info, const Record& record,
                                     const Hash128& record_hash, State& state);

// The rank of a session's entries in the record of `version`: entries of one record stand in
// ascending rank, and by sequence within a session. Rotates with the version so that no session is
// always first.
uint64_t SessionRank(Version version, SessionId session, uint64_t sessions_opened);

// A record that would follow `state` with `changes`; its next_step is filled in. Changes must be
// valid for the state.
Record MakeRecord(const StreamInfo& info, const State& state, std::vector<Change> changes,
                  const CommitId& commit_id, int64_t time_ms);

}  // namespace lakestream

// Sessions: how a start of a producer takes over from the one before.
#pragma once

#include <string>
#include <string_view>

#include "lakestream/stream.h"
#include "ledger/committer.h"

namespace lakestream {

struct OpenedSession {
  SessionId id = 0;
  std::string state;  // committed with the producer's last TGB, read after the open
  uint64_t tgbs = 0;  // committed by the sessions before
};

// Starts the follower, commits an open that replaces exactly the session found, and recovers the
// state behind it: whatever an older session published before the open is in that state, and
// nothing of it counts afterwards. kFailedPrecondition: kSealed; kSessionFenced if another open
// won. The caller may then open anew.
Result<OpenedSession> OpenSession(Stream& stream, const std::string& producer, Committer& committer,
                                  const Deadline& deadline);

// The row of `producer` if `session` is its current one; else kFailedPrecondition (kSessionFenced).
Result<ProducerRow> OwnRow(const State& state, const std::string& producer, SessionId session);

}  // namespace lakestream

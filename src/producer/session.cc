#include "producer/session.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "manifest/keys.h"

namespace lakestream {
namespace {

Status Fenced(const std::string& producer, SessionId own, SessionId current) {
  return FailedPreconditionError(
      Str("session ", own, " of producer ", producer, " was superseded by session ", current,
          ": another process runs under this name (stop one of them, or give each its own name), "
          "or "
          "this one was silent for so long that reclamation ended it (start it again)"),
      Reason::kSessionFenced);
}

SessionId CurrentSession(const State& state, const std::string& producer) {
  const auto row = state.rows.find(producer);
  return row == state.rows.end() ? 0 : row->second.session;
}

Status CheckMayOpen(const Stream& stream, const std::string& producer) {
  const auto& declared = stream.info().spec.producers;
  if (declared.empty() || std::find(declared.begin(), declared.end(), producer) != declared.end())
    return OkStatus();
  std::string names;
  for (size_t i = 0; i < declared.size() && i < 8; ++i) names += (i ? ", " : "") + declared[i];
  return InvalidArgumentError(Str("producer ", producer,
                                  " is not one of the stream's declared producers (", names,
                                  declared.size() > 8 ? ", ...)" : ")"));
}

Result<std::string> ReadState(Stream& stream, const ProducerRow& row, const Deadline& deadline) {
  if (row.state.kind != StateRef::Kind::kExtent) return row.state.inline_bytes;
  const std::string key = DataKey(stream.info().branch.name, row.state_session, row.state_object);
  LS_ASSIGN_OR_RETURN(const GetResult read,
                      stream.store().Get(key, GetOptions{.range = row.state.range()}, deadline));
  if (Status intact = CheckStateBytes(row.state, read.data.bytes()); !intact.ok()) {
    return intact.WithContext(Str(stream.store().Describe(), "/", key));
  }
  return std::string(read.data.text());
}

}  // namespace

Result<OpenedSession> OpenSession(Stream& stream, const std::string& producer, Committer& committer,
                                  const Deadline& deadline) {
  LS_RETURN_IF_ERROR(CheckMayOpen(stream, producer));
  Follower& follower = committer.follower();
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  std::optional<SessionId> expected;
  const auto plan = [&](const State& state) -> Result<std::vector<Change>> {
    if (state.sealed) {
      return FailedPreconditionError(Str(stream.store().Describe(), " is sealed at step ",
                                         state.next_step, ": no producer can open it any more"),
                                     Reason::kSealed);
    }
    const SessionId current = CurrentSession(state, producer);
    if (!expected) expected = current;
    // Another open won. To take over from it silently would let two live processes fence each other
    // for ever.
    if (current != *expected) return Fenced(producer, *expected, current);
    return std::vector<Change>{OpenChange{producer, current}};
  };
  LS_ASSIGN_OR_RETURN([[maybe_unused]] const CommitOutcome outcome,
                      committer.Commit(plan, deadline));
  // The state is that of the open's own version: nothing was folded after it.
  const ProducerRow row = follower.state().rows.at(producer);
  LS_ASSIGN_OR_RETURN(std::string recovered, ReadState(stream, row, deadline));
  return OpenedSession{row.session, std::move(recovered), row.tgbs};
}

Result<ProducerRow> OwnRow(const State& state, const std::string& producer, SessionId session) {
  const auto row = state.rows.find(producer);
  if (row != state.rows.end() && row->second.session == session) return row->second;
  return Fenced(producer, session, CurrentSession(state, producer));
}

}  // namespace lakestream

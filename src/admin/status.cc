#include "lakestream/admin.h"
#include "ledger/follower.h"
#include "stream/ledger_context.h"

namespace lakestream {

Result<StreamStatus> GetStatus(Stream& stream, const Deadline& deadline) {
  Follower follower(ContextOf(stream));
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  const State& state = follower.state();
  StreamStatus status;
  status.info = stream.info();
  status.version = state.version;
  status.next_step = state.next_step;
  status.sealed = state.sealed;
  status.slice_bytes = state.slice_bytes;
  status.data_objects = state.data_objects;
  status.last_commit_ms = state.last_commit_ms;
  for (const auto& [name, row] : state.rows) {
    status.producers.push_back({name, row.session, row.tgbs, row.finished, row.state.StateBytes()});
  }
  for (const std::string& name : stream.info().spec.producers) {
    if (!state.rows.contains(name)) status.producers.push_back({.name = name});
  }
  return status;
}

}  // namespace lakestream

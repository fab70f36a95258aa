#include "lakestream/admin.h"
#include "ledger/ledger_writer.h"
#include "stream/ledger_context.h"

namespace lakestream {

Status Seal(Stream& stream, const Deadline& deadline) {
  LedgerWriter ledger(ContextOf(stream));
  LS_RETURN_IF_ERROR(ledger.Start(deadline));
  const auto plan = [](const State& state) -> Result<std::vector<Change>> {
    if (state.sealed) return std::vector<Change>();
    return std::vector<Change>{SealChange{}};
  };
  return ledger.Commit(plan, deadline).status();
}

}  // namespace lakestream

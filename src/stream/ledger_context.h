// From a public handle to what the ledger works on.
#pragma once

#include "lakestream/stream.h"
#include "ledger/context.h"

namespace lakestream {

// Borrows the stream, and the store if it is another than the stream's own (a decorator of it).
inline LedgerContext ContextOf(const Stream& stream, ObjectStore& store) {
  return {store, stream.runtime(), stream.info(), stream.ancestors()};
}
inline LedgerContext ContextOf(const Stream& stream) { return ContextOf(stream, stream.store()); }

}  // namespace lakestream

// Runs independent calls side by side.
#pragma once

#include <cstddef>
#include <functional>

#include "lakestream/runtime.h"

namespace lakestream {

// Calls body(i) for each i in [0, count) on at most `width` threads, the caller's among them, and
// returns when all have returned. After a failure no further call is started; the failure with the
// smallest i is returned.
Status ParallelFor(Runtime& runtime, size_t count, size_t width,
                   const std::function<Status(size_t)>& body);

}  // namespace lakestream

// Capped exponential backoff with full jitter.
#pragma once

#include <cstdint>

#include "lakestream/runtime.h"

namespace lakestream {

// The n-th delay is uniform in [0, min(cap, base * 2^n)] ("full jitter"): retries of many clients
// spread out. Confined to one thread.
class Backoff {
 public:
  Backoff(Duration base, Duration cap) : base_(base), cap_(cap) {}
  Duration NextDelay(Runtime& runtime);
  void Reset() { attempts_ = 0; }
  uint32_t attempts() const { return attempts_; }

 private:
  Duration base_;
  Duration cap_;
  uint32_t attempts_ = 0;
};

}  // namespace lakestream

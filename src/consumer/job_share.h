// JobShare: what one position of a job's mesh reads of each step, when the job's mesh may differ
// from the stream's.
//
// The job's DP size may divide the stream's (each position then reads several whole slices) or be a
// multiple of it (several positions then share the samples of one slice). Either way the job's
// positions, in order, read the stream's slices in order: the global content of a step is the same.
#pragma once

#include <cstdint>

#include "lakestream/consumer.h"

namespace lakestream {

struct JobShare {
  uint32_t first_dp = 0;  // slices (first_dp .. first_dp + slices, cp) of the stream's mesh
  uint32_t slices = 1;
  uint32_t cp = 0;
  uint32_t part = 0;  // of the samples of the slice, out of `parts`
  uint32_t parts = 1;
  bool operator==(const JobShare&) const = default;
};

// kInvalidArgument (kMeshMismatch) for a position outside the job's mesh; kFailedPrecondition
// (kMeshMismatch) for a mesh that the stream cannot serve, saying which ones it can.
Result<JobShare> ShareOf(const StreamSpec& spec, const ConsumerOptions& options);

}  // namespace lakestream

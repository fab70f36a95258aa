#include "consumer/job_share.h"

#include "base/text.h"

namespace lakestream {

Result<JobShare> ShareOf(const StreamSpec& spec, const ConsumerOptions& options) {
  const Mesh& written = spec.mesh;
  const Mesh job = options.mesh.value_or(written);
  if (options.dp_index >= job.dp || options.cp_index >= job.cp) {
    return InvalidArgumentError(
        Str("position (dp ", options.dp_index, ", cp ", options.cp_index, ") is outside the mesh ",
            "of dp ", job.dp, " x cp ", job.cp, "; positions count from 0"),
        Reason::kMeshMismatch);
  }
  const auto mismatch = [&](std::string_view why) {
    return FailedPreconditionError(
        Str("the stream has a mesh of dp ", written.dp, " x cp ", written.cp, ", the job one of ",
            job.dp, " x ", job.cp, ": ", why),
        Reason::kMeshMismatch);
  };
  if (job.cp != written.cp) return mismatch("the cp sizes must be equal");
  if (written.dp % job.dp == 0) {
    const uint32_t slices = written.dp / job.dp;
    return JobShare{options.dp_index * slices, slices, options.cp_index, 0, 1};
  }
  if (job.dp % written.dp != 0) {
    return mismatch("the dp size of one must be a multiple of the other's");
  }
  const uint32_t parts = job.dp / written.dp;
  if (spec.samples_multiple == 0) {
    return mismatch(
        "its slices are whole; a stream that is to serve more ranks than it has slices must be "
        "created with samples_multiple");
  }
  if (spec.samples_multiple % parts != 0) {
    return mismatch(Str("each slice would be shared out to ", parts,
                        " ranks, but its samples are only a multiple of ", spec.samples_multiple));
  }
  return JobShare{options.dp_index / parts, 1, options.cp_index, options.dp_index % parts, parts};
}

}  // namespace lakestream

#include "lakestream/tgb.h"

#include <utility>

#include "base/text.h"
#include "tgb/object_layout.h"

namespace lakestream {
namespace {

// Whether (dp, cp) can be set. The index is compared too: a mesh too large for 32 bits wraps round.
Status CheckPosition(const Tgb& tgb, uint32_t dp, uint32_t cp) {
  const Mesh& mesh = tgb.mesh();
  LS_RETURN_IF_ERROR(CheckMesh(mesh));
  if (dp >= mesh.dp || cp >= mesh.cp) {
    return InvalidArgumentError(Str("position (dp ", dp, ", cp ", cp,
                                    ") is outside the mesh of dp ", mesh.dp, " x cp ", mesh.cp),
                                Reason::kMeshMismatch);
  }
  if (tgb.slices()[mesh.SliceIndex(dp, cp)]) {
    return InvalidArgumentError(Str("the slice of (dp ", dp, ", cp ", cp, ") was set before"));
  }
  return OkStatus();
}

}  // namespace

Status Tgb::SetSlice(uint32_t dp, uint32_t cp, Buffer payload) {
  LS_RETURN_IF_ERROR(CheckPosition(*this, dp, cp));
  // A payload that no rank can read must not become a committed step, where it would stay for ever.
  if (const auto slice = DecodeSlice(payload); !slice.ok()) {
    return InvalidArgumentError(Str("the payload for (dp ", dp, ", cp ", cp,
                                    ") is not a slice: ", slice.status().message()));
  }
  slices_[mesh_.SliceIndex(dp, cp)] = std::move(payload);
  return OkStatus();
}

Status Tgb::SetSlice(uint32_t dp, uint32_t cp, std::span<const TensorView> tensors,
                     const SliceMetadata& metadata) {
  LS_RETURN_IF_ERROR(CheckPosition(*this, dp, cp));
  Result<Buffer> payload = EncodeSlice(tensors, metadata);
  if (!payload.ok()) {
    return payload.status().WithContext(Str("the slice of (dp ", dp, ", cp ", cp, ")"));
  }
  slices_[mesh_.SliceIndex(dp, cp)] = *std::move(payload);
  return OkStatus();
}

Status Tgb::CheckComplete() const {
  LS_RETURN_IF_ERROR(CheckMesh(mesh_));
  for (uint32_t cp = 0; cp < mesh_.cp; ++cp) {
    for (uint32_t dp = 0; dp < mesh_.dp; ++dp) {
      if (!slices_[mesh_.SliceIndex(dp, cp)]) {
        return InvalidArgumentError(
            Str("the slice of (dp ", dp, ", cp ", cp, ") is missing; set every position's"));
      }
    }
  }
  return OkStatus();
}

uint64_t Tgb::payload_bytes() const {
  uint64_t bytes = 0;
  for (const auto& slice : slices_) bytes += slice ? slice->size() : 0;
  return bytes;
}

}  // namespace lakestream

// SliceReader: the frames of one rank, from the store to verified, decoded slices.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "lakestream/tgb.h"
#include "ledger/step_index.h"

namespace lakestream {

// Where one slice lies: its step's place, and the range of its frame in the data object.
struct SlicePlace {
  StepPlace place;
  ByteRange range;
};

// Thread-safe.
class SliceReader {
 public:
  // Borrows the allocator.
  SliceReader(LedgerContext context, uint32_t dp, uint32_t cp, BufferAllocator* allocator)
      : context_(std::move(context)), dp_(dp), cp_(cp), allocator_(allocator) {}

  SlicePlace Find(const StepPlace& place) const;

  // Reads consecutive frames of one object with one ranged GET, verifies and decodes each. A frame
  // that fails its checks is read once more by itself; then kDataLoss naming step, object and
  // offset. kNotFound: the object is not there, lost or trimmed.
  Result<std::vector<SliceView>> Read(std::span<const SlicePlace> slices, const Deadline& deadline);

  uint64_t rereads() const { return rereads_; }

 private:
  Result<SliceView> Open(const Buffer& frame, const SlicePlace& slice) const;
  Result<SliceView> ReadAgain(const SlicePlace& slice, const Status& first_failure,
                              const Deadline& deadline);

  const LedgerContext context_;
  const uint32_t dp_;
  const uint32_t cp_;
  BufferAllocator* allocator_;
  std::atomic<uint64_t> rereads_{0};
};

}  // namespace lakestream

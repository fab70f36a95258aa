// The receiving end of a GET: checks the headers, allocates once, and goes on where a broken try
// stopped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lakestream/object_store.h"
#include "s3/http.h"

namespace lakestream::s3 {

// What the headers of a response say about its object. Sizes are absent if the headers lack them.
struct ObjectHeaders {
  std::optional<uint64_t> length;       // Content-Length
  std::optional<ByteRange> range;       // Content-Range: the bytes in this response ...
  std::optional<uint64_t> object_size;  // ... and the whole object's size
  std::string etag;
  int64_t modified_ms = 0;
  int64_t date_ms = 0;
};
ObjectHeaders ReadObjectHeaders(const HttpHeaders& headers);

// Collects one object, or a range of it, from one or more responses. Never hands on less than was
// asked for. Invariants: bytes [0, received) of the result are final; all of them come from the
// same version of the object (same ETag). Confined to one thread.
class ObjectSink final : public HttpBodySink {
 public:
  // `options` is borrowed. options.range must not be empty.
  ObjectSink(std::string key, const GetOptions& options);

  // Range and If-Match for the next try.
  HttpHeaders Headers() const;
  // Forgets what has arrived: the object was overwritten meanwhile.
  void Restart();
  // True if Headers() continue an earlier response.
  bool resuming() const { return received_ > 0; }
  // OK if all has arrived. kUnavailable: try again with Headers().
  Status CheckComplete() const;
  // Call once, when complete.
  GetResult Take();

  bool Begin(const HttpResponse& head) override;
  bool Append(ConstBytes bytes) override;
  Status problem() const override { return problem_; }

 private:
  Result<uint64_t> CheckHeaders(int status, const ObjectHeaders& headers);

  const std::string key_;
  const GetOptions& options_;
  BufferAllocator::Block block_;
  bool allocated_ = false;
  bool ask_for_range_ = false;  // a response without a length: a range's has one
  uint64_t first_ = 0;          // offset in the object of the result's first byte
  uint64_t wanted_ = 0;         // bytes of the result, once allocated
  uint64_t received_ = 0;
  ObjectInfo info_;
  Status problem_;
};

}  // namespace lakestream::s3

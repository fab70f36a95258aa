// Streams to measure: made by the product, described by it, read by it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lakestream/consumer.h"
#include "lakestream/producer.h"

namespace lakestream::bench {

// Ends the program with a message if `status` is a failure: a benchmark has nobody to report it to.
void Require(const Status& status);
template <typename T>
T Require(Result<T> result) {
  Require(result.status());
  return *std::move(result);
}

struct StreamShape {
  std::string uri;
  Mesh mesh{2, 1};
  uint64_t steps = 0;
  uint64_t slice_bytes = 0;
  uint64_t object_bytes_target = 32ull
                                 << 20;  // one TGB an object if a TGB has half of this or more
};

// Writes a sealed stream of random bytes, if it is not there yet.
std::shared_ptr<Stream> MakeStream(const StreamShape& shape, std::shared_ptr<ObjectStore> store,
                                   std::shared_ptr<Runtime> runtime);

// Where rank (0, 0)'s frames lie, by object: runs of consecutive frames are one range each if
// `join`.
struct FrameRange {
  std::string key;
  ByteRange range;
};
std::vector<FrameRange> FramesOfRank0(Stream& stream);

// Reads the whole stream as rank (0, 0): the payload bytes read, and the consumer's own account of
// it.
struct ReadOutcome {
  uint64_t payload_bytes = 0;
  double seconds = 0;
  ConsumerStats stats;
};
ReadOutcome ReadAll(std::shared_ptr<Stream> stream, const ConsumerOptions& options);

}  // namespace lakestream::bench

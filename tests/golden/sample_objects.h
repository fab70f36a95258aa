// Small data objects with known content: for the golden files, the format page's example, the tests
// of the tgb room and the fuzzers' seeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/tgb.h"
#include "lakestream/types.h"
#include "tgb/data_object.h"

namespace lakestream {

struct SampleObject {
  DataObjectSpec spec;
  std::vector<Tgb> tgbs;
  std::string state;
};

// The object of docs/format/tgb.md: two positions, one TGB, a few tokens, a small state.
SampleObject WorkedExample();
// Three TGBs of a 2 x 2 mesh: numbers, scalars, empty tensors and slices, ragged and string fields;
// every slice takes another size.
SampleObject MixedSample();
// A compressible slice and a state that needs an extent; zstd.
SampleObject CompressedSample();

// The whole object. Aborts the test program if it cannot be encoded.
std::vector<uint8_t> ObjectBytes(const SampleObject& sample);

// All that is in an object.
struct ObjectContent {
  ObjectHeader header;
  DataObjectFooter footer;
  std::vector<Buffer> payloads;  // safetensors, in frame order
  std::string state;
};
// Reads and verifies every part, as fsck would.
Result<ObjectContent> ReadObject(ConstBytes object);
// The same object again, stored with `zstd_level`.
SampleObject Rebuild(const ObjectContent& content, int zstd_level);

}  // namespace lakestream

// Data objects: the immutable files of slices that producers upload.
//
// [header, 64 bytes] [slice frames] [state block, if the state is not inline] [footer]
//
// The writer makes the whole object at once. Readers of the stream never look at header and footer
// (the manifest has all they need): those serve fsck, disaster recovery and foreign readers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/tgb.h"
#include "lakestream/types.h"
#include "tgb/object_layout.h"
#include "tgb/state_ref.h"

namespace lakestream {

inline constexpr uint32_t kDataObjectFormat = 1;
inline constexpr uint64_t kFooterTailBytes = 64;
inline constexpr size_t kProducerNameBytesMax = 64;

using StreamUuid = std::array<uint8_t, 16>;

// What a data object is, besides its TGBs.
struct DataObjectSpec {
  StreamUuid stream_uuid = {};
  SessionId session = 0;
  uint32_t object = 0;  // number in the session: 0, 1, 2, ...
  Mesh mesh;
  std::string producer;
  uint64_t first_sequence = 0;  // of the first TGB in the producer's sequence
  int zstd_level = 0;           // 0: store slices raw; 1..19: compress those that shrink
};

// An object ready to be put. `pieces` point into the payloads of the TGBs and into small blocks,
// all of which `storage` keeps alive; moving this keeps them valid.
struct EncodedDataObject {
  std::vector<ConstBytes> pieces;
  std::vector<Buffer> storage;
  ObjectLayout layout;
  StateRef state;
  uint64_t object_bytes = 0;
};

// Encodes 1..kTgbsPerObjectMax complete TGBs of the spec's mesh and the state right behind the last
// one. Payload bytes are hashed (and compressed), not copied. kInvalidArgument: incomplete TGB,
// TGB of another mesh (kMeshMismatch), state or frames over a limit (kTooLarge). Pure, thread-safe;
// takes about 0.1 ms per MiB of payload when it does not compress.
Result<EncodedDataObject> EncodeDataObject(const DataObjectSpec& spec, std::span<const Tgb> tgbs,
                                           std::string_view state);

struct ObjectHeader {
  StreamUuid stream_uuid = {};
  SessionId session = 0;
  uint32_t object = 0;
  Mesh mesh;
  uint32_t tgb_count = 0;
  bool operator==(const ObjectHeader&) const = default;
};
// The first 64 bytes of an object. kDataLoss (kChecksum), kFailedPrecondition (kFormatTooNew).
Result<ObjectHeader> DecodeObjectHeader(ConstBytes bytes);

struct DataObjectFooter {
  std::string producer;
  uint64_t first_sequence = 0;
  ObjectLayout layout;
  StateRef state;
  bool operator==(const DataObjectFooter&) const = default;
};
struct FooterTail {
  ByteRange body;  // in the object
  uint64_t body_checksum = 0;
  uint64_t object_bytes = 0;
};
// Reading a footer takes two steps: the last 64 bytes of the object, then the body that they point
// at. Everything is checked against the object's size and header: where frames, state and footer
// lie must agree exactly. kDataLoss (kChecksum), kFailedPrecondition (kFormatTooNew).
Result<FooterTail> DecodeFooterTail(ConstBytes last_bytes, uint64_t object_bytes);
Result<DataObjectFooter> DecodeFooterBody(ConstBytes body, const FooterTail& tail,
                                          const ObjectHeader& header);
// Both steps on a whole object.
Result<DataObjectFooter> DecodeFooter(ConstBytes object, const ObjectHeader& header);

}  // namespace lakestream

#include "producer/uploader.h"

#include <algorithm>

#include "base/text.h"
#include "manifest/keys.h"
#include "manifest/stream_json.h"
#include "runtime/backoff.h"
#include "runtime/parallel.h"
#include "tgb/data_object.h"

namespace lakestream {
namespace {

// Larger objects go up in parts side by side: one connection does not fill a fast network.
constexpr uint64_t kPartBytes = 32ull << 20;
constexpr uint64_t kSinglePutBytesMax = 64ull << 20;
constexpr size_t kPartsAtOnce = 4;

// Cuts `pieces` into consecutive parts of `part_bytes`, the last one smaller. Borrows the bytes.
std::vector<std::vector<ConstBytes>> CutParts(std::span<const ConstBytes> pieces,
                                              uint64_t part_bytes) {
  std::vector<std::vector<ConstBytes>> parts(1);
  uint64_t room = part_bytes;
  for (ConstBytes piece : pieces) {
    while (!piece.empty()) {
      if (room == 0) {
        parts.emplace_back();
        room = part_bytes;
      }
      const uint64_t take = std::min<uint64_t>(room, piece.size());
      parts.back().push_back(piece.first(take));
      piece = piece.subspan(take);
      room -= take;
    }
  }
  return parts;
}

Status PutInParts(Stream& stream, const std::string& key, const EncodedDataObject& object,
                  const Deadline& deadline) {
  const StoreCapabilities can = stream.store().capabilities();
  const uint64_t even = object.object_bytes / can.upload_parts_max + 1;
  const auto parts =
      CutParts(object.pieces, std::max({kPartBytes, can.upload_part_bytes_min, even}));
  LS_ASSIGN_OR_RETURN(auto upload, stream.store().StartUpload(key, deadline));
  Status put = ParallelFor(stream.runtime(), parts.size(), kPartsAtOnce, [&](size_t i) {
    return upload->PutPart(static_cast<uint32_t>(i + 1), parts[i], deadline);
  });
  if (put.ok()) put = upload->Complete(deadline).status();
  // It took so long that reclamation took it for abandoned: a new upload can succeed.
  return put.code() == Code::kNotFound ? AbortedError(put.message()) : put;
}

Status PutOnce(Stream& stream, const std::string& key, const EncodedDataObject& object,
               const Deadline& deadline) {
  const uint64_t single_max =
      std::min(kSinglePutBytesMax, stream.store().capabilities().single_put_bytes_max);
  if (object.object_bytes > single_max) return PutInParts(stream, key, object, deadline);
  return stream.store().Put(key, object.pieces, {}, deadline).status();
}

bool IsTransient(const Status& status) {
  return status.code() == Code::kUnavailable || status.code() == Code::kUnknownOutcome ||
         status.code() == Code::kAborted;
}

}  // namespace

Status UploadObject(Stream& stream, const std::string& producer, SessionId session, ObjectJob& job,
                    const Deadline& deadline) {
  const DataObjectSpec spec{UuidBytes(stream.info()),     session,  job.object,
                            stream.info().spec.mesh,      producer, job.first_sequence,
                            stream.info().spec.zstd_level};
  LS_ASSIGN_OR_RETURN(const EncodedDataObject object, EncodeDataObject(spec, job.tgbs, job.state));
  const std::string key = DataKey(stream.info().branch.name, session, job.object);
  Backoff backoff(std::chrono::milliseconds(50), std::chrono::seconds(5));
  while (true) {
    const Status put = PutOnce(stream, key, object, deadline);
    if (put.ok()) break;
    if (!IsTransient(put)) return put.WithContext(Str(stream.store().Describe(), "/", key));
    stream.runtime().Log(LogLevel::kWarning,
                         Str("upload of ", key, " is tried again: ", put.message()));
    LS_RETURN_IF_ERROR(SleepFor(stream.runtime(), backoff.NextDelay(stream.runtime()), deadline));
  }
  job.entry = {session,       job.object,          job.first_sequence,
               object.layout, object.object_bytes, object.state};
  return OkStatus();
}

}  // namespace lakestream

// UploadObject: encodes a data object and puts it where its entry will say.
#pragma once

#include "lakestream/stream.h"
#include "producer/object_queue.h"

namespace lakestream {

// Puts `job`'s object, in parts where the store or the size asks for it, until it is durable; then
// completes job.entry. The name is new and the bytes are fixed, so a put may be repeated: transient
// failures are retried with growing pauses until `deadline`. Other failures (denied, disk full,
// ...) are returned.
Status UploadObject(Stream& stream, const std::string& producer, SessionId session, ObjectJob& job,
                    const Deadline& deadline);

}  // namespace lakestream

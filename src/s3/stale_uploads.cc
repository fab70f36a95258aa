#include <utility>

#include "base/text.h"
#include "s3/s3_store.h"
#include "s3/upload.h"
#include "s3/xml.h"

namespace lakestream::s3 {

Result<uint64_t> S3Store::AbortStaleUploads(const StaleUploadOptions& options,
                                            const Deadline& deadline) {
  const std::string prefix = prefix_ + options.prefix;
  uint64_t count = 0;
  PendingUploads page;
  do {
    S3Request request{.operation = "LIST uploads of"};
    // Not with encoding-type=url: Ceph RGW then encodes keys, but neither says so nor does it for
    // the markers.
    request.query = {{"uploads", ""}, {"prefix", prefix}};
    if (page.truncated) {
      request.query.emplace_back("key-marker", page.next_key);
      if (!page.next_id.empty()) request.query.emplace_back("upload-id-marker", page.next_id);
    }
    const auto before = std::make_pair(page.next_key, page.next_id);
    request.check = [&page](const HttpResponse& response) -> Status {
      LS_ASSIGN_OR_RETURN(page, ParsePendingUploads(response.body));
      return OkStatus();
    };
    LS_RETURN_IF_ERROR(core_->client->Send(std::move(request), deadline).status());
    if (page.truncated && std::make_pair(page.next_key, page.next_id) == before) {
      return UnimplementedError(Str("LIST uploads of ", Describe(),
                                    ": the store's pages do not come to an end; Lakestream cannot "
                                    "find abandoned uploads there"));
    }
    for (const PendingUpload& upload : page.uploads) {
      // Some servers take the prefix for a hint.
      if (!upload.key.starts_with(prefix) || upload.begun_ms >= options.begun_before_ms) continue;
      bool ended = true;
      if (!options.dry_run) {
        LS_ASSIGN_OR_RETURN(ended, AbortS3Upload(*core_->client, upload.key, upload.id, deadline));
      }
      count += ended;
    }
  } while (page.truncated);
  return count;
}

}  // namespace lakestream::s3

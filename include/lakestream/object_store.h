// ObjectStore: the one door to storage. Eight operations on immutable or overwritten objects.
//
// Why not a file system interface: object stores have atomic whole-object writes, no directories,
// no appends and no locks, and a conditional write is all the coordination that Lakestream needs.
//
// Semantics, the same for every backend (tests/contract checks them):
// - A key is 1..1024 bytes of UTF-8 without NUL. "/" is just a character. A backend that cannot
// hold a key
//   (a local folder can't hold "a" and "a/b", "..", or an empty component) says kInvalidArgument.
// - Get and Head of a missing object: kNotFound. Delete of a missing object: success.
// - A put is atomic: a reader sees the old object or the whole new one, and what an acknowledged
// put stored
//   survives the death of the client and, on durable stores, a power loss.
// - A condition that is not met is a *value* (PutResult::stored == false), not an error.
// - kUnknownOutcome: the write may have been applied, now or later. Any other failure of a write:
// surely not applied.
// - A conditional put is sent at most once by each call, in every layer: the ledger alone repeats
// it.
// - A listing is sorted by the key's bytes and complete, or an error.
// - Read-after-write consistent: an acknowledged put is seen by every later Get, Head and List.
// - Times are the store's own (`date_ms`), never the client's; 0 where the store cannot tell.
//
// All calls block and honour the deadline. All methods are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lakestream/runtime.h"
#include "lakestream/status.h"
#include "lakestream/types.h"

namespace lakestream {

struct GetOptions {
  // Absent: the whole object. A range that ends past the object's end is cut there; one that starts
  // at or past the end of a non-empty object is kInvalidArgument.
  std::optional<ByteRange> range;
  // Reads fail with kAborted if the object's etag is no longer this one. Empty: no condition.
  std::string if_match;
  // Where the bytes go. Null: the heap.
  BufferAllocator* allocator = nullptr;
};

struct ObjectInfo {
  std::string key;
  uint64_t size = 0;
  std::string etag;         // opaque; changes whenever the content is written anew
  int64_t modified_ms = 0;  // last write, store's clock
  int64_t date_ms = 0;      // the store's clock when it answered
};

struct GetResult {
  Buffer data;
  ObjectInfo info;  // info.size is the whole object's size, also for a range
};

// The condition of a put. At most one of both.
struct PutOptions {
  bool if_absent = false;  // store only if no object has this key
  std::string if_match;    // store only over the object with this etag (capability `put_if_match`)
};

struct PutResult {
  bool stored = true;  // false: the condition was not met, nothing was written
  std::string etag;
  int64_t date_ms = 0;
};

struct ListOptions {
  std::string prefix;
  std::string start_after;  // keys strictly greater
  // 1..16384: so many entries a page at most. A store may give fewer (S3: 1000) and say that there
  // are more; on a local store each page reads the whole folder, so a few large ones are cheap.
  uint32_t limit = 16384;
};

struct ListPage {
  std::vector<ObjectInfo> objects;  // sorted by key; etag may be empty
  bool more = false;                // continue with start_after = last key
  int64_t date_ms = 0;
};

// What a store can do beyond the base. Flags are positive: true adds an ability.
struct StoreCapabilities {
  bool put_if_match = false;
  bool durable = false;                        // acknowledged writes survive power loss
  bool shared = false;                         // other processes see the same objects
  uint64_t single_put_bytes_max = UINT64_MAX;  // above: StartUpload
  uint64_t upload_part_bytes_min = 0;          // every part but the last
  uint64_t upload_parts_max = 10000;
};

// A large object in the making. Invisible until Complete() succeeds. Parts may be sent by several
// threads at once; each number 1, 2, ... once. The destructor aborts an upload that was not
// completed, without waiting for long; what it leaves behind is found by reclamation
// (AbortStaleUploads). An upload that was ended so cannot be completed: kNotFound, or
// kUnknownOutcome from a server that does not say why (Ceph RGW); a new one may be begun.
class Upload {
 public:
  virtual ~Upload() = default;
  virtual Status PutPart(uint32_t number, std::span<const ConstBytes> pieces,
                         const Deadline& deadline) = 0;
  // Unconditional. kUnknownOutcome: the object may be there (read it to know).
  virtual Result<PutResult> Complete(const Deadline& deadline) = 0;
  virtual Status Abort(const Deadline& deadline) = 0;
};

// Which uploads AbortStaleUploads() ends.
struct StaleUploadOptions {
  // Of their keys. A local store does not know the keys of what is unfinished: there any prefix
  // stands for all.
  std::string prefix;
  int64_t begun_before_ms = 0;  // by the store's clock
  bool dry_run = false;         // only counts them
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  virtual Result<GetResult> Get(const std::string& key, const GetOptions& options,
                                const Deadline& deadline) = 0;
  // The object's content is the concatenation of `pieces` (gathered without a copy where possible).
  virtual Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                                const PutOptions& options, const Deadline& deadline) = 0;
  virtual Result<std::unique_ptr<Upload>> StartUpload(const std::string& key,
                                                      const Deadline& deadline) = 0;
  virtual Result<ListPage> List(const ListOptions& options, const Deadline& deadline) = 0;
  virtual Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) = 0;
  // Removes each key; as many requests as the store needs. On failure some may be gone.
  virtual Status Delete(std::span<const std::string> keys, const Deadline& deadline) = 0;
  // Ends uploads that hold parts and were neither completed nor aborted, whoever began them; how
  // many. Choose a time that no living writer needs. A page of up to 1000 uploads is one request,
  // each that is ended one more. On failure some may be ended.
  virtual Result<uint64_t> AbortStaleUploads(const StaleUploadOptions& options,
                                             const Deadline& deadline) = 0;

  virtual StoreCapabilities capabilities() const = 0;
  // For messages: a URI without secrets, such as "s3://bucket/prefix".
  virtual std::string Describe() const = 0;
};

// What a store needs to be opened that is not in the URI. Secrets are never logged or described.
struct StoreOptions {
  std::string endpoint;  // S3: "http://127.0.0.1:9000"; empty: AWS. Also LAKESTREAM_S3_ENDPOINT,
                         // AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL
  std::string region;    // S3: also AWS_REGION, AWS_DEFAULT_REGION, profile; default us-east-1
  std::optional<bool>
      path_style;         // S3: default: path style with a custom endpoint or a dotted bucket
  std::string ca_bundle;  // TLS: a PEM file; also AWS_CA_BUNDLE, SSL_CERT_FILE
  std::string profile;  // S3: section of the shared credentials and config files; also AWS_PROFILE
  bool unsigned_payload = false;  // S3: skip hashing bodies; only with TLS or on trusted networks
  bool fsync = true;              // local: false gives up durability for speed (tests)
};

// Opens the store of a stream root URI: "file:///path", "/path", "relative/path", "~/path",
// "s3://bucket/prefix", "memory://name" (one per name in this process). Keys are relative to the
// root. No request is sent.
Result<std::shared_ptr<ObjectStore>> OpenStore(std::string_view uri, const StoreOptions& options,
                                               std::shared_ptr<Runtime> runtime);

// Races a few conditional writes under "probe/" and fails with kUnsafeStore if more than one writer
// won or a second write to a taken key was accepted. Leaves nothing behind. About 40 small
// requests.
Status CheckConditionalPut(ObjectStore& store, Runtime& runtime, const Deadline& deadline);

// Conveniences over these operations.
Result<PutResult> PutBytes(ObjectStore& store, const std::string& key, ConstBytes bytes,
                           const PutOptions& options, const Deadline& deadline);
Result<Buffer> GetBytes(ObjectStore& store, const std::string& key, const Deadline& deadline);

}  // namespace lakestream

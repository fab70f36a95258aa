// LocalStore: each object is a file of the same name below a root folder.
//
// For one machine, or for several that share a POSIX file system. An object's file holds exactly
// its bytes, so any tool can read it; change nothing by hand while programs run. How writes become
// atomic and durable is said in local_folder.h.
//
// Keys: a folder cannot hold an empty component, ".", "..", a component over 255 bytes, both "a"
// and "a/b", or a first component ".lakestream-tmp": kInvalidArgument. Folders stay when their last
// object is deleted, so "a" cannot be stored after "a/b" was, before somebody removes the folder.
// A key cannot leave the root by itself; symbolic links that the owner of the root puts there are
// followed (all must stay on one file system), so the root must not be writable for strangers.
//
// Errors: a full disk or quota is kResourceExhausted (kDiskFull), a missing right or a read-only
// mount kPermissionDenied, an I/O error kUnavailable, or kUnknownOutcome once the name may be
// visible. But for that last case a failed put leaves neither a name nor a temporary file.
#pragma once

#include <memory>
#include <string>

#include "lakestream/object_store.h"
#include "store/file_system.h"

namespace lakestream {

class LocalFolder;

struct LocalStoreOptions {
  // False (tests): acknowledged writes are atomic, but not safe from a power loss.
  bool fsync = true;
  // Null: the host's.
  std::shared_ptr<FileSystem> files;
};

// Thread-safe; any number of processes may use one root. Supports put_if_match. Times come from the
// file system's clock, never from this host's; they are 0 for a client that may not write below the
// root (it reads the boundary more often), and of a Get with a range up to a second old.
// Cost: Get is open, fstat, pread, close; 4 more small calls for the time of a whole object, as for
// Head. Put is create, write, 2 fstat, utimes, fdatasync, link or
// flock + rename, unlink, and the sync of one folder: about two flushes of the disk.
class LocalStore final : public ObjectStore {
 public:
  // `root` is an absolute path without a final "/" (but "/" itself). It is made by the first write;
  // kInvalidArgument if something else than a folder is there.
  static Result<std::unique_ptr<LocalStore>> Open(std::string root, LocalStoreOptions options,
                                                  std::shared_ptr<Runtime> runtime);
  ~LocalStore() override;

  Result<GetResult> Get(const std::string& key, const GetOptions& options,
                        const Deadline& deadline) override;
  Result<PutResult> Put(const std::string& key, std::span<const ConstBytes> pieces,
                        const PutOptions& options, const Deadline& deadline) override;
  // Parts are temporary files; Complete copies them into one. The upload may outlive the store.
  Result<std::unique_ptr<Upload>> StartUpload(const std::string& key,
                                              const Deadline& deadline) override;
  // Reads the folders that can hold keys of the page, each as a whole, and nothing else.
  Result<ListPage> List(const ListOptions& options, const Deadline& deadline) override;
  Result<ObjectInfo> Head(const std::string& key, const Deadline& deadline) override;
  Status Delete(std::span<const std::string> keys, const Deadline& deadline) override;
  // Unfinished puts of killed processes are ended too, and count.
  Result<uint64_t> AbortStaleUploads(const StaleUploadOptions& options,
                                     const Deadline& deadline) override;
  StoreCapabilities capabilities() const override;
  // The root's path: OpenStore takes it as it is.
  std::string Describe() const override;

 private:
  explicit LocalStore(std::shared_ptr<LocalFolder> folder, bool fsync);

  const std::shared_ptr<LocalFolder> folder_;
  const bool fsync_;
};

}  // namespace lakestream

// What a stream root URI names. Pure: the table in store_uri_test.cc is the specification.
//
//   s3://bucket/prefix    raw, as the aws command line has it: "%20" is three characters of a key
//   memory://name         one store per name in this process
//   file:///path          percent-decoded (RFC 8089); host empty or "localhost"
//   /path, path           never decoded; a relative one is below the working folder
//   ~, ~/path             below $HOME
//
// Final and doubled "/" of paths do not matter; of an S3 prefix only the final ones are dropped.
// What looks like a URI of another kind is refused: a typo must not become a local folder.
#pragma once

#include <string>
#include <string_view>

#include "lakestream/status.h"

namespace lakestream {

struct StoreUri {
  enum class Backend { kLocal, kMemory, kS3 };
  Backend backend = Backend::kLocal;
  std::string path;    // kLocal: absolute, no final "/" (but "/" itself)
  std::string name;    // kMemory
  std::string bucket;  // kS3
  std::string prefix;  // kS3: no final "/"; may be empty
};

// What a path is relative to; empty if not known.
struct PathBases {
  std::string working_folder;
  std::string home;
};

// kInvalidArgument says what is wrong and which forms there are.
Result<StoreUri> ParseStoreUri(std::string_view uri, const PathBases& bases);

}  // namespace lakestream

// The walk behind LocalStore::List: files below a root in the order of their keys' bytes.
#pragma once

#include <string>
#include <vector>

#include "store/local_folder.h"

namespace lakestream {

struct ListedFile {
  std::string key;
  FileInfo info;
};

// The first limit + 1 files with the prefix and keys above start_after. Reads only folders that can
// hold such a key; memory for the entries of the folders on the path to the current one. Files that
// vanish meanwhile are left out; any other failure fails the listing.
Result<std::vector<ListedFile>> ListFiles(LocalFolder& folder, const ListOptions& options,
                                          const Deadline& deadline);

}  // namespace lakestream

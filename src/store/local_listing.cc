#include "store/local_listing.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace lakestream {
namespace {

// Collects keys by descending folder by folder. The children of a folder are visited in the order
// of their names, a folder's name counted with its "/": "a-b" comes before "a/b", because '-' comes
// before '/'. As no name contains a "/", this is the order of the keys.
class Walk {
 public:
  Walk(LocalFolder& folder, const ListOptions& options, const Deadline& deadline)
      : folder_(folder), options_(options), deadline_(deadline) {}

  // `base` is "" or ends with "/".
  Status Visit(const std::string& base) {
    LS_RETURN_IF_ERROR(
        CheckDeadline(folder_.runtime(), deadline_, Str("listing of '", options_.prefix, "'")));
    LS_ASSIGN_OR_RETURN(const std::vector<std::string> children, Children(base));
    for (const std::string& child : children) {
      if (IsFull()) break;
      LS_RETURN_IF_ERROR(child.ends_with('/') ? Visit(child) : Add(child));
    }
    return OkStatus();
  }

  std::vector<ListedFile> TakeFiles() { return std::move(files_); }

 private:
  bool IsFull() const { return files_.size() > options_.limit; }

  // The wanted keys of files and prefixes of folders (ending with "/") right below `base`, sorted.
  Result<std::vector<std::string>> Children(const std::string& base) {
    std::vector<std::string> children;
    const Result<std::vector<FolderEntry>> entries =
        folder_.files().ReadFolder(folder_.PathOf(base));
    if (entries.status().code() == Code::kNotFound) return children;
    LS_RETURN_IF_ERROR(entries.status());
    for (const FolderEntry& entry : *entries) {
      if (entry.kind == FileKind::kOther) continue;
      if (base.empty() && entry.name == kTemporaryFolder) continue;
      const bool is_folder = entry.kind == FileKind::kFolder;
      std::string child = Str(base, entry.name, is_folder ? "/" : "");
      if (is_folder ? CanHoldWanted(child) : IsWanted(child)) children.push_back(std::move(child));
    }
    std::sort(children.begin(), children.end());
    return children;
  }

  bool IsWanted(std::string_view key) const {
    return key.starts_with(options_.prefix) && key > options_.start_after;
  }

  bool CanHoldWanted(std::string_view folder) const {
    const std::string_view prefix = options_.prefix;
    if (!folder.starts_with(prefix.substr(0, folder.size()))) return false;
    // All keys in it start with `folder`: they are all below start_after if its start is above.
    return std::string_view(options_.start_after).substr(0, folder.size()) <= folder;
  }

  Status Add(const std::string& key) {
    const Result<FileInfo> info = folder_.files().Stat(folder_.PathOf(key));
    if (info.status().code() == Code::kNotFound) return OkStatus();
    LS_RETURN_IF_ERROR(info.status());
    if (info->kind == FileKind::kFile) files_.push_back({key, *info});
    return OkStatus();
  }

  LocalFolder& folder_;
  const ListOptions& options_;
  const Deadline& deadline_;
  std::vector<ListedFile> files_;
};

}  // namespace

Result<std::vector<ListedFile>> ListFiles(LocalFolder& folder, const ListOptions& options,
                                          const Deadline& deadline) {
  const size_t slash = options.prefix.rfind('/');
  const std::string base = slash == std::string::npos ? "" : options.prefix.substr(0, slash + 1);
  // A prefix such as "../" names no folder of this store: no key can have it.
  const bool holdable = base.empty() || LocalFolder::CheckHoldable(base.substr(0, slash)).ok();
  if (!holdable) return std::vector<ListedFile>();
  Walk walk(folder, options, deadline);
  LS_RETURN_IF_ERROR(walk.Visit(base));
  return walk.TakeFiles();
}

}  // namespace lakestream

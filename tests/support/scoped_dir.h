// ScopedDir: a fresh folder for one test, removed with everything in it at the end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace lakestream {

// Made in the folder for temporary files (TMPDIR), or in `parent`. path() is empty if it could not
// be made, so that the first use fails.
class ScopedDir {
 public:
  explicit ScopedDir(const std::string& parent = "") {
    std::error_code error;
    const std::string base =
        parent.empty() ? std::filesystem::temp_directory_path(error).string() : parent;
    std::string name = base + "/lakestream-test-XXXXXX";
    if (!error && mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScopedDir() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  ScopedDir(const ScopedDir&) = delete;
  ScopedDir& operator=(const ScopedDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace lakestream

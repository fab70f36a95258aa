// The multipart upload of LocalStore.
#pragma once

#include <memory>
#include <string>

#include "store/local_folder.h"

namespace lakestream {

// Each part is a temporary file of its own, so that parts of any size may come in any order and
// from several threads; Complete copies them into one file and publishes it. The key must be one
// that a local folder can hold.
std::unique_ptr<Upload> NewLocalUpload(std::shared_ptr<LocalFolder> folder, std::string key,
                                       uint64_t parts_max);

}  // namespace lakestream

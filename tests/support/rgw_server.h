// A real S3 server (Ceph RGW) on loopback, for the life of this object. Scripts: tests/s3_server.
#pragma once

#include <memory>
#include <string>

#include "lakestream/object_store.h"
#include "lakestream/status.h"

namespace lakestream {

enum class RgwStorage {
  kMemory,  // up in about 1.5 s; a killed server has lost its data
  kDisk,    // up in about 4.5 s; keeps every acknowledged write when it is killed
};

class RgwServer {
 public:
  // kUnavailable with the script's last lines if it does not come up. The server also ends when
  // this process dies, however it dies.
  static Result<std::unique_ptr<RgwServer>> Start(RgwStorage storage = RgwStorage::kMemory);
  ~RgwServer();

  const std::string& endpoint() const { return endpoint_; }  // "http://127.0.0.1:port"
  const std::string& bucket() const { return bucket_; }
  const std::string& access_key() const { return access_key_; }
  const std::string& secret_key() const { return secret_key_; }
  const std::string& folder() const { return folder_; }  // has the pid files of its processes
  // Starts again what was killed of it, on the same port.
  Status Restart();
  // Sets AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and LAKESTREAM_S3_ENDPOINT of this process, for
  // OpenStore("s3://" + bucket() + "/...") and for child processes.
  void SetEnvironment() const;

 private:
  RgwServer() = default;
  std::string scripts_;
  std::string folder_;
  std::string endpoint_;
  std::string bucket_;
  std::string access_key_;
  std::string secret_key_;
};

}  // namespace lakestream

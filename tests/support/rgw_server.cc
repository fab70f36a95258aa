#include "tests/support/rgw_server.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/text.h"

namespace lakestream {
namespace {

struct ScriptResult {
  int code = -1;
  std::string output;
};

ScriptResult RunScript(const std::string& command) {
  ScriptResult result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0) {
    result.output.append(buffer, count);
  }
  result.code = pclose(pipe);
  return result;
}

std::string LastLines(const std::string& path) {
  return RunScript(Str("tail -n 15 '", path, "' 2>/dev/null")).output;
}

}  // namespace

Result<std::unique_ptr<RgwServer>> RgwServer::Start(RgwStorage storage) {
  std::unique_ptr<RgwServer> server(new RgwServer);
  server->scripts_ = LS_RGW_SCRIPTS;
  char folder[] = "/tmp/ls-rgw.XXXXXX";  // short: unix sockets lie in it
  if (mkdtemp(folder) == nullptr) return UnavailableError("no folder for the S3 server");
  server->folder_ = folder;
  const std::string log = Str(folder, "/start.log");
  const ScriptResult started = RunScript(Str(
      "RGW_DIR=", folder, " RGW_STORE=", storage == RgwStorage::kMemory ? "memstore" : "bluestore",
      " RGW_OWNER_PID=", getpid(), " bash '", server->scripts_, "/start.sh' 2>", log));
  if (started.code != 0) {
    return UnavailableError(Str("the S3 server did not start:\n", LastLines(log)));
  }
  std::map<std::string, std::string> values;
  std::istringstream lines(started.output);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  server->endpoint_ = values["RGW_ENDPOINT"];
  server->bucket_ = values["RGW_BUCKET"];
  server->access_key_ = values["RGW_ACCESS"];
  server->secret_key_ = values["RGW_SECRET"];
  return server;
}

RgwServer::~RgwServer() {
  if (!folder_.empty()) RunScript(Str("bash '", scripts_, "/stop.sh' ", folder_, " 2>&1"));
}

Status RgwServer::Restart() {
  const ScriptResult result = RunScript(Str("bash '", scripts_, "/restart.sh' ", folder_, " 2>&1"));
  return result.code == 0 ? OkStatus() : UnavailableError("not restarted: " + result.output);
}

void RgwServer::SetEnvironment() const {
  setenv("AWS_ACCESS_KEY_ID", access_key_.c_str(), 1);
  setenv("AWS_SECRET_ACCESS_KEY", secret_key_.c_str(), 1);
  setenv("LAKESTREAM_S3_ENDPOINT", endpoint_.c_str(), 1);
}

}  // namespace lakestream

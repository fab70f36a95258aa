// A small HTTP/1.1 server for tests, whose every answer (and every fault) is written by the test.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lakestream {

struct ScriptedRequest {
  std::string method;
  std::string target;                          // path and query, as sent
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  uint64_t number = 0;      // 0, 1, 2, ... over all connections
  uint64_t connection = 0;  // which connection it came on
};

struct ScriptedReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;  // Content-Length is added
  std::string body;

  // Faults.
  int delay_ms = 0;                     // before the first byte of the answer
  int64_t body_bytes_sent = INT64_MAX;  // close the connection after this many bytes of the body
  bool announce_length = true;          // false: no Content-Length; the end is the connection's
  bool close_without_answer = false;    // end the connection instead of answering
  bool reset = false;                   // end it by a reset instead of a clean end
  bool stop_listening = false;          // refuse new connections from now on
  std::string raw;                      // if not empty: sent instead of status, headers and body
  bool keep_alive = true;
};

// Handles each connection on its own thread, so `handler` must be thread-safe. Requests are read
// completely (with "Expect: 100-continue" obeyed) before the handler is called.
class ScriptedHttpServer {
 public:
  using Handler = std::function<ScriptedReply(const ScriptedRequest&)>;
  struct Options {
    // PEM files; if set, the server speaks TLS.
    std::string certificate_file;
    std::string key_file;
  };
  // Listens on a free port of 127.0.0.1. Aborts the process if it cannot.
  explicit ScriptedHttpServer(Handler handler);
  ScriptedHttpServer(Handler handler, const Options& options);
  ~ScriptedHttpServer();  // ends all connections

  int port() const;
  std::string url() const;  // "http://127.0.0.1:port", "https://localhost:port"
  uint64_t request_count() const;
  uint64_t connection_count() const;
  // All requests so far.
  std::vector<ScriptedRequest> requests() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lakestream

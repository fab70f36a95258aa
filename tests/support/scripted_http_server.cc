#include "tests/support/scripted_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace lakestream {
namespace {

// A connection's bytes, over TLS or not.
class Channel {
 public:
  Channel(int fd, SSL_CTX* context) : fd_(fd) {
    if (context == nullptr) return;
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, fd);
    good_ = SSL_accept(ssl_) == 1;
  }
  ~Channel() {
    if (ssl_ != nullptr) {
      if (good_) SSL_shutdown(ssl_);
      SSL_free(ssl_);
    }
    close(fd_);
  }
  bool good() const { return good_; }
  bool Read(std::string& into) {
    char buffer[16384];
    const auto count = ssl_ != nullptr ? SSL_read(ssl_, buffer, sizeof buffer)
                                       : static_cast<int>(recv(fd_, buffer, sizeof buffer, 0));
    if (count <= 0) return false;
    into.append(buffer, static_cast<size_t>(count));
    return true;
  }
  bool Write(std::string_view text) {
    while (!text.empty()) {
      const auto count = ssl_ != nullptr
                             ? SSL_write(ssl_, text.data(), static_cast<int>(text.size()))
                             : static_cast<int>(send(fd_, text.data(), text.size(), MSG_NOSIGNAL));
      if (count <= 0) return false;
      text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }
  void MakeCloseAReset() {
    linger hard{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    good_ = false;
  }

 private:
  int fd_;
  SSL* ssl_ = nullptr;
  bool good_ = true;
};

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Fills in all but the body. False if `head` is no request.
bool ParseHead(const std::string& head, ScriptedRequest& request) {
  const size_t line_end = head.find("\r\n");
  const size_t space = head.find(' ');
  const size_t space2 = head.find(' ', space + 1);
  if (space == std::string::npos || space2 == std::string::npos || space2 > line_end) return false;
  request.method = head.substr(0, space);
  request.target = head.substr(space + 1, space2 - space - 1);
  size_t at = line_end + 2;
  while (at < head.size()) {
    const size_t end = std::min(head.find("\r\n", at), head.size());
    const size_t colon = head.find(':', at);
    if (colon < end) {
      size_t value = colon + 1;
      while (value < end && head[value] == ' ') ++value;
      request.headers[Lower(head.substr(at, colon - at))] = head.substr(value, end - value);
    }
    at = end + 2;
  }
  return true;
}

// Reads one request; `unread` holds bytes that came too early. False at the connection's end.
bool ReadRequest(Channel& channel, std::string& unread, ScriptedRequest& request) {
  size_t head_end = 0;
  while ((head_end = unread.find("\r\n\r\n")) == std::string::npos) {
    if (!channel.Read(unread)) return false;
  }
  if (!ParseHead(unread.substr(0, head_end + 2), request)) return false;
  unread.erase(0, head_end + 4);
  if (request.headers.count("expect") > 0 && !channel.Write("HTTP/1.1 100 Continue\r\n\r\n")) {
    return false;
  }
  const size_t length = request.headers.count("content-length") > 0
                            ? std::stoull(request.headers["content-length"])
                            : 0;
  while (unread.size() < length) {
    if (!channel.Read(unread)) return false;
  }
  request.body = unread.substr(0, length);
  unread.erase(0, length);
  return true;
}

// False if the connection is over.
bool SendReply(Channel& channel, const ScriptedRequest& request, const ScriptedReply& reply) {
  if (reply.delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(reply.delay_ms));
  if (reply.reset) channel.MakeCloseAReset();
  if (reply.close_without_answer) return false;
  if (!reply.raw.empty()) return channel.Write(reply.raw) && reply.keep_alive;
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Scripted\r\n";
  bool has_length = false;
  for (const auto& [name, value] : reply.headers) {
    head += name + ": " + value + "\r\n";
    has_length = has_length || Lower(name) == "content-length";
  }
  if (reply.announce_length && !has_length) {
    head += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n";
  }
  if (!reply.keep_alive || !reply.announce_length) head += "Connection: close\r\n";
  if (!channel.Write(head + "\r\n")) return false;
  if (request.method == "HEAD") return reply.keep_alive;
  const auto size = std::min<uint64_t>(
      reply.body.size(), static_cast<uint64_t>(std::max<int64_t>(reply.body_bytes_sent, 0)));
  if (!channel.Write(std::string_view(reply.body).substr(0, size))) return false;
  return size == reply.body.size() && reply.keep_alive && reply.announce_length;
}

}  // namespace

class ScriptedHttpServer::Impl {
 public:
  Impl(Handler handler, const Options& options) : handler_(std::move(handler)) {
    std::signal(SIGPIPE, SIG_IGN);  // SSL_write has no MSG_NOSIGNAL
    if (!options.certificate_file.empty()) StartTls(options);
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 128) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }

  ~Impl() {
    stopping_ = true;
    acceptor_.join();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (int fd : open_) shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    if (context_ != nullptr) SSL_CTX_free(context_);
  }

  int port() const { return port_; }
  bool tls() const { return context_ != nullptr; }
  uint64_t connection_count() const { return connections_; }
  std::vector<ScriptedRequest> requests() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }
  uint64_t request_count() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return requests_.size();
  }

 private:
  void StartTls(const Options& options) {
    context_ = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context_, options.certificate_file.c_str()) != 1 ||
        SSL_CTX_use_PrivateKey_file(context_, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
      std::abort();
    }
  }

  void Accept() {
    while (!stopping_ && !refusing_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (poll(&waiting, 1, 10) != 1) continue;
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      std::lock_guard<std::mutex> lock(mutex_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd, number = connections_++] { Serve(fd, number); });
    }
    close(listener_);
    refused_ = true;
    while (!stopping_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  void Serve(int fd, uint64_t connection) {
    {
      Channel channel(fd, context_);
      std::string unread;
      while (channel.good() && ServeOne(channel, unread, connection)) {
      }
      std::lock_guard<std::mutex> lock(mutex_);
      open_.erase(std::find(open_.begin(), open_.end(), fd));
    }
  }

  bool ServeOne(Channel& channel, std::string& unread, uint64_t connection) {
    ScriptedRequest request;
    if (!ReadRequest(channel, unread, request)) return false;
    request.connection = connection;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      request.number = requests_.size();
      requests_.push_back(request);
    }
    const ScriptedReply reply = handler_(request);
    if (reply.stop_listening) {
      refusing_ = true;
      while (!refused_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return SendReply(channel, request, reply);
  }

  Handler handler_;
  SSL_CTX* context_ = nullptr;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> refusing_{false};
  std::atomic<bool> refused_{false};
  std::atomic<uint64_t> connections_{0};
  std::thread acceptor_;
  mutable std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::vector<ScriptedRequest> requests_;
};

ScriptedHttpServer::ScriptedHttpServer(Handler handler)
    : ScriptedHttpServer(std::move(handler), Options()) {}
ScriptedHttpServer::ScriptedHttpServer(Handler handler, const Options& options)
    : impl_(std::make_unique<Impl>(std::move(handler), options)) {}
ScriptedHttpServer::~ScriptedHttpServer() = default;

int ScriptedHttpServer::port() const { return impl_->port(); }
std::string ScriptedHttpServer::url() const {
  return (impl_->tls() ? "https://localhost:" : "http://127.0.0.1:") + std::to_string(port());
}
uint64_t ScriptedHttpServer::request_count() const { return impl_->request_count(); }
uint64_t ScriptedHttpServer::connection_count() const { return impl_->connection_count(); }
std::vector<ScriptedRequest> ScriptedHttpServer::requests() const { return impl_->requests(); }

}  // namespace lakestream

#include "s3/curl_http.h"

#include <curl/curl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"

namespace lakestream::s3 {
namespace {

constexpr size_t kIdleHandlesMax = 128;
constexpr uint64_t kHeldBodyBytesMax = 64ull << 20;  // a response kept in memory; sinks have none
constexpr uint64_t kErrorBodyBytesMax = 1ull << 20;
constexpr Duration kCancelCheck = std::chrono::milliseconds(50);
// A body from this size on waits for "100 Continue", so that a refusal (wrong credentials) is read
// before the body is sent and cannot be lost in a connection reset.
constexpr uint64_t kExpectBodyBytesMin = 1ull << 20;

// One connection's worth of libcurl. The multi handle drives the transfer and owns the connection;
// unlike curl_easy_perform it lets us look at the cancel token every 50 ms.
struct Handle {
  CURL* easy = nullptr;
  CURLM* multi = nullptr;
};

void Destroy(Handle handle) {
  curl_easy_cleanup(handle.easy);
  curl_multi_cleanup(handle.multi);
}

class HandlePool {
 public:
  HandlePool() : pid_(getpid()) {
    // Not thread-safe in old versions of libcurl, hence once.
    static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)once;
  }
  ~HandlePool() {
    if (getpid() != pid_) return;
    for (Handle handle : idle_) Destroy(handle);
  }

  // A null easy handle if memory has run out.
  Handle Acquire() {
    {
      MutexLock lock(mutex_);
      if (getpid() != pid_) {
        // In a forked child: closing would end the parent's TLS sessions, so they are forgotten.
        idle_.clear();
        pid_ = getpid();
      }
      if (!idle_.empty()) {
        Handle handle = idle_.back();  // the most recently used: its connection is likely alive
        idle_.pop_back();
        return handle;
      }
    }
    return {curl_easy_init(), curl_multi_init()};
  }

  void Release(Handle handle) {
    curl_easy_reset(handle.easy);
    {
      MutexLock lock(mutex_);
      if (idle_.size() < kIdleHandlesMax) {
        idle_.push_back(handle);
        return;
      }
    }
    Destroy(handle);
  }

 private:
  Mutex mutex_;
  std::vector<Handle> idle_ LS_GUARDED_BY(mutex_);
  pid_t pid_;
};

// The state of one exchange, reached by libcurl's callbacks.
struct Exchange {
  explicit Exchange(const HttpRequest& r) : request(r) {
    for (ConstBytes piece : r.body) body_bytes += piece.size();
  }

  const HttpRequest& request;
  uint64_t body_bytes = 0;
  size_t piece_index = 0;   // body position: index of the piece ...
  size_t piece_offset = 0;  // ... and offset in it
  bool body_touched = false;
  HttpReply reply;
  bool begun = false;      // the sink has the headers
  bool abandoned = false;  // the sink, or the limit on held bodies, ended it
  std::string too_large;
  uint64_t progress = 0;  // bytes moved so far, to notice a stall

  bool to_sink() const { return request.sink != nullptr && reply.response.status / 100 == 2; }
  bool Begin() {
    if (begun || !to_sink()) return true;
    begun = true;
    abandoned = !request.sink->Begin(reply.response);
    return !abandoned;
  }
};

size_t OnHeader(char* data, size_t, size_t size, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  exchange.progress += size;
  HttpResponse& response = exchange.reply.response;
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.substr(0, 5) == "HTTP/") {  // also after "100 Continue": the newest response counts
    response = HttpResponse();
    const size_t space = line.find(' ');
    if (space != std::string_view::npos) {
      for (char c : line.substr(space + 1, 3)) {
        if (c >= '0' && c <= '9') response.status = response.status * 10 + (c - '0');
      }
    }
    return size;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  response.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  return size;
}

size_t OnBody(char* data, size_t, size_t size, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  exchange.progress += size;
  exchange.reply.bytes_received += size;
  if (!exchange.Begin()) return 0;
  if (exchange.to_sink()) {
    exchange.abandoned =
        !exchange.request.sink->Append({reinterpret_cast<const uint8_t*>(data), size});
    return exchange.abandoned ? 0 : size;
  }
  std::string& body = exchange.reply.response.body;
  const bool success = exchange.reply.response.status / 100 == 2;
  if (body.size() + size > (success ? kHeldBodyBytesMax : kErrorBodyBytesMax)) {
    exchange.too_large = "the response is larger than expected";
    return 0;
  }
  body.append(data, size);
  return size;
}

size_t OnReadBody(char* target, size_t, size_t room, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  exchange.body_touched = true;
  size_t copied = 0;
  while (copied < room && exchange.piece_index < exchange.request.body.size()) {
    ConstBytes rest = exchange.request.body[exchange.piece_index].subspan(exchange.piece_offset);
    const size_t count = std::min(rest.size(), room - copied);
    if (count > 0) std::memcpy(target + copied, rest.data(), count);
    copied += count;
    exchange.piece_offset += count;
    if (count == rest.size()) {
      ++exchange.piece_index;
      exchange.piece_offset = 0;
    }
  }
  exchange.progress += copied;
  return copied;
}

// libcurl by itself sends a request again over a new connection if a kept one dies before the
// first byte of the answer; it calls this to rewind the body first. Refusing keeps a conditional
// put at most once: a server acts on a put only with its whole body, and no second body is sent.
int OnSeekBody(void* user, curl_off_t offset, int origin) {
  auto& exchange = *static_cast<Exchange*>(user);
  if (exchange.request.at_most_once || offset != 0 || origin != SEEK_SET) {
    return CURL_SEEKFUNC_FAIL;
  }
  exchange.piece_index = 0;
  exchange.piece_offset = 0;
  return CURL_SEEKFUNC_OK;
}

class HeaderList {
 public:
  ~HeaderList() { curl_slist_free_all(list_); }
  void Add(const std::string& line) {
    if (curl_slist* longer = curl_slist_append(list_, line.c_str())) list_ = longer;
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

bool NeverSent(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return true;
    default:
      return false;
  }
}

bool CannotWork(CURLcode code) {
  return code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ||
         code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
}

class CurlTransport final : public HttpTransport {
 public:
  CurlTransport(std::shared_ptr<Runtime> runtime, CurlOptions options)
      : runtime_(std::move(runtime)), options_(std::move(options)) {}

  HttpReply Send(const HttpRequest& request, const Deadline& deadline) override {
    Exchange exchange(request);
    Handle handle = pool_.Acquire();
    if (handle.easy == nullptr || handle.multi == nullptr) {
      exchange.reply.problem = "out of memory for a connection";
      Destroy(handle);
      return std::move(exchange.reply);
    }
    HeaderList headers;
    char detail[CURL_ERROR_SIZE] = "";
    Prepare(handle.easy, exchange, headers);
    curl_easy_setopt(handle.easy, CURLOPT_ERRORBUFFER, detail);
    curl_multi_add_handle(handle.multi, handle.easy);
    CURLcode code = CURLE_OK;
    HttpOutcome outcome = Drive(handle, exchange, deadline, code);
    Conclude(handle.easy, exchange, outcome, code, detail);
    curl_multi_remove_handle(handle.multi, handle.easy);
    pool_.Release(handle);
    return std::move(exchange.reply);
  }

 private:
  void Prepare(CURL* easy, Exchange& exchange, HeaderList& headers) const;
  void PrepareBody(CURL* easy, Exchange& exchange, HeaderList& headers) const;
  HttpOutcome Drive(Handle handle, Exchange& exchange, const Deadline& deadline, CURLcode& code);
  static void Conclude(CURL* easy, Exchange& exchange, HttpOutcome outcome, CURLcode code,
                       const char* detail);

  std::shared_ptr<Runtime> runtime_;
  CurlOptions options_;
  HandlePool pool_;
};

void CurlTransport::Prepare(CURL* easy, Exchange& exchange, HeaderList& headers) const {
  const HttpRequest& request = exchange.request;
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);  // "a/../b" is a key, not a path
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L * 1024);
  // Servers close idle connections silently after 20 s and more; an older one isn't worth trying.
  curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, 20L);
  curl_easy_setopt(
      easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(
          std::chrono::duration_cast<std::chrono::milliseconds>(request.connect_timeout).count()));
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  if (!options_.ca_bundle.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, options_.ca_bundle.c_str());
  }
  if (request.bypass_proxy) curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  for (const HttpHeader& header : request.headers) {
    // libcurl drops "Name:" and sends an empty value for "Name;".
    headers.Add(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  PrepareBody(easy, exchange, headers);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
}

void CurlTransport::PrepareBody(CURL* easy, Exchange& exchange, HeaderList& headers) const {
  const HttpRequest& request = exchange.request;
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request.method == "PUT" || request.method == "POST") {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, OnReadBody);
    curl_easy_setopt(easy, CURLOPT_READDATA, &exchange);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, OnSeekBody);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, &exchange);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(exchange.body_bytes));
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 256L * 1024);
    headers.Add(exchange.body_bytes >= kExpectBodyBytesMin ? "Expect: 100-continue" : "Expect:");
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

HttpOutcome CurlTransport::Drive(Handle handle, Exchange& exchange, const Deadline& deadline,
                                 CURLcode& code) {
  uint64_t seen = 0;
  TimePoint moved = runtime_->Now();
  while (true) {
    int running = 0;
    if (curl_multi_perform(handle.multi, &running) != CURLM_OK) {
      code = CURLE_FAILED_INIT;
      return HttpOutcome::kFailed;
    }
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(handle.multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      code = message->data.result;
      return code == CURLE_OK ? HttpOutcome::kAnswered : HttpOutcome::kFailed;
    }
    const TimePoint now = runtime_->Now();
    if (deadline.cancelled()) return HttpOutcome::kCancelled;
    if (now >= deadline.at) return HttpOutcome::kDeadline;
    if (exchange.progress != seen) {
      seen = exchange.progress;
      moved = now;
    } else if (now - moved >= exchange.request.stall_timeout) {
      code = CURLE_OPERATION_TIMEDOUT;
      return HttpOutcome::kFailed;
    }
    Duration wait =
        std::min<Duration>(moved + exchange.request.stall_timeout - now, std::chrono::seconds(1));
    if (deadline.at != TimePoint::max()) wait = std::min<Duration>(wait, deadline.at - now);
    if (deadline.cancel != nullptr) wait = std::min(wait, kCancelCheck);
    // Rounded up: a wait of 0 ms would spin.
    const auto wait_ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    curl_multi_poll(handle.multi, nullptr, 0, static_cast<int>(wait_ms), nullptr);
  }
}

void CurlTransport::Conclude(CURL* easy, Exchange& exchange, HttpOutcome outcome, CURLcode code,
                             const char* detail) {
  HttpReply& reply = exchange.reply;
  // Counts all attempts of libcurl together, so it is also right after a dead kept connection.
  long request_bytes = 0;
  curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request_bytes);
  curl_off_t uploaded = 0;
  curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
  reply.bytes_sent = static_cast<uint64_t>(uploaded);
  reply.request_sent =
      request_bytes > 0 || exchange.body_touched || !reply.response.headers.empty();
  if (outcome == HttpOutcome::kAnswered && !exchange.Begin()) outcome = HttpOutcome::kAbandoned;
  if (outcome == HttpOutcome::kFailed) {
    if (exchange.abandoned) outcome = HttpOutcome::kAbandoned;
    if (!reply.request_sent && CannotWork(code)) outcome = HttpOutcome::kMisconfigured;
    // A failure of unknown kind before the first byte was counted: better to assume the worst.
    if (!reply.request_sent && !NeverSent(code) && code != CURLE_OPERATION_TIMEDOUT) {
      reply.request_sent = true;
    }
    reply.problem = !exchange.too_large.empty()        ? exchange.too_large
                    : detail[0] != '\0'                ? detail
                    : code == CURLE_OPERATION_TIMEDOUT ? "no byte was received or sent for too long"
                                                       : curl_easy_strerror(code);
  }
  reply.outcome = outcome;
}

}  // namespace

std::unique_ptr<HttpTransport> NewCurlTransport(std::shared_ptr<Runtime> runtime,
                                                const CurlOptions& options) {
  return std::make_unique<CurlTransport>(std::move(runtime), options);
}

}  // namespace lakestream::s3

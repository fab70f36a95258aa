#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "s3/credentials.h"
#include "s3/times.h"
#include "s3/url.h"
#include "s3/xml.h"

namespace lakestream::s3 {
namespace {

constexpr Duration kLocalConnect = std::chrono::seconds(1);  // addresses on this host or link
constexpr Duration kLocalAnswer = std::chrono::seconds(5);

std::string ValueOf(const std::map<std::string, std::string>& keys, const std::string& name) {
  const auto entry = keys.find(name);
  return entry == keys.end() ? "" : entry->second;
}

class EnvironmentSource final : public CredentialsSource {
 public:
  explicit EnvironmentSource(Environment environment) : environment_(std::move(environment)) {}
  Result<std::optional<Credentials>> Load(const Deadline&) override {
    const auto id = environment_("AWS_ACCESS_KEY_ID");
    const auto secret = environment_("AWS_SECRET_ACCESS_KEY");
    if (!id && !secret) return std::optional<Credentials>();
    if (!id || !secret) {
      return UnauthenticatedError(
          "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set; set both or none");
    }
    return std::optional<Credentials>(
        {.access_key_id = *id,
         .secret_access_key = *secret,
         .session_token = environment_("AWS_SESSION_TOKEN").value_or(""),
         .source = "the environment"});
  }

 private:
  Environment environment_;
};

// What the HTTP sources share: one exchange, with a few tries at what may pass by itself.
class HttpSource : public CredentialsSource {
 public:
  HttpSource(HttpTransport& transport, std::shared_ptr<Runtime> runtime)
      : transport_(transport), runtime_(std::move(runtime)) {}

 protected:
  Result<HttpResponse> Exchange(HttpRequest request, std::string_view what,
                                const Deadline& deadline) {
    constexpr int kTries = 3;
    for (int attempt = 1;; ++attempt) {
      HttpReply reply = transport_.Send(request, deadline);
      if (reply.outcome == HttpOutcome::kCancelled) return CancelledError(Str(what, ": cancelled"));
      if (reply.outcome == HttpOutcome::kDeadline) {
        return DeadlineExceededError(Str(what, ": no answer within the time allowed"));
      }
      const bool answered = reply.outcome == HttpOutcome::kAnswered;
      const int status = reply.response.status;
      if (answered && status != 429 && status < 500) return std::move(reply.response);
      if (attempt == kTries) {
        return UnavailableError(
            Str(what, ": ", answered ? Str("HTTP ", status) : Printable(reply.problem)));
      }
      LS_RETURN_IF_ERROR(SleepFor(*runtime_, std::chrono::milliseconds(100) * attempt, deadline));
    }
  }
  static HttpRequest Local(std::string method, std::string url) {
    HttpRequest request;
    request.method = std::move(method);
    request.url = std::move(url);
    request.bypass_proxy = true;
    request.connect_timeout = kLocalConnect;
    request.stall_timeout = kLocalAnswer;
    return request;
  }
  // The document that container endpoints and instance metadata share.
  static Result<std::optional<Credentials>> Parse(const std::string& body, std::string source) {
    const auto json = nlohmann::json::parse(body, nullptr, false);
    const auto text = [&](const char* name) -> std::string {
      if (!json.is_object()) return "";
      const auto entry = json.find(name);
      return entry != json.end() && entry->is_string() ? entry->get<std::string>() : "";
    };
    Credentials found{.access_key_id = text("AccessKeyId"),
                      .secret_access_key = text("SecretAccessKey"),
                      .session_token = text("Token"),
                      .expires_ms = ParseIsoTime(text("Expiration")).value_or(0),
                      .source = std::move(source)};
    if (found.access_key_id.empty() || found.secret_access_key.empty()) {
      return UnauthenticatedError(
          Str(found.source, " answered without AccessKeyId and SecretAccessKey"));
    }
    return std::optional<Credentials>(std::move(found));
  }

  HttpTransport& transport_;
  std::shared_ptr<Runtime> runtime_;
};

// AssumeRoleWithWebIdentity: the token in a file (which others rewrite) is changed for keys.
class WebIdentitySource final : public HttpSource {
 public:
  WebIdentitySource(HttpTransport& transport, std::shared_ptr<Runtime> runtime,
                    Environment environment, std::string region)
      : HttpSource(transport, std::move(runtime)),
        environment_(std::move(environment)),
        region_(std::move(region)) {}

  Result<std::optional<Credentials>> Load(const Deadline& deadline) override {
    const auto file = environment_("AWS_WEB_IDENTITY_TOKEN_FILE");
    const auto role = environment_("AWS_ROLE_ARN");
    if (!file || !role) return std::optional<Credentials>();
    return LoadRole(*file, *role, environment_("AWS_ROLE_SESSION_NAME").value_or(""), deadline);
  }
  Result<std::optional<Credentials>> LoadRole(const std::string& file, const std::string& role,
                                              const std::string& session,
                                              const Deadline& deadline) {
    auto token = ReadTextFile(file);  // anew each time: it is rotated
    if (!token) {
      return UnauthenticatedError(Str("the web identity token file ", file, " cannot be read"));
    }
    while (!token->empty() && std::isspace(static_cast<unsigned char>(token->back()))) {
      token->pop_back();
    }
    const std::string body =
        CanonicalQuery({{"Action", "AssumeRoleWithWebIdentity"},
                        {"Version", "2011-06-15"},
                        {"RoleArn", role},
                        {"RoleSessionName", session.empty() ? "lakestream" : session},
                        {"WebIdentityToken", *token}});
    const ConstBytes piece = AsBytes(body);
    HttpRequest request;
    request.method = "POST";
    request.url = StsEndpoint() + "/";
    request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
    request.body = {&piece, 1};
    LS_ASSIGN_OR_RETURN(HttpResponse response,
                        Exchange(request, "AssumeRoleWithWebIdentity", deadline));
    if (response.status != 200) {
      const ErrorDocument error = ParseError(response.body);
      return UnauthenticatedError(Str("AssumeRoleWithWebIdentity for ", role, ": HTTP ",
                                      response.status, " ", Printable(error.code), " (",
                                      Printable(error.message), ")"));
    }
    LS_ASSIGN_OR_RETURN(StsCredentials sts, ParseStsCredentials(response.body));
    return std::optional<Credentials>({.access_key_id = std::move(sts.access_key_id),
                                       .secret_access_key = std::move(sts.secret_access_key),
                                       .session_token = std::move(sts.session_token),
                                       .expires_ms = ParseIsoTime(sts.expiration).value_or(0),
                                       .source = "web identity"});
  }

 private:
  std::string StsEndpoint() const {
    for (const char* name : {"AWS_ENDPOINT_URL_STS"}) {
      if (auto url = environment_(name)) return *url;
    }
    const bool china = region_.substr(0, 3) == "cn-";
    return Str("https://sts.", region_, ".amazonaws.com", china ? ".cn" : "");
  }

  Environment environment_;
  std::string region_;
};

// One profile of the shared credentials and config files.
class ProfileSource final : public CredentialsSource {
 public:
  ProfileSource(std::string profile, bool required, Environment environment,
                std::unique_ptr<WebIdentitySource> web_identity)
      : profile_(std::move(profile)),
        required_(required),
        environment_(std::move(environment)),
        web_identity_(std::move(web_identity)) {}

  Result<std::optional<Credentials>> Load(const Deadline& deadline) override {
    const auto keys = LoadProfile(profile_, environment_);
    const std::string id = ValueOf(keys, "aws_access_key_id");
    const std::string secret = ValueOf(keys, "aws_secret_access_key");
    if (!id.empty() && !secret.empty()) {
      return std::optional<Credentials>({.access_key_id = id,
                                         .secret_access_key = secret,
                                         .session_token = ValueOf(keys, "aws_session_token"),
                                         .source = Str("profile ", profile_)});
    }
    const std::string token_file = ValueOf(keys, "web_identity_token_file");
    const std::string role = ValueOf(keys, "role_arn");
    if (!token_file.empty() && !role.empty()) {
      return web_identity_->LoadRole(token_file, role, ValueOf(keys, "role_session_name"),
                                     deadline);
    }
    for (const char* unsupported : {"credential_process", "sso_session", "sso_account_id",
                                    "source_profile", "credential_source"}) {
      if (keys.count(unsupported) == 0) continue;
      return UnauthenticatedError(
          Str("profile ", profile_, " uses ", unsupported,
              ", which is not supported; put keys into the environment instead, for example with "
              "`aws configure export-credentials --format env`"));
    }
    if (required_) {
      return UnauthenticatedError(Str("profile ", profile_,
                                      " has no keys in the shared credentials and config files; "
                                      "check the profile's name and the files"));
    }
    return std::optional<Credentials>();
  }

 private:
  std::string profile_;
  bool required_;
  Environment environment_;
  std::unique_ptr<WebIdentitySource> web_identity_;
};

class ContainerSource final : public HttpSource {
 public:
  ContainerSource(HttpTransport& transport, std::shared_ptr<Runtime> runtime,
                  Environment environment)
      : HttpSource(transport, std::move(runtime)), environment_(std::move(environment)) {}

  Result<std::optional<Credentials>> Load(const Deadline& deadline) override {
    std::string url;
    if (auto path = environment_("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")) {
      url = "http://169.254.170.2" + *path;
    } else if (auto full = environment_("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
      url = *full;
    } else {
      return std::optional<Credentials>();
    }
    HttpRequest request = Local("GET", url);
    std::string token = environment_("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
    if (auto file = environment_("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
      token = ReadTextFile(*file).value_or("");
      while (!token.empty() && token.back() == '\n') token.pop_back();
    }
    if (!token.empty()) request.headers.push_back({"Authorization", token});
    LS_ASSIGN_OR_RETURN(HttpResponse response,
                        Exchange(request, "container credentials", deadline));
    if (response.status != 200) {
      return UnauthenticatedError(
          Str("the container credentials endpoint answered HTTP ", response.status));
    }
    return Parse(response.body, "the container credentials endpoint");
  }

 private:
  Environment environment_;
};

// IMDSv2: a session token first, then the role's name, then its keys.
class InstanceMetadataSource final : public HttpSource {
 public:
  InstanceMetadataSource(HttpTransport& transport, std::shared_ptr<Runtime> runtime,
                         Environment environment)
      : HttpSource(transport, std::move(runtime)), environment_(std::move(environment)) {}

  Result<std::optional<Credentials>> Load(const Deadline& deadline) override {
    if (environment_("AWS_EC2_METADATA_DISABLED").value_or("") == "true") {
      return std::optional<Credentials>();
    }
    std::string base =
        environment_("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254");
    while (!base.empty() && base.back() == '/') base.pop_back();
    HttpRequest ask = Local("PUT", base + "/latest/api/token");
    ask.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
    // One try: on a machine outside of EC2 nobody answers, and that is no error.
    const HttpReply reply = transport_.Send(ask, deadline);
    if (reply.outcome == HttpOutcome::kCancelled) return CancelledError("cancelled");
    if (reply.outcome != HttpOutcome::kAnswered || reply.response.status != 200) {
      return std::optional<Credentials>();
    }
    const std::string role_url = base + "/latest/meta-data/iam/security-credentials/";
    HttpRequest get = Local("GET", role_url);
    get.headers = {{"X-aws-ec2-metadata-token", reply.response.body}};
    LS_ASSIGN_OR_RETURN(HttpResponse role, Exchange(get, "instance metadata", deadline));
    if (role.status == 404) return std::optional<Credentials>();  // the instance has no role
    const std::string name = role.body.substr(0, role.body.find_first_of("\r\n"));
    if (role.status != 200 || name.empty()) {
      return UnauthenticatedError(Str("instance metadata answered HTTP ", role.status,
                                      " when asked for the instance's role"));
    }
    get.url = role_url + UriEncode(name);
    LS_ASSIGN_OR_RETURN(HttpResponse keys, Exchange(get, "instance metadata", deadline));
    if (keys.status != 200) {
      return UnauthenticatedError(Str("instance metadata answered HTTP ", keys.status,
                                      " when asked for the keys of role ", Printable(name)));
    }
    return Parse(keys.body, "instance metadata");
  }

 private:
  Environment environment_;
};

}  // namespace

std::vector<std::unique_ptr<CredentialsSource>> DefaultSources(const S3Settings& settings,
                                                               const Environment& environment,
                                                               HttpTransport& transport,
                                                               std::shared_ptr<Runtime> runtime) {
  const auto web_identity = [&] {
    return std::make_unique<WebIdentitySource>(transport, runtime, environment, settings.region);
  };
  std::vector<std::unique_ptr<CredentialsSource>> sources;
  auto profile = std::make_unique<ProfileSource>(settings.profile, settings.profile_named,
                                                 environment, web_identity());
  if (settings.profile_named) sources.push_back(std::move(profile));
  sources.push_back(std::make_unique<EnvironmentSource>(environment));
  sources.push_back(web_identity());
  if (profile != nullptr) sources.push_back(std::move(profile));
  sources.push_back(std::make_unique<ContainerSource>(transport, runtime, environment));
  sources.push_back(std::make_unique<InstanceMetadataSource>(transport, runtime, environment));
  return sources;
}

}  // namespace lakestream::s3

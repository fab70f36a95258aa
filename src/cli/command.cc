#include "cli/command.h"

#include <charconv>

namespace lakestream::cli {
namespace {

bool ParseCount(std::string_view text, uint32_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number > 0;
}

void AddStoreOptions(CLI::App& command, Session& session) {
  command
      .add_option("--endpoint", session.store_options.endpoint,
                  "S3 endpoint, such as http://127.0.0.1:9000")
      ->group("Store");
  command.add_option("--region", session.store_options.region, "S3 region")->group("Store");
  command
      .add_option("--profile", session.store_options.profile,
                  "section of the AWS credentials and config files")
      ->group("Store");
  command
      .add_option("--ca-bundle", session.store_options.ca_bundle,
                  "PEM file of trusted certificates")
      ->group("Store");
  command.add_option("--path-style", session.path_style, "address buckets in the path: on or off")
      ->check(CLI::IsMember({"on", "off"}))
      ->group("Store");
}

}  // namespace

ExitCode ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return kExitOk;
    case Code::kCancelled:
      return kExitInterrupted;
    case Code::kInvalidArgument:
      return kExitUsage;
    case Code::kNotFound:
      return kExitNotFound;
    case Code::kAlreadyExists:
    case Code::kFailedPrecondition:
    case Code::kUnimplemented:
      return kExitPrecondition;
    case Code::kDeadlineExceeded:
    case Code::kUnavailable:
    case Code::kUnknownOutcome:
    case Code::kAborted:
      return kExitUnavailable;
    case Code::kDataLoss:
      return kExitDataLoss;
    case Code::kPermissionDenied:
    case Code::kUnauthenticated:
      return kExitDenied;
    case Code::kResourceExhausted:
      return kExitExhausted;
    case Code::kInternal:
      return kExitInternal;
  }
  return kExitInternal;
}

Deadline Session::deadline() const {
  if (timeout_s <= 0) return {TimePoint::max(), &cancel};
  return After(*runtime,
               std::chrono::duration_cast<Duration>(std::chrono::duration<double>(timeout_s)),
               &cancel);
}

Result<std::shared_ptr<ObjectStore>> Session::OpenStoreOfUri() {
  if (!path_style.empty()) store_options.path_style = path_style == "on";
  return OpenStore(uri, store_options, runtime);
}

Result<std::shared_ptr<Stream>> Session::OpenStream() {
  LS_ASSIGN_OR_RETURN(auto store, OpenStoreOfUri());
  return Stream::Open(std::move(store), runtime, deadline());
}

CLI::App* AddCommand(CLI::App& app, Session& session, Action& chosen, const char* name,
                     const char* what, const char* example, Action action) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer(std::string("Example:\n  ") + example + "\n");
  command->add_option("uri", session.uri, "the stream: s3://bucket/prefix, file:///path, or a path")
      ->required();
  command->add_flag("--json", session.json, "print JSON, for programs");
  command->add_option("--timeout", session.timeout_s, "seconds for the whole command; 0: no limit")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e9));
  AddStoreOptions(*command, session);
  command->callback([&chosen, action = std::move(action)] { chosen = action; });
  return command;
}

CLI::Validator Whole() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        uint64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc() && end == text.data() + text.size()) return "";
        return "'" + text + "' is not a whole number from 0 to 2^64 - 1";
      },
      "");
}

Result<Mesh> ParseMesh(const std::string& text) {
  Mesh mesh;
  const size_t cross = text.find('x');
  const bool valid = cross == std::string::npos
                         ? ParseCount(text, &mesh.dp)
                         : ParseCount(std::string_view(text).substr(0, cross), &mesh.dp) &&
                               ParseCount(std::string_view(text).substr(cross + 1), &mesh.cp);
  if (valid) return mesh;
  return InvalidArgumentError("mesh '" + text + "' is not of the form DPxCP, such as 4x2");
}

}  // namespace lakestream::cli

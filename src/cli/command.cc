#include "cli/command.h"

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

#include "cli/output.h"

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

using Units = std::map<std::string_view, double>;

// Digits, perhaps with a fraction, and one of `units`, become a whole number. "0" needs no unit.
CLI::Validator WithUnit(Units units, std::string hint) {
  return CLI::Validator(
      [units = std::move(units), hint = std::move(hint)](std::string& text) -> std::string {
        if (text == "0") return "";
        double number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const auto unit = units.find(std::string_view(end, text.data() + text.size()));
        if (error != std::errc() || !(number >= 0) || unit == units.end()) {
          return "'" + text + "' is not " + hint;
        }
        const double value = std::round(number * unit->second);
        if (!(value < 0x1p63)) return "'" + text + "' is too large";
        text = std::to_string(static_cast<uint64_t>(value));
        return "";
      },
      "");
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
  return Stream::Open(std::move(store), runtime, deadline(), branch);
}

Status Session::Confirm(const std::string& what) const {
  if (yes) return OkStatus();
  if (isatty(STDIN_FILENO) != 1)
    return FailedPreconditionError("would " + what + "; give --yes to do it");
  std::fprintf(stderr, "lakestream: will %s. Do it? [y/N] ", what.c_str());
  std::fflush(stderr);
  const int answer = std::getchar();
  if (answer == 'y' || answer == 'Y') return OkStatus();
  return FailedPreconditionError("nothing was changed");
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

CLI::App* AddGroup(CLI::App& app, const char* name, const char* what) {
  CLI::App* group = app.add_subcommand(name, what);
  group->require_subcommand(1);
  return group;
}

void AddBranchOption(CLI::App* command, Session& session) {
  command->add_option("--branch", session.branch, "the branch to work on")->capture_default_str();
}

void AddYesOption(CLI::App* command, Session& session) {
  command->add_flag("-y,--yes", session.yes, "do not ask");
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

CLI::Validator Milliseconds() {
  return WithUnit({{"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 3.6e6}, {"d", 8.64e7}},
                  "a time with a unit (ms, s, m, h, d), such as 90s or 7d");
}

CLI::Validator ByteSize() {
  return WithUnit({{"B", 1},
                   {"KiB", 0x1p10},
                   {"MiB", 0x1p20},
                   {"GiB", 0x1p30},
                   {"TiB", 0x1p40},
                   {"PiB", 0x1p50},
                   {"KB", 1e3},
                   {"MB", 1e6},
                   {"GB", 1e9},
                   {"TB", 1e12},
                   {"PB", 1e15}},
                  "a size with a unit (B, KiB, MiB, GiB, TiB), such as 500GiB");
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

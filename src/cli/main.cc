// The command `lakestream`.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/output.h"
#include "lakestream/version.h"

namespace lakestream::cli {
namespace {

CancelToken* g_cancel = nullptr;  // for the signal handler alone

void OnSignal(int signal) {
  if (g_cancel->cancelled()) _exit(128 + signal);  // asked twice
  g_cancel->Cancel();
}

void HandleSignals(CancelToken* cancel) {
  g_cancel = cancel;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a write to a closed pipe fails instead; it is no error of ours
}

// Levenshtein distance.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

bool IsCommand(const CLI::App& app, const std::string& word) {
  const auto named = [&](const CLI::App* command) { return command->get_name() == word; };
  return !app.get_subcommands(named).empty();
}

// A first word that is no command: says so, with the nearest one.
bool RefuseUnknownCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-' || IsCommand(app, argv[1])) return false;
  std::string nearest;
  size_t best = 3;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const size_t distance = Distance(argv[1], command->get_name());
    if (distance < best) {
      best = distance;
      nearest = command->get_name();
    }
  }
  PrintMessage("there is no command '" + std::string(argv[1]) + "'" +
               (nearest.empty() ? "" : "; did you mean '" + nearest + "'?") +
               " See 'lakestream --help'");
  return true;
}

int UsageError(const CLI::App& app, const CLI::ParseError& error, const char* first_word) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  const bool known = IsCommand(app, first_word);
  PrintMessage(message + ". See 'lakestream" + (known ? std::string(" ") + first_word : "") +
               " --help'");
  return kExitUsage;
}

int Perform(Session& session, const Action& action) {
  auto result = action(session);
  std::fflush(stdout);
  if (result.ok()) return *result;
  if (session.cancel.cancelled()) {
    PrintMessage("interrupted");
    return kExitInterrupted;
  }
  const Status& status = result.status();
  PrintMessage(status.message());
  return ExitCodeOf(status);
}

int Main(int argc, char** argv) {
  Session session;
  session.runtime = RealRuntime([](LogLevel level, std::string_view message) {
    if (level >= LogLevel::kWarning) PrintMessage(std::string(message));
  });
  HandleSignals(&session.cancel);

  CLI::App app("Lakestream: training data streams on an object store.");
  app.set_version_flag("--version", std::string("lakestream ") + kVersion + ", format " +
                                        std::to_string(kFormatVersion));
  app.footer(
      "A command's --help has an example. Exit codes: 0 done, 1 findings, 2 usage, 3 not found,\n"
      "4 precondition (sealed, fenced, exists, mesh, format), 5 store unavailable or time is up,\n"
      "6 data loss, 7 no permission, 8 disk or quota full, 70 defect, 130 interrupted.");
  app.require_subcommand(1);
  Action chosen;
  for (const auto add : {AddInit, AddInfo, AddLs, AddCat, AddTail, AddVerify, AddSeal, AddProduce,
                         AddConsume, AddCompletion}) {
    add(app, session, chosen);
  }
  if (RefuseUnknownCommand(app, argc, argv)) return kExitUsage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error, argc > 1 ? argv[1] : "");
  }
  return Perform(session, chosen);
}

}  // namespace
}  // namespace lakestream::cli

int main(int argc, char** argv) { return lakestream::cli::Main(argc, argv); }

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

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* FindCommand(const CLI::App& app, const std::string& word) {
  const auto commands = CommandsOf(app);
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* command) {
    return command->get_name() == word;
  });
  return found == commands.end() ? nullptr : *found;
}

std::string Nearest(const CLI::App& app, const std::string& word) {
  std::string nearest;
  size_t best = 3;
  for (const CLI::App* command : CommandsOf(app)) {
    const size_t distance = Distance(word, command->get_name());
    if (distance < best) {
      best = distance;
      nearest = command->get_name();
    }
  }
  return nearest;
}

// The command that the first words name, as far as they name one.
struct Named {
  std::string path = "lakestream";
  std::string unknown;  // the word that is no command, though one is wanted
  std::string nearest;  // to that
};
Named NameOf(const CLI::App& app, int argc, char** argv) {
  Named named;
  const CLI::App* at = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    if (CommandsOf(*at).empty()) break;
    const CLI::App* const next = FindCommand(*at, argv[i]);
    if (next == nullptr) {
      named.unknown = argv[i];
      named.nearest = Nearest(*at, argv[i]);
      break;
    }
    named.path += std::string(" ") + argv[i];
    at = next;
  }
  return named;
}

// A word that is no command: says so, with the nearest one.
bool RefuseUnknownCommand(const Named& named) {
  if (named.unknown.empty()) return false;
  PrintMessage("there is no command '" + named.path + " " + named.unknown + "'" +
               (named.nearest.empty() ? "" : "; did you mean '" + named.nearest + "'?") + " See '" +
               named.path + " --help'");
  return true;
}

int UsageError(const Named& named, const CLI::ParseError& error) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  PrintMessage(message + ". See '" + named.path + " --help'");
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
      "4 precondition (sealed, fenced, trimmed, held back, exists, mesh, format, not confirmed),\n"
      "5 store unavailable or time is up,\n"
      "6 data loss, 7 no permission, 8 disk or quota full, 70 defect, 130 interrupted.");
  app.require_subcommand(1);
  Action chosen;
  for (const auto add :
       {AddInit, AddInfo, AddLs, AddCat, AddTail, AddVerify, AddCheckpoint, AddRuns, AddTrim, AddGc,
        AddBranch, AddSeal, AddProduce, AddConsume, AddCompletion}) {
    add(app, session, chosen);
  }
  const Named named = NameOf(app, argc, argv);
  if (RefuseUnknownCommand(named)) return kExitUsage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return UsageError(named, error);
  }
  return Perform(session, chosen);
}

}  // namespace
}  // namespace lakestream::cli

int main(int argc, char** argv) { return lakestream::cli::Main(argc, argv); }

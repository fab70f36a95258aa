// What all commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "lakestream/object_store.h"
#include "lakestream/runtime.h"
#include "lakestream/status.h"
#include "lakestream/stream.h"

namespace lakestream::cli {

// What the process exits with. Documented in docs/reference/cli.md; never change a number.
enum ExitCode : int {
  kExitOk = 0,
  kExitFindings = 1,  // verify found errors, consume --check found wrong data
  kExitUsage = 2,     // wrong arguments
  kExitNotFound = 3,  // no such stream, branch, checkpoint, step, object
  // Sealed, fenced, trimmed, held back, exists already, wrong mesh, format too new, unsafe store,
  // not confirmed.
  kExitPrecondition = 4,
  kExitUnavailable = 5,  // the store does not answer, or time is up
  kExitDataLoss = 6,     // stored bytes are missing or wrong
  kExitDenied = 7,       // credentials missing, wrong, or without the right
  kExitExhausted = 8,    // disk or quota full
  kExitInternal = 70,    // a defect of Lakestream
  kExitInterrupted = 130,
};
ExitCode ExitCodeOf(const Status& status);

// Options of every command, and the process's runtime.
struct Session {
  std::string uri;
  std::string branch = "main";
  bool json = false;
  bool yes = false;  // do not ask
  double timeout_s = 60;
  StoreOptions store_options;
  std::string path_style;  // "", "on", "off"
  std::shared_ptr<Runtime> runtime;
  CancelToken cancel;

  // The time allowed to the whole command; 0: for ever.
  Deadline deadline() const;
  Result<std::shared_ptr<ObjectStore>> OpenStoreOfUri();
  // On `branch`.
  Result<std::shared_ptr<Stream>> OpenStream();
  // Says what is about to be done and asks, on a terminal. kFailedPrecondition elsewhere, unless
  // `yes`, and if the answer is no.
  Status Confirm(const std::string& what) const;
};

// The action of the command that was chosen on the command line.
using Action = std::function<Result<ExitCode>(Session&)>;

// Adds a subcommand to `app` or to a group, with the shared options; its action goes to `chosen` if
// it is the one. `example` is shown by --help.
CLI::App* AddCommand(CLI::App& app, Session& session, Action& chosen, const char* name,
                     const char* what, const char* example, Action action);
// A command that is a word for several: checkpoint create, checkpoint list, ...
CLI::App* AddGroup(CLI::App& app, const char* name, const char* what);
// Options that several commands have.
void AddBranchOption(CLI::App* command, Session& session);
void AddYesOption(CLI::App* command, Session& session);

void AddInit(CLI::App& app, Session& session, Action& chosen);
void AddInfo(CLI::App& app, Session& session, Action& chosen);
void AddLs(CLI::App& app, Session& session, Action& chosen);
void AddCat(CLI::App& app, Session& session, Action& chosen);
void AddTail(CLI::App& app, Session& session, Action& chosen);
void AddVerify(CLI::App& app, Session& session, Action& chosen);
void AddCheckpoint(CLI::App& app, Session& session, Action& chosen);
void AddRuns(CLI::App& app, Session& session, Action& chosen);
void AddTrim(CLI::App& app, Session& session, Action& chosen);
void AddGc(CLI::App& app, Session& session, Action& chosen);
void AddBranch(CLI::App& app, Session& session, Action& chosen);
void AddSeal(CLI::App& app, Session& session, Action& chosen);
void AddProduce(CLI::App& app, Session& session, Action& chosen);
void AddConsume(CLI::App& app, Session& session, Action& chosen);
void AddCompletion(CLI::App& app, Session& session, Action& chosen);

// For options that are whole numbers: digits that fit 64 bits. (CLI11 itself takes "-1" for 2^64
// - 1.)
CLI::Validator Whole();
// For options with a unit, as transforms: "15m" becomes milliseconds, "20GiB" bytes.
CLI::Validator Milliseconds();
CLI::Validator ByteSize();

// "4x2" -> dp 4, cp 2; "4" -> dp 4, cp 1.
Result<Mesh> ParseMesh(const std::string& text);

}  // namespace lakestream::cli

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
  kExitNotFound = 3,  // no such stream, step, object
  kExitPrecondition =
      4,                 // sealed, fenced, exists already, wrong mesh, format too new, unsafe store
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
  bool json = false;
  double timeout_s = 60;
  StoreOptions store_options;
  std::string path_style;  // "", "on", "off"
  std::shared_ptr<Runtime> runtime;
  CancelToken cancel;

  // The time allowed to the whole command; 0: for ever.
  Deadline deadline() const;
  Result<std::shared_ptr<ObjectStore>> OpenStoreOfUri();
  Result<std::shared_ptr<Stream>> OpenStream();
};

// The action of the command that was chosen on the command line.
using Action = std::function<Result<ExitCode>(Session&)>;

// Adds a subcommand with the shared options; its action goes to `chosen` if it is the one.
// `example` is shown by --help.
CLI::App* AddCommand(CLI::App& app, Session& session, Action& chosen, const char* name,
                     const char* what, const char* example, Action action);

void AddInit(CLI::App& app, Session& session, Action& chosen);
void AddInfo(CLI::App& app, Session& session, Action& chosen);
void AddLs(CLI::App& app, Session& session, Action& chosen);
void AddCat(CLI::App& app, Session& session, Action& chosen);
void AddTail(CLI::App& app, Session& session, Action& chosen);
void AddVerify(CLI::App& app, Session& session, Action& chosen);
void AddSeal(CLI::App& app, Session& session, Action& chosen);
void AddProduce(CLI::App& app, Session& session, Action& chosen);
void AddConsume(CLI::App& app, Session& session, Action& chosen);
void AddCompletion(CLI::App& app, Session& session, Action& chosen);

// For options that are whole numbers: digits that fit 64 bits. (CLI11 itself takes "-1" for 2^64
// - 1.)
CLI::Validator Whole();

// "4x2" -> dp 4, cp 2; "4" -> dp 4, cp 1.
Result<Mesh> ParseMesh(const std::string& text);

}  // namespace lakestream::cli

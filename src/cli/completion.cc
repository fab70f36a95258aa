#include "cli/command.h"
#include "cli/output.h"

namespace lakestream::cli {
namespace {

// Words come from the program itself, so the script need not change when commands do.
// clang-format off
constexpr char kBash[] = R"sh(_lakestream() {
  local word=${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "$(lakestream --help | sed -n '/^Subcommands:/,$ s/^  \([a-z]*\) .*/\1/p')" -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$(lakestream "${COMP_WORDS[1]}" --help | grep -o -- '--[a-z-]*')" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -F _lakestream lakestream)sh";
// clang-format on

}  // namespace

void AddCompletion(CLI::App& app, Session&, Action& chosen) {
  CLI::App* command = app.add_subcommand("completion", "print a completion script for bash");
  command->footer("Example:\n  source <(lakestream completion)");
  command->callback([&chosen] {
    chosen = [](Session&) -> Result<ExitCode> {
      PrintLine(kBash);
      return kExitOk;
    };
  });
}

}  // namespace lakestream::cli

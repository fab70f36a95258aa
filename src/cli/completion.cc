#include "cli/command.h"
#include "cli/output.h"

namespace lakestream::cli {
namespace {

// Words come from the program itself, so the script need not change when commands do.
// clang-format off
constexpr char kBash[] = R"sh(_lakestream() {
  local word=${COMP_WORDS[COMP_CWORD]} at=1 help names command=()
  while true; do
    help=$(lakestream "${command[@]}" --help 2> /dev/null)
    names=$(sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z]*\) .*/\1/p' <<< "$help")
    if [ -z "$names" ] || [ "$at" -ge "$COMP_CWORD" ]; then break; fi
    command+=("${COMP_WORDS[at]}")
    at=$((at + 1))
  done
  if [ -n "$names" ]; then
    COMPREPLY=($(compgen -W "$names" -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$(grep -o -- '--[a-z-]*' <<< "$help")" -- "$word"))
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

#!/bin/sh
# clang-tidy over the product's sources, with clang's thread-safety analysis on top. Prints nothing
# but findings; exits 1 if there are any.
#
#   BUILD=build JOBS=2 tools/run_clang_tidy.sh [FILE...]     default: src, sim and examples, no tests
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
[ -f "$build/compile_commands.json" ] || {
  echo "run_clang_tidy: no $build/compile_commands.json; run \`make build\` first" >&2
  exit 1
}
if [ $# = 0 ]; then
  set -- $(find src sim examples -name '*.cc' ! -name '*_test.cc' | sort)
fi
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -n 1 clang-tidy-14 -p "$build" --quiet \
  --extra-arg=-Wthread-safety --extra-arg=-Wno-unknown-warning-option 2>/dev/null

#!/bin/bash
# Does the simulation see what it should? Each patch in sim/mutations is a deliberate protocol bug: this applies it in a scratch copy,
# builds lakestream-sim and expects the named checker to report it. Minutes; not part of `make test`.
#   sim/run_mutations.sh [SCRATCH FOLDER] [SEEDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
SCRATCH=${1:-build/mutations}
SEEDS=${2:-5000}
mkdir -p "$SCRATCH"
SCRATCH=$(cd "$SCRATCH" && pwd)
missed=0
[ -d "$SCRATCH/tree" ] || git clone -q . "$SCRATCH/tree"
git -C "$SCRATCH/tree" fetch -q origin
git -C "$SCRATCH/tree" checkout -q -f "$(git rev-parse HEAD)"
for patch in sim/mutations/*.patch; do
  name=$(basename "$patch" .patch)
  checker=$(sed -n 's/^caught by: //p' "$patch")
  git -C "$SCRATCH/tree" checkout -q -f .
  git -C "$SCRATCH/tree" apply "$PWD/$patch"
  cmake -S "$SCRATCH/tree" -B "$SCRATCH/build" -G Ninja --log-level=WARNING >/dev/null
  cmake --build "$SCRATCH/build" --target lakestream-sim >"$SCRATCH/$name.build" 2>&1
  "$SCRATCH/build/bin/lakestream-sim" --seeds "1..$SEEDS" --failures 1 >"$SCRATCH/$name.log" 2>&1 || true
  found=$(sed -n 's/^seed \([0-9]*\): \([a-z_]*\)$/\2 at seed \1/p' "$SCRATCH/$name.log" | head -n 1)
  if grep -q "^VIOLATION $checker" "$SCRATCH/$name.log"; then
    echo "$name: caught by $found"
  else
    echo "$name: MISSED by $checker (found: ${found:-nothing}; see $SCRATCH/$name.log)"
    missed=$((missed + 1))
  fi
done
echo "$missed mutations missed"
exit "$((missed > 0))"

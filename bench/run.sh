#!/bin/bash
# Runs every benchmark that needs no peer and records it below bench/results. BUILD: the build folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
BUILD=${BUILD:-build}
SCRATCH=$BUILD/bench
mkdir -p "$SCRATCH" bench/results

"$BUILD/bin/bench_read_local" --folder "$SCRATCH" --out bench/results
"$BUILD/bin/bench_memory" --folder "$SCRATCH" --out bench/results
rm -rf "$SCRATCH"/local-*
"$BUILD/bin/bench_commit" --folder "$SCRATCH" --out bench/results
"$BUILD/bin/bench_restart" --folder "$SCRATCH" --out bench/results
"$BUILD/bin/bench_gc" --folder "$SCRATCH" --out bench/results

# A real S3 server on loopback; ended whatever happens.
server=$(RGW_STORE=memstore tests/s3_server/start.sh)
value() { sed -n "s/^$1=//p" <<<"$server"; }
trap 'tests/s3_server/stop.sh "$(value RGW_DIR)"' EXIT
AWS_ACCESS_KEY_ID=$(value RGW_ACCESS) AWS_SECRET_ACCESS_KEY=$(value RGW_SECRET) AWS_ENDPOINT_URL=$(value RGW_ENDPOINT)
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_ENDPOINT_URL
"$BUILD/bin/bench_read_s3" --bucket "$(value RGW_BUCKET)" --out bench/results
"$BUILD/bin/bench_gc" --bucket "$(value RGW_BUCKET)" --out bench/results

/usr/bin/python3 bench/tables.py

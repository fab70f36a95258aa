#!/bin/bash
# A small main job, from data to proof: demo_test.sh <folder of binaries> <data folder> <output folder>
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/fetch_data.sh" "$2"
"$1/demo_prepare" "$2"
/usr/bin/python3 "$here/run_demo.py" --bin "$1" --data "$2" --out "$3" --size small --pace 10  # so that the kills land well inside the run
# The report has what it promises, and says that everything held.
/usr/bin/python3 - "$3/report.json" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
zero = ["items_missing", "items_duplicated", "torn_steps", "order_mismatches", "checksum_errors"]
some = ["steps", "ranks", "items_total", "producer_kills", "consumer_kills", "bytes_written", "bytes_read",
        "read_amplification", "commits", "commit_attempts", "seconds"]
wrong = [name for name in zero if report[name] != 0] + [name for name in some if not report[name] > 0]
wrong += [] if report["rewind"]["identical"] and report["rewind"]["steps_read_again"] > 0 else ["rewind"]
sys.exit(f"report.json: {wrong}" if wrong or report["store"] != "local" else 0)
PY

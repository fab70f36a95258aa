"""Records what the long runs measured, in the form of bench/README.md."""

import json
import os
import platform
import subprocess
from pathlib import Path

KILLS = 500


def write(folder, results, arguments):
    measures = []
    violations = 0
    for store, (findings, counts) in sorted(results.items()):
        violations += len(findings)
        note = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()) if name != "kills")
        measures.append(measure(f"chaos_kills_{store}", counts["kills"], f">= {KILLS}", counts["kills"] >= KILLS, note))
    measures.append(measure("chaos_violations", violations, "<= 0", violations == 0, "by the judge that reads the format pages alone"))
    command = f"run_chaos.py --seconds {arguments.seconds:g} --kills {arguments.kills} --seed {arguments.seed}"
    result = {
        "benchmark": "chaos", "commit": commit(), "machine": machine(), "command": command, "measures": measures,
    }  # fmt: skip
    (folder / "chaos.json").write_text(json.dumps(result, indent=2) + "\n")


def measure(name, value, goal, holds, note):
    return {"name": name, "value": value, "min": value, "max": value, "goal": goal, "holds": holds, "note": note}


def commit():
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=Path(__file__).parent)
    return asked.stdout.strip()


def machine():
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}"

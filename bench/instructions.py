#!/usr/bin/python3
"""Counts the processor instructions of a commit at 10, 1e3 and 1e6 steps of history, by callgrind.

Time is noisy, instructions are not: the same program on the same machine counts the same within a thousandth, whatever else runs.
Usage: instructions.py BUILD OUT (folders of the build and of the results)."""

import json
import os
import re
import subprocess
import sys
import tempfile

COMMITS = 1024  # of `bench_commit --only`
SIZES = {"10": 10, "1e3": 1000, "1e6": 1000000}


def instructions(build, versions):
    """Of one commit on the memory store, housekeeping included."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=*Writer::Commit*", f"--callgrind-out-file={folder}/out",
             os.path.join(build, "bin", "bench_commit"), "--only", str(versions)],
            check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1)) / COMMITS


def measure(name, value, goal="", note=""):
    holds = not goal or value <= float(goal.removeprefix("<= "))
    print(f"{name:46} {value:10.4g}  {goal}{'' if holds else '  FALLS SHORT'}  {note}")
    return {"name": name, "value": value, "min": value, "max": value, "goal": goal, "holds": holds, "note": note}


def line_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main():
    build, out = sys.argv[1:]
    counts = {name: instructions(build, versions) for name, versions in SIZES.items()}
    measures = [measure("commit_instructions_1e6_vs_10_steps", counts["1e6"] / counts["10"], "<= 1.1", "memory store, housekeeping included")]
    measures += [measure(f"commit_instructions_{name}", count) for name, count in counts.items()]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read()).group(1)
    result = {
        "benchmark": "commit_instructions",
        "commit": line_of("git", "rev-parse", "--short", "HEAD"),
        "machine": f"{model}, {os.cpu_count()} cores, Linux {os.uname().release}",
        "command": "instructions.py",
        "measures": measures,
    }
    with open(os.path.join(out, "commit_instructions.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Does the simulation see what it should? Each patch in sim/mutations is a deliberate protocol bug: this applies it in a scratch copy of the tree, builds
lakestream-sim there, and plays seeds until the checker that the patch names objects (ten may fail by others before). Minutes each.

    sim/run_mutations.py [--scratch FOLDER] [--seeds N] [--only NAME] [--results FILE]   # build/bin/lakestream-sim --mutations
    sim/run_mutations.py --check                                                       # only that each patch names a checker and applies
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKERS = ["atomic_visibility", "one_order", "exactly_once", "no_zombie", "nothing_lost", "nothing_useless", "no_coordinator", "bounded_cost"]
PARTS = ["CMakeLists.txt", "cmake", "include", "src", "sim", "tests", "tools", "fuzz", "bench", "examples"]


def read_patch(path):
    text = path.read_text()
    checker = re.search(r"^caught by: (\w+)$", text, re.M)
    what = re.search(r"^what: (.+)$", text, re.M)
    if not checker or checker.group(1) not in CHECKERS or not what:
        raise SystemExit(f"{path}: must begin with 'caught by: CHECKER' and 'what: ...'")
    return checker.group(1), what.group(1)


def git_apply(tree, path, *options):
    return subprocess.run(["git", "apply", *options, str(path)], cwd=tree, capture_output=True, text=True, env={**os.environ, "GIT_DIR": "/nonexistent"})


def check(patches):
    by_checker = dict.fromkeys(CHECKERS, 0)
    for path in patches:
        by_checker[read_patch(path)[0]] += 1
        applied = git_apply(ROOT, path, "--check")
        if applied.returncode:
            raise SystemExit(f"{path.name} does not apply any more; make it anew: {applied.stderr}")
    few = [checker for checker, count in by_checker.items() if count < 2]
    if few:
        raise SystemExit(f"fewer than two mutations for {few}")
    print(f"{len(patches)} mutations apply; by checker: {by_checker}")


def play(binary, seeds, log, checker):
    """(seed, all checkers that objected) of the first seed in which the named one did; else of the first that failed; None if all is well."""
    first_failed, first = None, 1
    for _ in range(10):
        with open(log, "w") as out:
            subprocess.run([binary, "--seeds", f"{first}..{seeds}", "--failures", "1"], stdout=out, stderr=subprocess.STDOUT)
        text = pathlib.Path(log).read_text()
        failed = re.search(r"^seed (\d+): FAILED", text, re.M)
        if not failed:
            break
        found = int(failed.group(1)), sorted(set(re.findall(r"^VIOLATION (\w+)", text, re.M)))
        if checker in found[1]:
            return found
        first_failed, first = first_failed or found, found[0] + 1
    return first_failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--scratch", default=str(ROOT / "build/mutations"))
    parser.add_argument("--seeds", type=int, default=20000)
    parser.add_argument("--only")
    parser.add_argument("--results")
    arguments = parser.parse_args()
    patches = sorted((ROOT / "sim/mutations").glob("*.patch"))
    if arguments.check:
        return check(patches)
    if arguments.only:
        patches = [path for path in patches if path.stem in arguments.only.split(",")]
    tree = pathlib.Path(arguments.scratch) / "tree"
    build = tree / "build"  # where the real tree has it, so that a compiler cache knows the rest
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, tree / part)
    subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "--log-level=WARNING"], check=True, stdout=subprocess.DEVNULL)
    rows, missed = [], 0
    for path in patches:
        checker, what = read_patch(path)
        begun = time.time()
        applied = git_apply(tree, path)
        if applied.returncode:
            raise SystemExit(f"{path.name}: {applied.stderr}")
        built = subprocess.run(["ninja", "-C", build, "lakestream-sim"], capture_output=True, text=True)
        if built.returncode:
            print(f"{path.name} does not build:\n{built.stdout[-3000:]}")
            git_apply(tree, path, "-R")
            missed += 1
            continue
        found = play(build / "bin/lakestream-sim", arguments.seeds, build / f"{path.stem}.log", checker)
        git_apply(tree, path, "-R")
        caught = found is not None and checker in found[1]
        missed += not caught
        rows.append({"mutation": path.stem, "checker": checker, "what": what, "caught": caught, "seed": found[0] if found else None,
                     "objected": found[1] if found else []})
        told = f"caught at seed {found[0]} by {', '.join(found[1])}" if caught else f"MISSED by {checker}: {found}"
        print(f"{path.stem:32} {told} ({time.time() - begun:.0f} s)", flush=True)
    print(f"{len(rows)} mutations, {missed} missed")
    if arguments.results:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        measures = [{"name": "sim_mutations_total", "value": len(rows), "min": len(rows), "max": len(rows), "goal": ">= 20",
                 "holds": len(rows) >= 20, "note": "deliberate protocol bugs"},
                    {"name": "sim_mutations_missed", "value": missed, "min": missed, "max": missed, "goal": "= 0", "holds": missed == 0,
                 "note": "seeds needed: sim/README.md"}]
        pathlib.Path(arguments.results).write_text(json.dumps(
            {"benchmark": "mutations", "commit": commit, "machine": f"{os.cpu_count()} cores", "command": "build/bin/lakestream-sim --mutations",
             "measures": measures, "mutations": rows}, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Checks the models with spin: every interleaving holds, and each deliberate bug is seen by the property that it names. See README.md.

    model/check.py [MODEL ...]      # all of *.pml
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def search(model, mutation, folder):
    """What pan says: (states, depth, the number of the property that was violated or None, whether it searched everything)."""
    define = [f"-D{mutation}"] if mutation else []
    subprocess.run(["spin", "-a", *define, str(model)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", "-O2", "-DSAFETY", "-o", "pan", "pan.c"], cwd=folder, check=True)
    said = subprocess.run(["./pan", "-m500000", "-w24"], cwd=folder, capture_output=True, text=True, timeout=300).stdout
    errors = re.search(r"depth reached (\d+), errors: (\d+)", said)
    states = re.search(r"(\d+) states, stored", said)
    violated = re.search(r"assertion violated \(+(\d+)&&", said)
    if not errors or not states or (int(errors[2]) and not violated):
        raise SystemExit(f"{model.name} {mutation or ''}: pan said:\n{said[-1500:]}")
    return int(states[1]), int(errors[1]), int(violated[1]) if violated else None, "max search depth too small" not in said


def main():
    if not shutil.which("spin"):
        raise SystemExit("spin is not installed: run 'make setup'")
    wrong = 0
    for model in [pathlib.Path(name) for name in sys.argv[1:]] or sorted(HERE.glob("*.pml")):
        text = model.read_text()
        properties = {name: int(number) for name, number in re.findall(r"^#define (\w+) +(\d+) +/\* property", text, re.M)}
        mutations = dict(re.findall(r"/\* mutation (\w+): (\w+) \*/", text))
        for mutation in [None, *mutations]:
            begun = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                states, depth, violated, complete = search(model.resolve(), mutation, folder)
            expected = properties[mutations[mutation]] if mutation else None
            names = {number: name for name, number in properties.items()}
            right = violated == expected and (complete or mutation is not None)
            wrong += not right
            result = f"seen by {names[violated]}" if violated else "every interleaving holds" if complete else "NOT SEARCHED TO THE END"
            if not right:
                result += f", EXPECTED {names.get(expected, 'nothing')}"
            print(f"{model.stem:8} {mutation or '-':26} {states:9} states, depth {depth:6}, {time.monotonic() - begun:5.1f} s: {result}", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Says which recorded measures miss their goal. Exit code 1 if any does."""

import glob
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    short = 0
    with_goal = 0
    for path in sorted(glob.glob(os.path.join(HERE, "results", "*.json"))):
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        for measure in result["measures"]:
            with_goal += bool(measure["goal"])
            if not measure["holds"]:
                short += 1
                print(f"{result['benchmark']}: {measure['name']} = {measure['value']:.4g}, goal {measure['goal']} ({measure['note']})")
    print(f"{with_goal} measures with a goal, {short} fall short")
    return 1 if short or not with_goal else 0


if __name__ == "__main__":
    sys.exit(main())

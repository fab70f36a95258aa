"""Every test that docs/scenarios.md names exists."""

import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def main():
    declared = set()
    for top in ("src", "tests", "sim"):
        for folder, _, files in os.walk(os.path.join(ROOT, top)):
            for name in files:
                if name.endswith("_test.cc"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        declared.update(".".join(m) for m in re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", file.read()))
    with open(os.path.join(ROOT, "docs", "scenarios.md"), encoding="utf-8") as file:
        named = set(re.findall(r"`(\w+Test\w*\.\w+)`", file.read()))
    missing = sorted(named - declared)
    for name in missing:
        print(f"docs/scenarios.md names {name}, which is no test")
    print(f"{len(named)} tests named, {len(missing)} missing")
    return 1 if missing or not named else 0


if __name__ == "__main__":
    sys.exit(main())

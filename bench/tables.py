#!/usr/bin/python3
"""Writes the tables of docs/benchmarks.md from bench/results/*.json."""

import glob
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "docs", "benchmarks.md")
BEGIN, END = "<!-- tables: bench/tables.py -->", "<!-- end of tables -->"


def table(result):
    lines = [
        f"### {result['benchmark']}",
        "",
        f"`{result['command']}` at commit {result['commit']}; {result['machine']}.",
        "",
        "| measure | median | min | max | goal | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for m in result["measures"]:
        goal = m["goal"] + ("" if m["holds"] else " **missed**") if m["goal"] else ""
        lines.append(f"| {m['name']} | {m['value']:.4g} | {m['min']:.4g} | {m['max']:.4g} | {goal} | {m['note']} |")
    return "\n".join(lines) + "\n"


def main():
    tables = []
    for path in sorted(glob.glob(os.path.join(HERE, "results", "*.json"))):
        with open(path, encoding="utf-8") as file:
            tables.append(table(json.load(file)))
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n\n" + "\n".join(tables) + "\n" + END + after)


if __name__ == "__main__":
    main()

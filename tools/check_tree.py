#!/usr/bin/python3
"""Checks the whole tree against the house rules: layers, bans, sizes, lists, pages, format.

    tools/check_tree.py [--root DIR] [--list] [RULE...]

Prints one line a finding (path:line: rule: what is wrong and what to do) and a summary; exits 1 if
there was any. Needs Python's standard library only. tools/check_tree_test.py shows that each rule
fires.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from tree import bans, build, docs, layers, sizes  # noqa: E402 (the path has to be set first)
from tree.files import Tree  # noqa: E402

RULES = {
    "layers": layers.check_layers,
    "backends": layers.check_backends,
    "pure": layers.check_pure,
    "public": layers.check_public,
    "bans": bans.check_bans,
    "json": bans.check_json,
    "postponed": bans.check_postponed,
    "places": bans.check_places,
    "names": bans.check_names,
    "functions": sizes.check_functions,
    "files": sizes.check_files,
    "text": sizes.check_text,
    "listed": build.check_listed,
    "room-pages": build.check_room_pages,
    "format": build.check_format,
    "links": docs.check_links,
    "titles": docs.check_titles,
    "reached": docs.check_reached,
    "snippets": docs.check_snippets,
    "tests": docs.check_tests,
    "decisions": docs.check_decisions,
}


def check(root, rules=None):
    """All findings of the rules (by default all of them) in the tree at `root`, sorted."""
    tree = Tree(root)
    return sorted({finding for name in (rules or RULES) for finding in RULES[name](tree)})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rules", nargs="*", metavar="RULE", help="only these (default: all)")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent,
                        help="the tree to check (default: the one that this file is in)")
    parser.add_argument("--list", action="store_true", help="name the rules and end")
    options = parser.parse_args()
    if options.list:
        for name, function in RULES.items():
            print(f"{name:<12}{function.__doc__.splitlines()[0]}")
        return 0
    for name in options.rules:
        if name not in RULES:
            parser.error(f"no rule '{name}'; --list names them")
    findings = check(options.root, options.rules)
    for finding in findings:
        print(finding)
    print(f"check_tree: {len(findings)} finding(s) by {len(options.rules or RULES)} rules")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""Pages: links that lead somewhere, one title, code that is really in the examples, decision records."""

import re
import textwrap
import urllib.parse

from .files import Finding

DECISION_PARTS = ("Status", "Context", "Decision", "Alternatives", "Consequences")


def pages(tree):
    return [file for file in tree.files if file.ending == ".md"]


def prose(file):
    """(line number, line) outside fenced code."""
    fenced = False
    for number, line in enumerate(file.lines, 1):
        if re.match(r"\s*(```|~~~)", line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(file):
    """The anchors of a page's headings, as the usual renderers make them."""
    found, counts = set(), {}
    for _, line in prose(file):
        match = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if match:
            text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda m: m.group(1) or "", match.group(1))
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            count = counts.get(slug, 0)
            counts[slug] = count + 1
            found.add(f"{slug}-{count}" if count else slug)
    return found


def links(file):
    for number, line in prose(file):
        line = re.sub(r"`[^`]*`", "", line)
        for target in re.findall(r"\]\(([^()\s]*(?:\([^()]*\))?[^()\s]*)(?:\s+\"[^\"]*\")?\)", line):
            yield number, target


def resolve(file, target):
    """Path from the root that a relative link leads to; None for other kinds of links."""
    path = urllib.parse.unquote(target.split("#")[0])
    if re.match(r"[a-z]+:", target) or path.startswith("/"):
        return None
    parts = file.folder.split("/") if file.folder else []
    if not path:
        return file.path
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return ".."
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def check_links(tree):
    """A relative link leads to a file of the tree, and its anchor to a heading there."""
    for file in pages(tree):
        for number, target in links(file):
            path = resolve(file, target)
            if path is None:
                continue
            if path == ".." or not (tree.root / path).exists():
                yield Finding(file.path, number, "links", f"'{target}' leads nowhere")
                continue
            anchor = target.partition("#")[2]
            page = tree.by_path.get(path)
            if anchor and page and page.ending == ".md" and anchor not in anchors(page):
                yield Finding(file.path, number, "links", f"'{target}': that page has no such heading")


def check_titles(tree):
    """Each page has one title (#), on its first line of text."""
    for file in pages(tree):
        titles = [number for number, line in prose(file) if re.match(r"# ", line)]
        if len(titles) != 1:
            yield Finding(file.path, titles[1] if titles else 1, "titles",
                          f"{len(titles)} titles (lines that start with one #); a page has one")


def check_reached(tree):
    """Each page of docs/ is linked from another page, or nobody will find it."""
    linked = {resolve(file, target) for file in pages(tree) for _, target in links(file)
              if resolve(file, target) != file.path}
    for file in pages(tree):
        if file.path.startswith("docs/") and file.path != "docs/README.md" and file.path not in linked:
            yield Finding(file.path, 1, "reached", "no other page links to this one; add it to docs/README.md")


def check_snippets(tree):
    """Code in a page that says where it comes from equals the marked part of that file.

    In the page:   <!-- code: examples/quickstart/producer.cc#write -->  then a fenced block.
    In the source: lines between `// [write]` and `// [/write]`.
    """
    for file in pages(tree):
        for match in re.finditer(r"<!-- code: (\S+?)#(\S+) -->\n+```\w*\n(.*?)```", file.text, re.DOTALL):
            path, mark, shown = match.groups()
            line = file.line_of(match.start())
            source = tree.by_path.get(path)
            found = source and re.search(
                rf"^[ \t]*(?://|#) \[{re.escape(mark)}\]\n(.*?)^[ \t]*(?://|#) \[/{re.escape(mark)}\]",
                source.text, re.DOTALL | re.MULTILINE)
            if not found:
                yield Finding(file.path, line, "snippets", f"{path} has no part marked [{mark}]")
            elif textwrap.dedent(found.group(1)).strip() != shown.strip():
                yield Finding(file.path, line, "snippets",
                              f"this code differs from the part [{mark}] of {path}; copy it from there")


def check_tests(tree):
    """A test that a page names, as `SomethingTest.Name`, exists."""
    found = set()
    for file in tree.cpp():
        found.update(re.findall(r"\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", file.text))
    for file in pages(tree):
        for number, line in prose(file):
            for suite, name in re.findall(r"`(\w+(?:Test|Contract))\.(\w+)`", line):
                if (suite, name) not in found:
                    yield Finding(file.path, number, "tests", f"there is no test {suite}.{name}")


def check_decisions(tree):
    """Decision records have unique numbers and the parts of the template."""
    numbers = {}
    for file in pages(tree):
        match = re.fullmatch(r"docs/decisions/(.+)", file.path)
        if not match or match.group(1) == "README.md":
            continue
        number = re.match(r"(\d{4})-[a-z0-9-]+\.md$", match.group(1))
        if not number:
            yield Finding(file.path, 1, "decisions", "name it NNNN-title-in-words.md")
            continue
        if number.group(1) in numbers:
            yield Finding(file.path, 1, "decisions",
                          f"number {number.group(1)} is taken by {numbers[number.group(1)]}")
        numbers[number.group(1)] = file.path
        headings = {line[3:].strip() for _, line in prose(file) if line.startswith("## ")}
        for part in DECISION_PARTS:
            if part not in headings:
                yield Finding(file.path, 1, "decisions", f"has no part '## {part}' (see 0000-template.md)")

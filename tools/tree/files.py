"""The tree as the checks see it: its files, their text, and C++ without comments and strings."""

import dataclasses
import functools
import os
import pathlib
import re

SKIPPED_FOLDERS = {".git", "__pycache__", ".cache", "node_modules"}
CPP_ENDINGS = {".h", ".cc"}
TEXT_ENDINGS = CPP_ENDINGS | {
    ".py", ".sh", ".md", ".txt", ".cmake", ".json", ".yml", ".yaml", ".toml", ".cfg", ".svg"}
TEXT_NAMES = {"Makefile", "run", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore"}


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


# In order: comments, raw strings, strings, characters (not the digit separator of 1'000).
_HIDDEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/"""
    r"""|R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)\""""
    r"""|"(?:\\.|[^"\\\n])*\""""
    r"""|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL)


def hide_comments_and_strings(text):
    """The same text, of the same length and lines, with comments and strings blanked out."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return _HIDDEN.sub(blank, text)


class File:
    """One text file. `path` is relative to the root, with forward slashes."""

    def __init__(self, root, path):
        self.path = path
        self.name = path.rsplit("/", 1)[-1]
        self.folder = path.rsplit("/", 1)[0] if "/" in path else ""
        self.ending = pathlib.PurePosixPath(path).suffix
        self._full = root / path

    @functools.cached_property
    def text(self):
        return self._full.read_bytes().decode("utf-8", errors="replace")

    @functools.cached_property
    def lines(self):
        return self.text.splitlines()

    @functools.cached_property
    def code(self):
        """C++ text with comments and strings blanked."""
        return hide_comments_and_strings(self.text)

    @property
    def is_cpp(self):
        return self.ending in CPP_ENDINGS

    @property
    def is_test(self):
        return self.name.endswith(("_test.cc", "_bench.cc", "_fuzz.cc", "_testing.h"))

    @property
    def room(self):
        """The room of src/<room>/..., or the top folder; '' for files at the top."""
        parts = self.path.split("/")
        if parts[0] == "src":
            return parts[1] if len(parts) > 2 else ""
        return parts[0] if len(parts) > 1 else ""

    @property
    def in_library(self):
        """Product code: a source or header of src/ that is no test."""
        return self.is_cpp and self.path.startswith("src/") and not self.is_test

    def includes(self):
        """(line number, name as written with its quotes or brackets) of each #include."""
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*([<"][^>"]+[>"])', line)
            if match:
                yield number, match.group(1)

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1


class Tree:
    """All text files under `root`, build folders and the like left out."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.files = sorted(self._find(), key=lambda file: file.path)
        self.by_path = {file.path: file for file in self.files}

    def _find(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS
                          and not (name == "build" or name.startswith("build-"))]
            for name in names:
                if pathlib.PurePath(name).suffix in TEXT_ENDINGS or name in TEXT_NAMES:
                    full = pathlib.Path(folder) / name
                    yield File(self.root, full.relative_to(self.root).as_posix())

    def cpp(self):
        return [file for file in self.files if file.is_cpp]

    def library(self):
        return [file for file in self.files if file.in_library]

    def rooms(self):
        """The folders of src/ that hold something."""
        return sorted({file.room for file in self.files
                       if file.path.startswith("src/") and file.room})

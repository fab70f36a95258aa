"""What the build knows: each source in a CMake list, each room with its page, format as agreed."""

import re
import shutil
import subprocess

from .files import Finding

SOURCE_FOLDERS = ("src/", "tests/", "sim/", "bench/", "fuzz/", "examples/")
CLANG_FORMAT = "clang-format-14"


def check_listed(tree):
    """A source that no CMakeLists.txt names is not built, and a test that is not built never fails."""
    lists = {file.folder: file for file in tree.files if file.name == "CMakeLists.txt"}
    for file in lists.values():
        if re.search(r"\bfile\s*\(\s*GLOB", _without_comments(file.text)) and file.folder.startswith("src"):
            yield Finding(file.path, 1, "listed", "list sources by name: file(GLOB) hides what is built")
    for file in tree.files:
        if file.ending == ".cc" and file.path.startswith(SOURCE_FOLDERS):
            if not any(_names(lists[folder], file) for folder in _folders_above(file) if folder in lists):
                yield Finding(file.path, 1, "listed",
                              "no CMakeLists.txt above it names this file, so it is not built; list or "
                              "remove it")


def _without_comments(text):
    return re.sub(r"#[^\n]*", "", text)


def _folders_above(file):
    folder = file.folder
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def _names(cmake, file):
    """Whether the list names the file, in full or as a loop's word: foreach(x frame xml) ... ${x}_fuzz.cc"""
    relative = file.path[len(cmake.folder) + 1:] if cmake.folder else file.path
    text = _without_comments(cmake.text)
    words = set(re.split(r"[\s()\";]+", text))
    if relative in words or "${CMAKE_CURRENT_SOURCE_DIR}/" + relative in words or (
            "${CMAKE_SOURCE_DIR}/" + file.path in words):
        return True
    for before, after in re.findall(r"([\w/]*)\$\{\w+\}([\w]*\.cc)", text):
        if relative.startswith(before) and relative.endswith(after):
            if relative[len(before):len(relative) - len(after)] in words:
                return True
    return False


def check_room_pages(tree):
    """Each room has a page that says what it is for."""
    for room in tree.rooms():
        page = tree.by_path.get(f"src/{room}/README.md")
        if page is None:
            yield Finding(f"src/{room}", 1, "room-pages",
                          "no README.md; write what the room is for, what it refuses to do, its main types "
                          "and where to start reading")
        elif len(page.lines) > 80:
            yield Finding(page.path, 1, "room-pages", f"{len(page.lines)} lines; a room's page is one page (80)")


def check_format(tree):
    """All C++ is as clang-format leaves it. Not checked where that program is not installed."""
    program = shutil.which(CLANG_FORMAT)
    files = [file.path for file in tree.cpp()]
    if not program or not files or ".clang-format" not in tree.by_path:
        return
    run = subprocess.run([program, "--dry-run", "--Werror", *files], cwd=tree.root, text=True,
                         stdin=subprocess.DEVNULL, capture_output=True, check=False)
    seen = set()
    for path, line in re.findall(r"^(.+?):(\d+):\d+: error:", run.stderr, re.MULTILINE):
        if path not in seen:
            seen.add(path)
            yield Finding(path, int(line), "format", "not as clang-format leaves it; run `make format`")
    if run.returncode and not seen:
        yield Finding(".clang-format", 1, "format", f"{CLANG_FORMAT} failed: {run.stderr.strip()[:200]}")

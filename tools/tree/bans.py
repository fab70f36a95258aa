"""Words that code and text must not contain, each with what to write instead."""

import dataclasses
import os
import pathlib
import re

from .files import Finding


@dataclasses.dataclass(frozen=True)
class Ban:
    pattern: str
    instead: str
    except_rooms: tuple = ()
    tests_too: bool = False


# In src/, comments and strings left out.
CPP_BANS = [
    Ban(r"\bstd::j?thread\b|\bpthread_create\b|\bstd::async\b", "Runtime::Spawn", ("runtime",)),
    Ban(r"\bstd::this_thread\b|\b(?:u|nano)?sleep\s*\(", "SleepFor() of lakestream/runtime.h, or wait on a "
        "Condition", ("runtime",), tests_too=True),
    Ban(r"\bstd::condition_variable(?:_any)?\b", "Runtime::NewCondition", ("runtime",), tests_too=True),
    Ban(r"\bstd::(?:recursive_|shared_|timed_)?mutex\b|\bstd::(?:lock_guard|unique_lock|scoped_lock)\b",
        "Mutex and MutexLock of base/mutex.h", ("base", "runtime")),
    Ban(r"\b(?:system|steady|high_resolution)_clock::now\b|\bgettimeofday\b|\bclock_gettime\b|\btime\s*\(\s*"
        r"(?:nullptr|NULL|0)\s*\)", "Runtime::Now() or WallTimeMs()", ("runtime",), tests_too=True),
    Ban(r"\bstd::random_device\b|(?<![\w:.>])s?rand\s*\(|\bstd::s?rand\b|\bgetrandom\b", "Runtime::Random64()",
        ("runtime",), tests_too=True),
    Ban(r"\bstd::(?:mt19937(?:_64)?|minstd_rand0?|default_random_engine)\b", "Runtime::Random64()",
        ("runtime",)),
    Ban(r"\bstd::(?:cout|cerr|clog)\b|\bv?f?printf\s*\(|\b(?:f?puts|putchar|perror)\s*\(",
        "a Status, or Runtime::Log for the operator: the library never prints", ("cli",)),
    Ban(r"\b(?:std::)?(?:abort|_?exit|quick_exit|terminate)\s*\(",
        "a Status: the library never ends its host", ("cli",)),
    Ban(r"\bthrow\b", "a Status"),
    Ban(r"\btry\s*\{|\bcatch\s*\(", "a Status: call the form that does not throw", ("cli",)),
    Ban(r"\bstd::sto(?:i|l|ul|ll|ull|f|d|ld)\b", "std::from_chars: std::sto* throw"),
    Ban(r"\bstd::regex\b", "a loop: std::regex throws and recurses as deep as its input"),
    Ban(r"\bstd::(?:format|expected|source_location)\b",
        "Str() of base/text.h, Result<T>: a compiler that we support lacks it", tests_too=True),
]

# In every text file, comments included.
POSTPONED = re.compile(r"\b(TODO|FIXME|XXX|HACK|NOLINT\w*)\b|\bGTEST_SKIP\b|\bDISABLED_\w+|\bWIP\b")
# Hosts that text may name in a URL: documentation, specifications, examples, this machine.
HOSTS = re.compile(
    r"(127\.0\.0\.1|localhost|0\.0\.0\.0|169\.254\.169\.254|169\.254\.170\.2|\[::1\]|arxiv\.org|github\.com|"
    r"(.*\.)?apache\.org|(.*\.)?amazonaws\.com(\.cn)?|docs\.aws\.amazon\.com|(.*\.)?w3\.org|"
    r"(.*\.)?rfc-editor\.org|creativecommons\.org|keepachangelog\.com|(.*\.)?example(\.com|\.org|\.net|)|"
    r"(.*\.)?(host|invalid|test|local)|.*\.)")  # reserved names; a piece that code goes on
HOME_PATH = re.compile(r"(?<![\w.~$}-])/(?:root|(?:home|Users)/(?!(?:me|you|user)/)\w+)/[\w.]")
SHARED_FOLDERS = {"/", "/tmp", "/var/tmp", "/src", "/opt", "/srv", "/mnt", "/build", "/home", "/usr/src"}
# The checks and their tests have to spell out what they ban.
OWN_FILES = ("tools/tree/", "tools/check_tree")
VAGUE = {"util", "utils", "common", "helper", "helpers", "manager", "misc", "impl", "stuff"}


KILL = re.compile(r"(?<![\w.>])kill\s*\(")
KILL_HOME = "tests/support/kill_process.h"


def check_bans(tree):
    """Code of src/ that goes round a seam, prints, throws or ends the process; anywhere, a bare kill()."""
    for file in tree.cpp():
        for match in KILL.finditer(file.code) if file.path != KILL_HOME else ():
            yield Finding(file.path, file.line_of(match.start()), "bans",
                          f"'kill(' is banned; use KillProcess() of {KILL_HOME}: kill(-1) ends every process there is")
        if not file.path.startswith("src/"):
            continue
        for ban in CPP_BANS:
            if file.room in ban.except_rooms or (file.is_test and not ban.tests_too):
                continue
            for match in re.finditer(ban.pattern, file.code):
                yield Finding(file.path, file.line_of(match.start()), "bans",
                              f"'{match.group().strip()}' is banned here; use {ban.instead}")


def check_json(tree):
    """JSON is parsed by the form that does not throw."""
    for file in tree.library():
        for match in re.finditer(r"\bjson::parse\s*\(", file.code):
            depth, end = 1, match.end()
            while depth and end < len(file.code):
                depth += {"(": 1, ")": -1}.get(file.code[end], 0)
                end += 1
            if not re.search(r",\s*false\b", file.code[match.end():end]):
                yield Finding(file.path, file.line_of(match.start()), "json",
                              "json::parse() throws on bad input; write parse(text, nullptr, false) and "
                              "test is_discarded()")


def check_postponed(tree):
    """Nothing is postponed or switched off in the tree; open work lives in the issue tracker."""
    for file in tree.files:
        if file.path.startswith(OWN_FILES):
            continue
        for number, line in enumerate(file.lines, 1):
            match = POSTPONED.search(line)
            if match:
                yield Finding(file.path, number, "postponed",
                              f"'{match.group()}': do it now, or file an issue; a test fails rather than "
                              "skips, and a warning is mended rather than silenced")


def check_places(tree):
    """No path of somebody's machine, no host that is neither documentation nor an example."""
    own = _own_paths(tree.root)
    for file in tree.files:
        if file.path.startswith(OWN_FILES):
            continue
        for number, line in enumerate(file.lines, 1):
            match = HOME_PATH.search(line) or (own and own.search(line))
            if match:
                yield Finding(file.path, number, "places",
                              f"'{match.group()}' is a path of one machine; write it relative to the tree")
            for host in re.findall(r"https?://([^\s/:\"'`<>)\]]*|\[[0-9a-f:]+\])", line):
                if re.search(r"[.:]", host) and not re.search(r"[{$%*]", host) and not HOSTS.fullmatch(host):
                    yield Finding(file.path, number, "places",
                                  f"'{host}' is no documentation host; write example.com, or name the thing "
                                  "instead of its address (the list is in tools/tree/bans.py)")


def _own_paths(root):
    """A pattern for the place of this very tree, its neighbours and the user's home."""
    found = [] if len(root.parts) < 3 else [str(root)]
    if str(root.parent) not in SHARED_FOLDERS:
        found.append(str(root.parent) + "/")
    home = os.environ.get("HOME", "")
    if len(pathlib.PurePath(home).parts) > 1 and home not in SHARED_FOLDERS:
        found.append(home + "/")
    if not found:
        return None
    return re.compile(r"(?<![\w.~$}-])(?:" + "|".join(re.escape(path) for path in found) + ")")


def check_names(tree):
    """File names are nouns of the domain."""
    for file in tree.cpp():
        for word in re.split(r"[_.]", file.name):
            if word in VAGUE:
                yield Finding(file.path, 1, "names",
                              f"'{word}' says nothing; name the file after what it holds")

"""Who includes whom: tools/layers.txt, held against the #includes and the CMake lists."""

import fnmatch
import re

from .files import Finding

LAYERS = "tools/layers.txt"
# What a pure room must not touch, on top of what its layer forbids. It may know the types of time.
IMPURE_INCLUDE = re.compile(
    r"<(thread|mutex|shared_mutex|condition_variable|future|random|ctime|time\.h|fstream|filesystem|"
    r"cstdio|stdio\.h|unistd\.h|fcntl\.h|sys/.*)>"
    r'|"lakestream/(producer|consumer|admin)\.h"|"(runtime|store|s3|ledger)/.*"')
IMPURE_WORD = re.compile(r"\b(?:Runtime|RealRuntime|ObjectStore|OpenStore|Stream|Mutex|Deadline)\b")


class Layers:
    """layers.txt: `rooms` maps a room to its set of rooms (None: anything), in file order;
    `outside` maps a pattern of outside headers to the rooms that may include them."""

    def __init__(self, file):
        self.rooms, self.outside, self.pure, self.findings = {}, {}, set(), []
        for number, line in enumerate(file.lines if file else [], 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            if ":" not in line:
                self._bad(file, number, f"'{line}' has no colon; write `room : rooms`")
                continue
            name, _, names = line.partition(":")
            name, names = name.strip(), names.split()
            if name == "pure":
                self.pure = set(names)
            elif name.startswith("<"):
                self.outside[name.strip("<>")] = set(names)
            else:
                self._add_room(file, number, name, names)

    def _add_room(self, file, number, name, names):
        if name in self.rooms:
            self._bad(file, number, f"room '{name}' has two lines; merge them")
        for other in names:
            if other != "*" and other not in self.rooms:
                self._bad(file, number, f"'{name}' names '{other}', which is not above it; "
                          "arrows point to rooms on earlier lines only")
        self.rooms[name] = None if "*" in names else set(names)

    def _bad(self, file, number, message):
        self.findings.append(Finding(file.path, number, "layers", message))


def check_layers(tree):
    """Each include, room folder and CMake link agrees with layers.txt."""
    if LAYERS not in tree.by_path:
        yield Finding(LAYERS, 1, "layers", "missing; it says which room may include which")
        return
    layers = Layers(tree.by_path[LAYERS])
    yield from layers.findings
    for room in tree.rooms():
        if room not in layers.rooms:
            yield Finding(f"src/{room}", 1, "layers",
                          f"room '{room}' has no line in {LAYERS}; a new room needs a decision record")
    for file in tree.cpp():
        for number, include in file.includes():
            message = _include_fault(tree, layers, file, include)
            if message:
                yield Finding(file.path, number, "layers", message)
    for file in tree.files:
        if file.name == "CMakeLists.txt" and file.path.startswith("src/"):
            yield from _links(layers, file)


def _include_fault(tree, layers, file, include):
    name = include.strip('<>"')
    if include.startswith("<"):
        if not file.in_library:
            return None
        for pattern, rooms in layers.outside.items():
            if fnmatch.fnmatch(name, pattern) and file.room not in rooms:
                where = " ".join(sorted(rooms)) or "no room"
                return f"<{name}> is for {where} only; use what that room offers ({LAYERS})"
        return None
    if file.path.startswith("include/"):
        return None  # the rule `public` looks at these
    first = name.split("/")[0]
    if "/" not in name or first == "..":
        return f'write "{name}" with its room, such as "{file.room}/{name}"'
    allowed = layers.rooms.get(file.room, set())
    if file.is_test or allowed is None or first in ("lakestream", file.room) or first in allowed:
        return None
    if f"{file.room}/{name}" in tree.by_path:
        return None  # "multimodal/item.h" within examples/
    if first == "src":
        return f'"{name}": leave out "src/"'
    return (f"'{file.room}' may not include '{first}'; its line in {LAYERS} allows: "
            f"{' '.join(sorted(allowed)) or 'public headers only'}")


def _links(layers, file):
    allowed = layers.rooms.get(file.room)
    for match in re.finditer(r"ls_room\s*\(([^)]*)\)", file.text):
        words = match.group(1).split()
        if "ROOMS" not in words or allowed is None:
            continue
        for word in words[words.index("ROOMS") + 1:]:
            if word.isupper():
                break
            if word not in allowed:
                yield Finding(file.path, file.line_of(match.start()), "layers",
                              f"'{file.room}' links the room '{word}', which its line in {LAYERS} "
                              "does not name")


def check_backends(tree):
    """Only src/backends names the stores that exist; everyone else gets an ObjectStore."""
    for file in tree.library():
        if file.room in ("backends", "store", "s3"):
            continue
        for number, include in file.includes():
            if re.match(r'"(store/(local|memory)_store\.h|s3/.*)"', include):
                yield Finding(file.path, number, "backends",
                              f"{include} names a backend; take an ObjectStore& or call OpenStore()")


def check_pure(tree):
    """Pure rooms decide in functions of their arguments; they do no I/O and read no clock."""
    pure = Layers(tree.by_path.get(LAYERS)).pure
    for file in tree.library():
        if file.room not in pure:
            continue
        uses = [(number, include) for number, include in file.includes()
                if IMPURE_INCLUDE.fullmatch(include)]
        uses += [(file.line_of(match.start()), match.group())
                 for match in IMPURE_WORD.finditer(file.code)]
        for number, use in uses:
            yield Finding(file.path, number, "pure",
                          f"'{file.room}' is pure; {use} does not belong in it: take the value (time, "
                          "bytes, random number) as an argument")


def check_public(tree):
    """Public headers include the standard library and each other, nothing else."""
    for file in tree.cpp():
        if not file.path.startswith("include/"):
            continue
        for number, include in file.includes():
            if not re.fullmatch(r'<[a-z_]+>|"lakestream/[a-z_0-9]+\.h"', include):
                yield Finding(file.path, number, "public",
                              f"a public header includes only the standard library and "
                              f"\"lakestream/...\", not {include}; forward-declare instead")
        if "#pragma once" not in file.text:
            yield Finding(file.path, 1, "public", "write `#pragma once` at the top")

"""A second reader of Lakestream's formats, written from docs/format/ alone.

It reads a stream that lies in a folder and of which nothing was reclaimed, checks all that can be
checked, and collects what is wrong instead of stopping, so that a report can say how much is.
"""

import json
from pathlib import Path

from branch_log import BranchLog
from formats import DataObject, FormatError


class StreamReader:
    """The main branch below a folder. `errors` holds (kind, where, what)."""

    def __init__(self, root):
        self.root = Path(root)
        self.info = json.loads((self.root / "stream.json").read_text())
        self.dp = self.info["mesh"]["dp"]
        self.cp = self.info["mesh"]["cp"]
        self.slices = self.dp * self.cp
        self.errors = []
        self.log = BranchLog(self.info)
        self.bytes_checked = 0

    versions = property(lambda self: self.log.version)
    next_step = property(lambda self: self.log.next_step)
    sealed = property(lambda self: self.log.sealed)
    rows = property(lambda self: self.log.rows)
    entries = property(lambda self: self.log.entries)
    commits_by_session = property(lambda self: self.log.commits_by_session)

    def error(self, kind, where, what):
        self.errors.append((kind, where, what))

    def read_log(self):
        names = sorted(p.name for p in (self.root / "log" / "main").iterdir())
        if names != [f"{v:020d}" for v in range(1, len(names) + 1)]:
            self.error("gap", "log/main", "versions are not 1, 2, 3, ... without a gap")
        for name in names:
            where = f"log/main/{name}"
            try:
                self.log.apply((self.root / where).read_bytes())
            except (FormatError, KeyError, UnicodeDecodeError) as problem:
                self.error("record", where, str(problem))
                return

    def steps(self):
        """Yields (step, producer, {(dp, cp): payload}); what is damaged is reported."""
        for entry in self.entries:
            where = f"data/main/{entry['session']:020d}-{entry['object']:010d}.tgb"
            frames = [{} for _ in range(entry["count"])]
            try:
                data = (self.root / where).read_bytes()
            except OSError as problem:
                self.error("object", where, str(problem))
            else:
                found = DataObject(data, self.info, entry["producer"], entry)
                for problem in found.problems:
                    self.error("object", where, problem)
                frames = found.slices
                self.bytes_checked += len(data)
            for ordinal, frame in enumerate(frames):
                yield entry["first_step"] + ordinal, entry["producer"], frame

    def orphans(self):
        """Data objects that no entry names: what a killed producer uploaded but did not commit."""
        named = {f"{e['session']:020d}-{e['object']:010d}.tgb" for e in self.entries}
        return sorted(p.name for p in (self.root / "data" / "main").iterdir() if p.name not in named)

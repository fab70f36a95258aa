"""Shows that the judge can fail: plants a violation into a copy of a finished run, for each kind.

A run without findings goes in; every plant must be named, by its kind.
"""

import json
import shutil
import struct
from pathlib import Path

from judge import Judge
from formats import DataObject, checksum, hash128, make_frame, open_frame
from reach import data_key, needed_data


class Forger:
    """A copy of a run, and what it takes to lie in it."""

    def __init__(self, original, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(original, folder, ignore=shutil.ignore_patterns("store"))
        self.folder = Path(folder)
        judge = Judge(self.folder)
        judge.fold_history()
        self.judge, self.log = judge, judge.logs["main"]

    def both(self, key, change):
        """Applies `change` to the object in the history and in the final store."""
        for place in ("history", "final"):
            path = self.folder / place / key
            if path.exists():
                path.write_bytes(change(path.read_bytes()))

    def flip(self, path, at=None):
        data = bytearray(path.read_bytes())
        data[len(data) // 2 if at is None else at] ^= 1
        path.write_bytes(data)

    def final(self, prefix, last=False):
        """An object of the final store."""
        return sorted((self.folder / "final" / prefix).iterdir())[-1 if last else 0]

    def needed(self):
        """The key of a data object that the final store needs, for a checkpoint if there is one."""
        for checkpoint in self.log.checkpoints.values():
            for entry in self.log.entries_meeting(checkpoint["step"], checkpoint["step"] + 1):
                return data_key("main", entry["session"], entry["object"])
        return min(key for key, why in needed_data(self.judge.logs).items() if why.startswith("step"))

    def rewrite(self, version, change):
        """Changes a record, and chains what follows to it, as a perfect liar would."""
        previous = None
        while (path := self.folder / "history" / "log" / "main" / f"{version:020d}").exists():
            data = path.read_bytes()
            body = bytearray(open_frame(data, b"LSLOG001"))
            if previous is None:
                body = bytearray(change(bytes(body)))
            else:
                body[24:40] = previous
            data = make_frame(b"LSLOG001", bytes(body))
            previous = hash128(data)
            self.both(f"log/main/{version:020d}", lambda _, data=data: data)
            version += 1

    def entry(self, suits):
        return next(e for e in reversed(self.log.entries) if suits(e))

    def move_cursor(self, by):
        def suits(entry):
            state = entry["state"]
            return state in (b"%d" % (entry["item"] + entry["count"]),) and len(state) == len(b"%d" % (int(state) + by))

        entry = self.entry(suits)
        state = entry["state"]
        raw = entry["raw"][: -len(state)] + b"%d" % (int(state) + by)
        self.rewrite(entry["version"], lambda body: body.replace(entry["raw"], raw))

    def change_item(self):
        """Another item in one slice, with all checksums right."""
        entry = self.entry(lambda e: (self.folder / "history" / data_key("main", e["session"], e["object"])).exists())
        key = data_key("main", entry["session"], entry["object"])

        def change(data):
            data = bytearray(data)
            payload = DataObject(bytes(data), self.judge.info, entry["producer"], entry).slices[0][0, 0]
            (header,) = struct.unpack_from("<Q", payload)
            struct.pack_into("<Q", data, 128 + 8 + header, entry["item"] + 1)  # the first frame's payload is at 128
            struct.pack_into("<Q", data, 64 + 48, checksum(bytes(data[128 : 128 + len(payload)])))
            struct.pack_into("<Q", data, 64 + 56, checksum(bytes(data[64 : 64 + 56])))
            return bytes(data)

        self.both(key, change)

    def publish_as_zombie(self):
        entry = self.entry(lambda e: 1 < e["session"] < 128)
        raw = bytes([entry["session"] - 1]) + entry["raw"][1:]
        self.rewrite(entry["version"], lambda body: body.replace(entry["raw"], raw))

    def change_facts(self, name, field, value):
        path = self.folder / name
        facts = json.loads(path.read_text())
        facts[field] = value
        path.write_text(json.dumps(facts))

    def say(self, **words):
        with (self.folder / "said" / "produce-main-a").open("a") as said:
            said.write(json.dumps(words) + "\n")

    def rank_lines(self, change):
        path = max((self.folder / "ranks").iterdir(), key=lambda p: p.stat().st_size)
        lines = path.read_text().splitlines()
        change(lines)
        path.write_text("\n".join(lines) + "\n")


def other_hash(lines):
    middle = len(lines) // 2
    lines[middle] = lines[middle][:-1] + ("0" if lines[middle][-1] != "0" else "1")


PLANTS = {
    "a duplicated item": ("exactly_once", lambda f: f.move_cursor(-1)),
    "a missing item": ("exactly_once", lambda f: f.move_cursor(1)),
    "another item in a slice": ("exactly_once", Forger.change_item),
    "a zombie's publish": ("rules", Forger.publish_as_zombie),
    "a record that was rewritten": ("changed", lambda f: f.flip(f.final("log/main", last=True))),
    "a record that is gone": ("missing", lambda f: f.final("log/main", last=True).unlink()),
    "a hole in the history": ("rules", lambda f: sorted((f.folder / "history/log/main").iterdir())[5].unlink()),
    "a changed byte": ("torn", lambda f: f.both(f.needed(), lambda d: d[:200] + bytes([d[200] ^ 1]) + d[201:])),
    "a byte changed late": ("changed", lambda f: f.flip(f.folder / "final" / f.needed())),
    "a missing object of a checkpoint": ("missing", lambda f: (f.folder / "final" / f.needed()).unlink()),
    "an object that was gone for a while": (
        "lost", lambda f: f.change_facts("history/watched.json", "lost", {f.needed(): "step 1"}),
    ),
    "an orphan": ("useless", lambda f: (f.folder / "final" / data_key("main", 1, 99999)).write_bytes(b"x")),
    "a temporary file": ("useless", lambda f: (f.folder / "final" / ("0" * 32)).write_bytes(b"")),
    "an upload without an end": ("useless", lambda f: f.change_facts("run.json", "unfinished", ["data/main/x"])),
    "a damaged snapshot": ("derived", lambda f: f.flip(f.final("snapshot/main"))),
    "other bytes at one rank": ("bytes", lambda f: f.rank_lines(other_hash)),
    "a step that a rank skipped": ("order", lambda f: f.rank_lines(lambda lines: lines.pop(len(lines) // 2))),
    "a rank that never ended": (
        "order", lambda f: [p.write_text(p.read_text().replace("end\n", "")) for p in (f.folder / "ranks").iterdir()],
    ),
    "an acknowledged item that is not there": ("acknowledged", lambda f: f.say(committed="a", branch="main", items=10**6)),
    "an acknowledged checkpoint that is not there": ("acknowledged", lambda f: f.say(checkpoint="nothing", step=0)),
    "a data loss that a reader met": ("reported", lambda f: f.say(violation="data_loss: a slice is gone")),
}  # fmt: skip


def check_judge(original, folder):
    """What the judge did not see."""
    unseen = []
    for name, (kind, plant) in PLANTS.items():
        forger = Forger(original, folder)
        plant(forger)
        found = Judge(folder).judge()
        named = [what for found_kind, what in found if found_kind == kind]
        print(f"chaos: planted {name}: {kind}: {named[0] if named else 'NOT SEEN'}", flush=True)
        if not named:
            unseen.append(f"the judge did not see {name}; it found {found[:3]}")
    shutil.rmtree(folder)
    return unseen

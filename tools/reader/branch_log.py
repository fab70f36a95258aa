"""The log of one branch, folded record by record: the rules of docs/format/manifest.md.

A second implementation of what the library's apply function does, from the page alone. Whatever a
record does against the rules is a FormatError.
"""

import itertools
import struct
from bisect import bisect_right
from collections import Counter

from formats import FormatError, hash128, make_frame, read_record, string, varint

MASK = (1 << 64) - 1


def require(condition, what):
    if not condition:
        raise FormatError(what)


class BranchLog:
    """The state after `version`. `entries` holds every TGB entry ever published, in step order."""

    def __init__(self, info, name="main", fork=None):
        self.info, self.name, self.fork = info, name, fork
        self.slices = info["mesh"]["dp"] * info["mesh"]["cp"]
        self.uuid = bytes.fromhex(info["uuid"])
        self.version = 0
        self.hash = fork["root"] if fork else hash128(self.uuid)
        self.next_step = fork["step"] if fork else 0
        self.trim_step = fork["trim_step"] if fork else 0
        self.sealed = self.closed = False
        self.sessions_opened = self.slice_bytes = self.data_objects = self.time = 0
        self.rows, self.checkpoints, self.runs, self.branches = {}, {}, {}, {}
        self.entries = []  # {first_step, version, producer, item (TGBs of its producer before it), ...}
        self.first_steps = []  # of the entries
        self.snapshots = {}  # version -> the bytes that its snapshot must have
        self.steps_at = {}  # version of a snapshot -> next step
        self.all_checkpoints = []  # that were ever live
        self.detached = []  # (job, run)
        self.commits_by_session = Counter()

    def apply(self, data):
        """Folds the next record; returns it."""
        record = read_record(data, self.slices)
        require(not self.closed, "a record after the close")
        require(record["uuid"] == self.info["uuid"], "belongs to another stream")
        require(record["version"] == self.version + 1, "states another version")
        require(record["previous"] == self.hash, "the hash chain is broken")
        require(record["first_step"] == self.next_step, f"begins at step {record['first_step']}, not {self.next_step}")
        self.version += 1
        self._check_order(record["changes"])
        for change in record["changes"]:
            require(not self.closed, "a change after the close")
            getattr(self, "_" + change["kind"])(change, record)
        require(self.next_step == record["next_step"], "its changes do not lead to the step that it states")
        self.hash = hash128(data)
        self.time = record["time"]
        for session in {c["session"] for c in record["changes"] if "session" in c}:
            self.commits_by_session[session] += 1
        if self.version % self.info["snapshot_interval"] == 0:
            self.snapshots[self.version] = self._snapshot()
            self.steps_at[self.version] = self.next_step
        return record

    # Producers ----------------------------------------------------------------------------------

    def _check_order(self, changes):
        n = self.sessions_opened
        published = [c for c in changes if c["kind"] == "publish"]
        require(not published or n > 0, "a publish before any session")
        shift = (self.version * 0x9E3779B97F4A7C15 & MASK) % max(n, 1) + 1
        places = [
            (c["session"] - shift if c["session"] >= shift else c["session"] + n - shift, c["first_sequence"])
            for c in published
        ]
        require(places == sorted(places), "publishes out of order")

    def _not_sealed(self):
        require(not self.sealed, "a change that the seal forbids")

    def _begin_session(self, row):
        self.sessions_opened += 1
        row.update(session=self.sessions_opened, next_sequence=0, next_object=0)

    def _open(self, change, _record):
        self._not_sealed()
        name = change["producer"]
        declared = self.info["producers"]
        require(not declared or name in declared, f"an open of {name}, which is not declared")
        row = self.rows.get(name) or {
            "session": 0, "finished": False, "tgbs": 0, "state": b"", "state_raw": b"\0", "state_place": (0, 0),
        }  # fmt: skip
        require(row["session"] == change["expected"], "an open that replaces another session than the current one")
        self.rows[name] = row
        self._begin_session(row)

    def _fence(self, change, _record):
        self._not_sealed()
        row = self.rows.get(change["producer"])
        require(row and row["session"] == change["expected"], "a fence of a session that is not current")
        self._begin_session(row)

    def _row_of(self, session):
        for producer, row in self.rows.items():
            if row["session"] == session:
                return producer, row
        raise FormatError(f"session {session} is not current: a zombie's change")

    def _publish(self, change, _record):
        self._not_sealed()
        producer, row = self._row_of(change["session"])
        require(change["first_sequence"] == row["next_sequence"], "a publish out of sequence")
        require(change["object"] >= row["next_object"], "a publish of an older object")
        self.entries.append(
            {**change, "first_step": self.next_step, "version": self.version, "producer": producer, "item": row["tgbs"]}
        )
        self.first_steps.append(self.next_step)
        row["next_sequence"] += change["count"]
        row["tgbs"] += change["count"]
        row["next_object"] = change["object"] + 1
        row["finished"] = False
        row["state"], row["state_raw"] = change["state"], change["state_raw"]
        is_extent = isinstance(change["state"], tuple)
        row["state_place"] = (change["session"], change["object"]) if is_extent else (0, 0)
        self.next_step += change["count"]
        self.slice_bytes += sum(change["sizes"])
        self.data_objects += 1

    def _finish(self, change, _record):
        self._not_sealed()
        row = self._row_of(change["session"])[1]
        require(not row["finished"], "a second finish")
        row["finished"] = True
        declared = self.info["producers"]
        if declared and all(self.rows.get(p, {}).get("finished") for p in declared):
            self.sealed = True

    def _seal(self, _change, _record):
        self._not_sealed()
        self.sealed = True

    # Lifecycle ----------------------------------------------------------------------------------

    def _begin(self, change, _record):
        name = change["name"]
        require(self.trim_step <= change["step"] <= self.next_step, f"checkpoint {name} at a step that is not there")
        require(not self.checkpoints.get(name, {}).get("live"), f"checkpoint {name} begins anew while it is live")
        row = self.checkpoints[name] = {**change, "begun": self.version, "live": change["parts"] == 0}
        if row["live"]:
            self.all_checkpoints.append(row)

    def _checkpoint(self, change):
        row = self.checkpoints.get(change["name"])
        require(row and row["begun"] == change["begun"], f"a change of checkpoint {change['name']}, which is not there")
        return row

    def _complete(self, change, _record):
        row = self._checkpoint(change)
        require(not row["live"], "a second completion")
        row["live"] = True
        self.all_checkpoints.append(row)

    def _drop(self, change, _record):
        self._checkpoint(change)
        del self.checkpoints[change["name"]]

    def _pin(self, change, _record):
        self._checkpoint(change)["pinned"] = change["pinned"]

    def _trim(self, change, _record):
        step = change["step"]
        require(self.trim_step < step <= self.next_step, f"a trim to step {step}")
        for row in self.checkpoints.values():
            require(step <= row["step"], f"a trim to step {step} past checkpoint {row['name']}")
        self.trim_step = step

    def _attach(self, change, _record):
        require(self.trim_step <= change["start"] <= self.next_step, "an attach at a step that is not there")
        before = self.runs.get(change["job"])
        require(change["ranks"] > 0 and (not before or before["run"] != change["run"]), "an attach that changes nothing")
        self.runs[change["job"]] = change

    def _detach(self, change, _record):
        row = self.runs.pop(change["job"], None)
        require(row and row["run"] == change["run"], "a detach of a run that is not current")
        self.detached.append((change["job"], change["run"]))

    def _fork(self, change, record):
        name = change["branch"]
        require(self.trim_step <= change["step"] <= self.next_step, "a fork at a step that is not there")
        require(name != self.name and name not in self.branches, f"a second branch {name}")
        root = hash128(record["previous"] + record["commit_id"] + string(name))
        self.branches[name] = {
            "name": name, "parent": self.name, "step": change["step"], "version": self.version,
            "trim_step": self.trim_step, "root": root,
        }  # fmt: skip

    def _forget(self, change, _record):
        require(self.branches.pop(change["branch"], None), "a branch is forgotten that is not there")

    def _close(self, _change, _record):
        require(self.fork and not self.branches, "a close of main, or of a branch with branches")
        self.closed = True

    # What others derive from the log ------------------------------------------------------------

    def entries_meeting(self, first, end):
        """The entries that cover a step of [first, end), in step order."""
        at = bisect_right(self.first_steps, first) - 1
        for entry in itertools.islice(self.entries, max(at, 0), None):
            if entry["first_step"] >= end:
                return
            if entry["first_step"] + entry["count"] > first:
                yield entry

    def places(self, first, end):
        chosen = list(self.entries_meeting(first, end))
        return varint(len(chosen)) + b"".join(varint(e["first_step"]) + e["raw"] for e in chosen)

    def index_page(self, page):
        steps = self.info["index_page_steps"]
        body = self.uuid + struct.pack("<Q", page) + self.places(page * steps, (page + 1) * steps)
        return make_frame(b"LSINDX01", body)

    def _snapshot(self):
        def table(rows, encode):
            return varint(len(rows)) + b"".join(string(name) + encode(row) for name, row in sorted(rows.items()))

        body = self.uuid + struct.pack("<Q", self.version) + self.hash + varint(self.next_step)
        body += bytes([self.sealed]) + varint(self.sessions_opened) + varint(self.slice_bytes)
        body += varint(self.data_objects) + struct.pack("<Q", self.time) + varint(self.trim_step)
        body += bytes([self.closed])
        body += table(self.rows, lambda r: (
            varint(r["session"]) + varint(r["next_sequence"]) + bytes([r["finished"]]) + varint(r["tgbs"])
            + varint(r["next_object"]) + r["state_raw"] + varint(r["state_place"][0]) + varint(r["state_place"][1])
        ))  # fmt: skip
        body += table(self.checkpoints, lambda c: (
            varint(c["begun"]) + string(c["attempt"]) + varint(c["step"]) + varint(c["parts"])
            + bytes([c["live"] + 2 * c["pinned"]]) + string(c["note"]) + struct.pack("<Q", c["time"])
        ))  # fmt: skip
        body += table(self.runs, lambda r: (
            string(r["run"]) + varint(r["ranks"]) + varint(r["start"]) + struct.pack("<Q", r["time"])
        ))  # fmt: skip
        body += table(self.branches, lambda b: (
            varint(b["step"]) + varint(b["version"]) + varint(b["trim_step"]) + b["root"]
        ))  # fmt: skip
        steps = self.info["index_page_steps"]
        return make_frame(b"LSSNAP01", body + self.places(self.next_step // steps * steps, MASK))

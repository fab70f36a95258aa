#!/usr/bin/python3
"""Judges a finished chaos run by what is in its folder; no Lakestream.

  judge.py FOLDER

  history/   what watcher.py copied        final/      the store after the end
  run.json   what the driver knows         ranks/      what each rank says it read
  said/      what the workers said

Prints what is wrong, by kind, and exits with 1 if anything is.
"""

import json
import struct
import sys
from collections import Counter, defaultdict
from pathlib import Path

import stores  # noqa: F401  adds tools/reader to the path
from branch_log import BranchLog
from formats import DataObject, FormatError, checksum, read_boundary, read_branch, read_tensors
from reach import data_key, needed_data, needed_steps


LARGE_WORDS = 9_000_000


def words_of(producer, item, dp, cp, large):
    """The deterministic source: chaos_worker.cc has it, too."""
    word = checksum(f"{producer}/{item}/{dp}/{cp}".encode())
    count = LARGE_WORDS if large and dp + cp == 0 else 20 + word % 300
    return struct.pack("<Q", item) + struct.pack("<Q", word) * (count - 1)


class Judge:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.history, self.final = self.folder / "history", self.folder / "final"
        self.run = json.loads((self.folder / "run.json").read_text())
        self.info = json.loads((self.history / "stream.json").read_text())
        self.watched = json.loads((self.history / "watched.json").read_text())
        self.mesh = self.info["mesh"]
        self.findings = []
        self.counts = Counter()
        self.logs = {}
        self.slices = {}  # branch -> {step: {(dp, cp): hash of the payload}}

    def wrong(self, kind, what):
        self.findings.append((kind, what))

    def judge(self):
        self.fold_history()
        for log in self.logs.values():
            self.check_data(log)
        self.check_missed()
        self.check_words()
        self.check_ranks()
        self.check_final()
        return self.findings

    # The history --------------------------------------------------------------------------------

    def fold_history(self):
        waiting = [("main", None)]
        while waiting:
            name, fork = waiting.pop()
            log = self.logs[name] = BranchLog(self.info, name, fork)
            folder = self.history / "log" / name
            for path in sorted(folder.iterdir()) if folder.exists() else []:
                try:
                    record = log.apply(path.read_bytes())
                except FormatError as problem:
                    self.wrong("rules", f"log/{name}/{path.name}: {problem}")
                    break
                for change in record["changes"]:
                    if change["kind"] == "fork" and change["branch"] not in self.logs:
                        waiting.append((change["branch"], log.branches[change["branch"]]))
            self.counts["versions"] += log.version

    def check_data(self, log):
        """The source's items in the committed steps, and the bytes of each slice."""
        hashes = self.slices[log.name] = {}
        for entry in log.entries:
            key = data_key(log.name, entry["session"], entry["object"])
            self.counts["steps"] += entry["count"]
            path = self.history / key
            state = entry["state"]
            if path.exists():
                found = DataObject(path.read_bytes(), self.info, entry["producer"], entry)
                for problem in found.problems:
                    self.wrong("torn", f"{key}: {problem}")
                for ordinal, grid in enumerate(found.slices):
                    step = entry["first_step"] + ordinal
                    item = entry["item"] + ordinal
                    large = log.name == "main" and self.is_large(entry["producer"], item)
                    hashes[step] = self.check_grid(step, entry["producer"], item, grid, large)
                    self.counts["steps_seen"] += 1
                state = found.state()
            if not isinstance(state, tuple) and int(state) != entry["item"] + entry["count"]:
                text = f"{log.name} step {entry['first_step']}: the cursor of {entry['producer']} is {int(state)}"
                self.wrong("exactly_once", f"{text}, its items so far are {entry['item'] + entry['count']}")

    def check_grid(self, step, producer, item, grid, large):
        hashes = {}
        for dp in range(self.mesh["dp"]):
            for cp in range(self.mesh["cp"]):
                payload = grid.get((dp, cp))
                if payload is None:
                    self.wrong("torn", f"step {step} has no intact slice ({dp}, {cp})")
                    continue
                hashes[dp, cp] = f"{checksum(payload):016x}"
                _, tensors = read_tensors(payload)
                expected = ("U64", words_of(producer, item, dp, cp, large))
                if list(tensors) != [producer] or tensors[producer][::2] != expected:
                    self.wrong("exactly_once", f"step {step} ({dp}, {cp}) is not item {item} of {producer}")
        return hashes

    def is_large(self, producer, item):
        every = self.run["large_every"].get(producer, 0)
        return every and item % every == every - 1

    def check_missed(self):
        """What was gone before it could be copied must have been released."""
        for key, why in self.watched["lost"].items():
            self.wrong("lost", f"{key} was gone while {why} needed it")
        for missed in self.watched["missed"]:
            _, branch, name = missed["key"].split("/")
            place = tuple(int(part) for part in name.removesuffix(".tgb").split("-"))
            log, boundary = self.logs[branch], missed["boundary"]
            ends = [e["first_step"] + e["count"] for e in log.entries if (e["session"], e["object"]) == place]
            released = boundary and (boundary["closed"] or all(end <= boundary["first_step"] for end in ends))
            if not released:
                self.wrong("lost", f"{missed['key']} was gone when its commit appeared")

    # What workers and ranks say -------------------------------------------------------------------

    def check_words(self):
        """What was acknowledged is there."""
        live = {(c["name"], c["step"]) for log in self.logs.values() for c in log.all_checkpoints}
        for path in sorted((self.folder / "said").iterdir()):
            for line in path.read_text(errors="replace").splitlines():
                try:
                    said = json.loads(line)
                except ValueError:
                    self.wrong("words", f"{path.name}: {line[:200]}")
                    continue
                if "violation" in said:
                    self.wrong("reported", f"{path.name}: {said['violation']}")
                if "committed" in said:
                    row = self.logs.get(said["branch"], BranchLog(self.info)).rows.get(said["committed"], {"tgbs": 0})
                    if row["tgbs"] < said["items"]:
                        text = f"{said['committed']} had {said['items']} items acknowledged, {row['tgbs']} are there"
                        self.wrong("acknowledged", text)
                if "read" in said:
                    self.check_observed(path.name, said)
                if "checkpoint" in said and (said["checkpoint"], said["step"]) not in live:
                    self.wrong("acknowledged", f"checkpoint {said['checkpoint']} was acknowledged and is not in the log")

    def check_observed(self, who, said):
        """An observer's step: on a branch, those below the fork are its parent's."""
        log, place = self.logs.get(said["read"]), (said["dp"], said["cp"])
        if log is None:
            return self.wrong("missing", f"{who} has read branch {said['read']}, of which there is no log")
        while log.fork and said["step"] < log.fork["step"]:
            log = self.logs[log.fork["parent"]]
        stored = self.slices[log.name].get(said["step"], {}).get(place)
        self.counts["steps_observed"] += 1
        if stored not in (None, said["hash"]):
            self.wrong("bytes", f"{who}: other bytes at step {said['step']} {place} of {said['read']}")

    def check_ranks(self):
        main = self.logs["main"]
        seen = defaultdict(set)
        ended = set()
        first_seen = {}
        for life in self.run["lives"]:
            rank = f"{life['job']}-{life['rank']}"
            step = life["start"]
            path = self.folder / "ranks" / life["log"]
            lines = path.read_text().split("\n")[:-1] if path.exists() else []  # the last one may be torn
            for line in lines:
                if line == "end":
                    ended.add(rank)
                    if step != main.next_step or not main.sealed:
                        self.wrong("order", f"{life['log']}: the end at step {step} of {main.next_step}")
                    continue
                number, *hashes = line.split(" ")
                if int(number) != step:
                    self.wrong("order", f"{life['log']}: step {number} where {step} was due")
                    break
                self.check_read(life, step, hashes, first_seen)
                seen[rank].add(step)
                step += 1
                self.counts["steps_read"] += 1
        for rank in {f"{life['job']}-{life['rank']}" for life in self.run["lives"]}:
            if rank not in ended:
                self.wrong("order", f"rank {rank} never came to the end")
            missing = set(range(main.next_step)) - seen[rank] - self.skipped(rank.rsplit("-", 1)[0])
            if missing:
                self.wrong("order", f"rank {rank} never saw {len(missing)} steps, the first is {min(missing)}")

    def skipped(self, job):
        """Steps that a job lost because it was detached: then, and only then, they may be trimmed."""
        gone = set()
        if any(detached == job for detached, _ in self.logs["main"].detached):
            for skip in self.run["skips"]:
                gone.update(range(skip["from"], skip["to"]) if skip["job"] == job else ())
        return gone

    def check_read(self, life, step, hashes, first_seen):
        places = [(life["dp"], life["cp"])]
        if life["dp_size"] == 1:
            places = [(dp, life["cp"]) for dp in range(self.mesh["dp"])]
        if len(hashes) != len(places):
            self.wrong("order", f"{life['log']}: {len(hashes)} slices at step {step}")
        for place, found in zip(places, hashes):
            stored = self.slices["main"].get(step, {}).get(place)
            before = first_seen.setdefault((step, place), stored or found)
            if found != before:
                self.wrong("bytes", f"{life['log']}: other bytes at step {step} {place}")

    # The store in the end -------------------------------------------------------------------------

    def check_final(self):
        self.there = {str(p.relative_to(self.final)) for p in self.final.rglob("*") if p.is_file()}
        self.useful = {"stream.json"}
        self.needed = {"stream.json": "the stream"}
        for log in self.logs.values():
            self.check_branch(log)
        for key, why in needed_data(self.logs).items():
            self.needed[key] = why
        for key, why in self.needed.items():
            if key not in self.there:
                self.wrong("missing", f"{key}, which {why} needs")
        for key in sorted(self.there - self.useful - set(self.needed)):
            self.wrong("useless", f"{key} is of no use to anybody")
        for key in self.run["unfinished"]:
            self.wrong("useless", f"an upload of {key} was never ended")
        self.check_copies()

    def check_branch(self, log):
        name = log.name
        boundary_key = f"boundary/{name}"
        self.useful.add(f"branch/{name}")
        self.needed[boundary_key] = f"branch {name}"
        if boundary_key not in self.there:
            return
        boundary = read_boundary((self.final / boundary_key).read_bytes())
        if bool(boundary["closed"]) != log.closed:
            self.wrong("useless", f"boundary/{name} does not say that the branch is closed")
        if log.closed:
            return
        if log.fork:
            self.needed[f"branch/{name}"] = f"branch {name}"
            if f"branch/{name}" in self.there:
                written = read_branch((self.final / f"branch/{name}").read_bytes())
                if {**written, "uuid": 0} != {**log.fork, "uuid": 0}:
                    self.wrong("rules", f"branch/{name} differs from what the fork's commit says")
        self.useful.add(f"head/{name}")
        self.check_bounds(log, boundary)
        snapshot, interval = boundary["snapshot"], self.info["snapshot_interval"]
        for version in range(snapshot + 1, log.version + 1):
            self.needed[f"log/{name}/{version:020d}"] = "the log"
        if snapshot:
            self.needed[f"snapshot/{name}/{snapshot:020d}"] = "the boundary"
        self.useful.update(f"snapshot/{name}/{v:020d}" for v in range(snapshot, log.version + 1, interval))
        self.check_pages(log, log.steps_at.get(snapshot, 0))

    def check_bounds(self, log, boundary):
        """What was given up is released, and the log kept is short."""
        kept, most = log.version - boundary["snapshot"], 7 * self.info["snapshot_interval"]
        if kept > most:
            self.wrong("useless", f"{kept} versions of {log.name} are kept, {most} at most are of use")
        if boundary["first_step"] != log.trim_step:
            text = f"boundary/{log.name} releases steps below {boundary['first_step']}"
            self.wrong("useless", f"{text}, they are trimmed below {log.trim_step}")
        for row in log.checkpoints.values():
            self.counts["checkpoints"] += 1
            if row["step"] < log.trim_step or not row["live"]:
                self.wrong("lost", f"checkpoint {row['name']} at step {row['step']}: trimmed to {log.trim_step}, or torn")

    def check_pages(self, log, covered):
        """Pages of needed steps may be there; those that only they can tell of must be."""
        steps = self.info["index_page_steps"]
        for first, end in needed_steps(self.logs)[log.name]:
            first = max(first, log.fork["step"] if log.fork else 0)
            last = min(end, log.next_step)
            for page in range(first // steps, (int(last) + steps - 1) // steps if last > first else 0):
                key = f"index/{log.name}/{page:020d}"
                if (page + 1) * steps <= log.next_step:
                    self.useful.add(key)
                if (page + 1) * steps <= covered:
                    self.needed[key] = f"steps {page * steps}.."

    def check_copies(self):
        """What is derived from the log is what the log says; what was written once never changed."""
        for key in sorted(self.there):
            kind, _, rest = key.partition("/")
            name, _, number = rest.partition("/")
            log = self.logs.get(name)
            if log is None or kind not in ("log", "data", "snapshot", "index"):
                continue
            body = (self.final / key).read_bytes()
            if kind == "snapshot" and body != log.snapshots.get(int(number)):
                self.wrong("derived", f"{key} is not what the log says")
            if kind == "index" and body != log.index_page(int(number)):
                self.wrong("derived", f"{key} is not what the log says")
            if kind in ("log", "data"):
                copied = self.history / key
                if not copied.exists():
                    if kind == "log" and int(number) > log.version:
                        self.wrong("history", f"{key} was not copied while the run went on")
                elif copied.read_bytes() != body:
                    self.wrong("changed", f"{key} is not what it was")
            self.counts["objects"] += 1


def main():
    judge = Judge(sys.argv[1])
    findings = judge.judge()
    for kind, what in findings[:50]:
        print(f"{kind}: {what}")
    print(f"{len(findings)} violations; {dict(judge.counts)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Copies the history of a stream while it is made: every log record, and the data it names.

  watcher.py STORE_JSON FOLDER

Ends when its stdin does, after one more look. The log is reclaimed while a run goes on, so only who
watches all the time can judge it in the end. FOLDER/watched.json says what could not be copied, with
the boundary of that moment ("missed"), and which needed objects a look at all keys, about once a
second, did not find ("lost").
"""

import json
import select
import sys
import time
from pathlib import Path

from stores import open_store  # also adds tools/reader to the path

from branch_log import BranchLog
from formats import FormatError, read_boundary
from reach import data_key, needed_data

PAUSE_S = 0.05
LOOK_AT_ALL_S = 1.0


class Watcher:
    def __init__(self, store, folder):
        self.store, self.folder = store, folder
        self.info = json.loads(store.get("stream.json"))
        self.save("stream.json", json.dumps(self.info).encode())
        self.logs = {"main": BranchLog(self.info)}
        self.broken = set()
        self.missed = []
        self.lost = {}
        self.looked_at = time.monotonic()

    def save(self, key, body):
        path = self.folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)

    def look(self):
        """Whether anything was new."""
        return any([self.follow(log) for log in list(self.logs.values()) if log.name not in self.broken])

    def follow(self, log):
        count = 0
        while count < 200:  # then see after the other branches
            key = f"log/{log.name}/{log.version + 1:020d}"
            body = self.store.get(key)
            if body is None:
                break
            self.save(key, body)
            count += 1
            try:
                record = log.apply(body)
            except FormatError:
                self.broken.add(log.name)  # the judge says what is wrong
                break
            for change in record["changes"]:
                if change["kind"] == "publish":
                    self.copy_object(log, change)
                if change["kind"] == "fork":
                    name = change["branch"]
                    self.logs.setdefault(name, BranchLog(self.info, name, log.branches[name]))
        return count > 0

    def copy_object(self, log, entry):
        key = data_key(log.name, entry["session"], entry["object"])
        body = self.store.get(key)
        if body is not None:
            return self.save(key, body)
        boundary = self.store.get(f"boundary/{log.name}")
        self.missed.append({"key": key, "boundary": read_boundary(boundary) if boundary else None})

    def look_at_all(self):
        """What is needed after a listing was needed all the time that it took: trim points only rise."""
        before = set(needed_data(self.logs))
        there = set(self.store.keys())
        while self.look():
            pass
        for key, why in needed_data(self.logs).items():
            if key in before and key not in there:
                self.lost.setdefault(key, why)
        self.looked_at = time.monotonic()

    def run(self):
        last = False
        while True:
            fresh = self.look()
            if last and not fresh:
                break
            if time.monotonic() > self.looked_at + LOOK_AT_ALL_S:
                self.look_at_all()
            last = last or bool(select.select([sys.stdin], [], [], 0)[0])
            time.sleep(0 if fresh else PAUSE_S)
        self.save("watched.json", json.dumps({"missed": self.missed, "lost": self.lost}).encode())


if __name__ == "__main__":
    Watcher(open_store(json.loads(sys.argv[1])), Path(sys.argv[2])).run()

"""What can still be reached in a stream, by its logs alone; used while a run goes on and at its end."""

import math

INFINITE = math.inf


def data_key(branch, session, number):
    return f"data/{branch}/{session:020d}-{number:010d}.tgb"


def needed_steps(logs):
    """{branch: [(first, end)]}: the own steps of each open branch, and what it reads of its ancestors."""
    ranges = {name: [] for name in logs}
    for log in logs.values():
        if log.closed:
            continue
        end = INFINITE
        at = log
        while True:
            if log.trim_step < end:
                ranges[at.name].append((log.trim_step, end))
            if at.fork is None:
                break
            end = min(end, at.fork["step"])
            at = logs[at.fork["parent"]]
    return ranges


def needed_data(logs):
    """{key of a data object: the first needed step in it, or the producer whose state it holds}"""
    found = {}
    for name, ranges in needed_steps(logs).items():
        log = logs[name]
        for first, end in ranges:
            for entry in log.entries_meeting(first, end):
                key = data_key(name, entry["session"], entry["object"])
                found.setdefault(key, f"step {max(first, entry['first_step'])}")
        if not log.closed:
            for producer, row in log.rows.items():
                session, number = row["state_place"]
                if session:
                    found.setdefault(data_key(name, session, number), f"the state of {producer}")
    return found


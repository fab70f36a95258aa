#!/usr/bin/python3
"""Chaos on the real thing; README.md says what and why.

  run_chaos.py --worker build/bin/ls_chaos_worker --out FOLDER [--store local|s3 ...] [--seconds N]
               [--seed N] [--kills N] [--results bench/results] [--keep] [--plant]

Rounds of N seconds on each store, until at least --kills processes were killed there. Each round has
a stream of its own and is judged by judge.py. Exits with 1 if anything is wrong; the folder of such a
round stays, and --seed with its number draws the same faults again.
"""

import argparse
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path

import measures
import planted
from crew import Crew
from judge import Judge
from places import PLACES, copy_final, start_watcher

PRODUCERS = ("a", "b", "c")
# job: [(dp, cp, dp_size)] of its ranks
JOBS = {"train": [(dp, cp, 2) for dp in (0, 1) for cp in (0, 1)], "eval": [(0, 0, 1), (0, 1, 1)]}
GRACE_MS = {"local": (2000, 3000), "s3": (5000, 7000)}
END_S = 90


class Job:
    """Ranks that read in one run; a new run starts all of them."""

    def __init__(self, name, ranks):
        self.name, self.ranks = name, ranks
        self.members = []
        self.number = 0
        self.run = ""


class Round:
    def __init__(self, arguments, store, seed):
        self.random = random.Random(seed)
        self.seed, self.seconds = seed, arguments.seconds
        self.long = arguments.seconds >= 30
        self.folder = Path(arguments.out).resolve() / f"{store}-{seed}"
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "ranks").mkdir(parents=True)
        self.place = PLACES[store](self.folder, self.random, seed % 2 == 0)
        self.crew = Crew(arguments.worker, self.place.uri, self.place.environment, self.folder / "said")
        self.grace_ms = self.random.randint(*GRACE_MS[store])
        # What differs from round to round: some faults are found only where others leave room.
        self.kills_a_second = self.random.choice((2, 4, 6))
        self.operators = self.random.choice((1, 1, 2))
        self.finish_at = self.seconds - 3 * (self.random.random() < 0.5)  # kills while producers finish
        self.keep = self.random.choice((0, 2))  # checkpoints in the end
        self.large_every = {"a": 40} if store == "s3" and self.long else {}
        self.finish = self.folder / "finish"
        self.lives, self.skips, self.problems = [], [], []
        self.checkpoints = []  # (name, step), as acknowledged
        self.trimmed = 0  # as the workers say
        self.positions = {}  # rank's log -> (bytes taken, next step)
        self.rewinds = 0
        self.twins = 0

    def problem(self, text):
        self.problems.append(text)
        print(f"chaos: {text}", flush=True)

    # Members --------------------------------------------------------------------------------------

    def begin(self):
        words = {"producers": ",".join(PRODUCERS), "grace_ms": self.grace_ms}
        if self.crew.run("create", "create", 60, **words) != 0:
            raise SystemExit("chaos: the stream could not be created, see " + str(self.folder / "said"))
        self.watcher = start_watcher(self.place, self.folder / "history")
        for name in PRODUCERS:
            self.add_producer(name, "main")
        for number in range(2):
            self.crew.start(self.crew.add("reclaim", f"reclaim-{number}", **self.rules()))
        for number in range(self.operators):
            self.crew.start(self.crew.add("operate", f"operate-{number}"))
        for number in range(2):
            self.crew.start(self.crew.add("observe", f"observe-{number}"))
        self.jobs = [Job(name, ranks) for name, ranks in JOBS.items()]
        for job in self.jobs:
            self.begin_run(job, 0)

    def rules(self):
        detach_ms = 4000 if self.seed % 3 == 0 else 30000  # some rounds lose quiet runs
        return {"fence_ms": 3000, "abandon_ms": 5000, "detach_ms": detach_ms}

    def add_producer(self, name, branch):
        words = {"name": name, "branch": branch, "finish": self.finish, "pace_ms": 120, "commit_ms": self.random.choice((10, 25, 400))}
        if name in self.large_every and branch == "main":
            words["large_every"] = self.large_every[name]
        if name == "b":
            words["ahead"] = 400
        if name == "c":
            words.update(self.rules(), reclaim_ms=1500)
        member = self.crew.add("produce", f"produce-{branch}-{name}", **words)
        self.crew.start(member)
        return member

    def begin_run(self, job, start):
        """All ranks of the job from `start` on."""
        for member in job.members:
            self.crew.kill(member)
            member.retired = True
        job.number += 1
        job.run = f"r{job.number}"
        job.members = []
        for rank, (dp, cp, dp_size) in enumerate(job.ranks):
            words = {
                "job": job.name, "run": job.run, "rank": rank, "ranks": len(job.ranks), "dp": dp, "cp": cp,
                "dp_size": dp_size, "start": start,
            }  # fmt: skip
            member = self.crew.add("consume", f"consume-{job.name}-{rank}", **words)
            job.members.append(member)
            self.start_rank(job, member)

    def start_rank(self, job, member):
        """A new life of the rank, from where its log has come to."""
        words = member.words
        if "log" in words:
            words["start"] = self.position(member)
        log = f"{job.name}-{words['rank']}-{len(self.lives)}"
        words["log"] = self.folder / "ranks" / log
        self.lives.append({k: words[k] for k in ("job", "run", "rank", "dp", "cp", "dp_size", "start")} | {"log": log})
        self.crew.start(member)

    def position(self, member):
        """The step after the last one that the rank wrote down."""
        path = Path(member.words["log"])
        taken, step = self.positions.get(path, (0, member.words["start"]))
        if path.exists():
            with path.open("rb") as log:
                log.seek(taken)
                fresh = log.read()
            whole = fresh[: fresh.rfind(b"\n") + 1]
            step += sum(1 for line in whole.splitlines() if line != b"end")
            self.positions[path] = (taken + len(whole), step)
        return step

    # A round --------------------------------------------------------------------------------------

    def strike_all(self):
        """The faults, for as long as the round lasts."""
        self.began = time.monotonic()
        due = {"kill": 0.5, "stop": 1.0, "rewind": 5.0}
        while (now := time.monotonic() - self.began) < self.seconds:
            self.tend()
            self.place.strike()
            if now >= due["kill"]:
                self.kill_one()
                due["kill"] = now + self.random.expovariate(self.kills_a_second)
            if now >= due["stop"]:
                self.stop_one()
                due["stop"] = now + self.random.uniform(0.5, 2.5)
            if now >= due["rewind"]:
                self.rewind()
                due["rewind"] = now + self.random.uniform(5, 12)
            if now >= self.finish_at:
                self.finish.touch()
            time.sleep(0.01)

    def tend(self):
        """Continues the stopped, starts the dead again, listens."""
        self.crew.continue_due()
        for said in self.crew.listen():
            self.trimmed = max(self.trimmed, said.get("trimmed", 0))
            if "checkpoint" in said:
                self.checkpoints.append((said["checkpoint"], said["step"]))
            if "forked" in said:
                self.add_producer("a", said["forked"])
        for member in self.crew.members:
            if member.process is None or member.alive or member.retired:
                continue
            if member.start_at == 0.0:
                member.start_at = time.monotonic() + self.random.uniform(0.0, 0.4)
                if member.process.returncode == 7 and not self.finish.exists():
                    member.start_at += 3 * self.grace_ms / 1000  # all that it left behind is old by then
            elif time.monotonic() >= member.start_at:
                member.start_at = 0.0
                self.bring_back(member)

    def bring_back(self, member):
        code = member.process.returncode
        if code == 0 or (code == 6 and "branch" in member.words and member.words["branch"] != "main"):
            member.retired = True  # it has finished, or its branch is gone
        elif member.role == "consume":
            job = next(job for job in self.jobs if member in job.members)
            if code in (3, 4):
                self.replace_run(job)
            else:
                self.start_rank(job, member)
        else:
            self.crew.start(member)

    def replace_run(self, job):
        """The run is over, or what it needs is gone: the job begins a new one where it can."""
        start = min(self.position(member) for member in job.members)
        if start < self.trimmed:
            self.skips.append({"job": job.name, "from": start, "to": self.trimmed})
        self.begin_run(job, max(start, self.trimmed))

    def kill_one(self):
        running = self.crew.running()
        if running:
            self.crew.kill(self.random.choice(running))

    def stop_one(self):
        running = [m for m in self.crew.running() if m.continue_at is None]
        if not running:
            return
        producers = [m for m in running if m.role == "produce"]
        member = self.random.choice(producers if producers and self.random.random() < 0.4 else running)
        seconds = self.random.choice((0.2, 1.0, 0.6 * self.grace_ms / 1000, 1.5 * self.grace_ms / 1000))
        if self.random.random() < 0.2:
            seconds = 3.5 * self.grace_ms / 1000  # the log that it knows may be reclaimed meanwhile
        if self.long and self.random.random() < 0.05:
            seconds = 33  # longer than any time-out inside
        self.crew.stop_for(member, seconds)
        if member.role == "produce" and self.random.random() < 0.5:
            # Somebody takes it for dead and starts it once more: the older one must be fenced.
            twin = self.crew.add(member.role, member.name, **member.words)
            self.crew.start(twin)
            twin.retired = True
            self.twins += 1

    def rewind(self):
        """A job returns to a checkpoint, as after a failure of its own."""
        job = self.random.choice(self.jobs)
        step = min(self.position(member) for member in job.members)
        if self.checkpoints and self.random.random() < 0.8:
            step = min(step, self.checkpoints[-1][1])
        self.rewinds += 1
        self.begin_run(job, step)

    # The end --------------------------------------------------------------------------------------

    def end(self):
        """No more faults: everything comes to its end, and nothing useless is left."""
        self.seconds = time.monotonic() - self.began
        self.crew.continue_due(all_of_them=True)
        self.place.heal(15)
        self.finish.touch()
        for member in self.crew.members:
            if member.role in ("operate", "observe"):
                member.retired = True
                self.crew.kill(member)
        until = time.monotonic() + END_S
        while time.monotonic() < until:
            self.tend()
            if all(m.retired for m in self.crew.members if m.role in ("produce", "consume")) and not [
                m for m in self.crew.running() if m.role in ("produce", "consume")
            ]:
                break
            time.sleep(0.02)
        else:
            late = [str(m) for m in self.crew.members if m.role in ("produce", "consume") and not m.retired]
            self.problem(f"not at the end after {END_S} s without faults: {', '.join(late)}")
        for member in self.crew.members:
            member.retired = True
        self.kills = self.crew.kills
        self.crew.end_all()
        quiet_ms = max(self.grace_ms, self.rules()["abandon_ms"]) + 1000
        code = self.crew.run("settle", "settle", 120, **self.rules(), quiet_ms=quiet_ms, timeout_ms=60000, keep=self.keep)
        if code != 0:
            self.problem(f"settling ended with code {code}")

    def judge(self):
        self.watcher.stdin.close()
        if self.watcher.wait(120) != 0:
            self.problem("the watcher failed")
        unfinished = copy_final(self.place, self.folder / "final")
        facts = {"seed": self.seed, "lives": self.lives, "skips": self.skips, "unfinished": unfinished, "large_every": self.large_every}
        (self.folder / "run.json").write_text(json.dumps(facts))
        judge = Judge(self.folder)
        found = [f"{kind}: {what}" for kind, what in judge.judge()] + [f"stuck: {p}" for p in self.problems]
        counts = dict(judge.counts, **self.place.counts)
        counts.update(kills=self.kills, stops=self.crew.stops, twins=self.twins, rewinds=self.rewinds, lives=len(self.lives))
        (self.folder / "result.json").write_text(json.dumps({"findings": found, "counts": counts}, indent=1))
        return found, counts

    def run(self):
        try:
            times = [time.monotonic()]
            for part in (self.begin, self.strike_all, self.end):
                part()
                times.append(time.monotonic())
            found, counts = self.judge()
            times.append(time.monotonic())
            names = ("start_s", "chaos_s", "end_s", "judge_s")
            counts.update({name: round(b - a) for name, a, b in zip(names, times, times[1:])})
            return found, counts
        finally:
            self.crew.end_all()
            if hasattr(self, "watcher"):
                self.watcher.kill()
                self.watcher.wait()
            self.place.end()


def run_store(arguments, store):
    """Rounds until there were kills enough. (findings, counts)"""
    findings, totals = [], {}
    seed = arguments.seed
    while True:
        began = time.monotonic()
        found, counts = Round(arguments, store, seed).run()
        for name, count in counts.items():
            totals[name] = totals.get(name, 0) + count
        text = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()) if count)
        print(f"chaos: {store} seed {seed}: {len(found)} violations in {time.monotonic() - began:.0f} s; {text}", flush=True)
        for what in found[:20]:
            print(f"chaos:   {what}", flush=True)
        if arguments.plant and not found:
            found = planted.check_judge(Path(arguments.out) / f"{store}-{seed}", Path(arguments.out) / "planted")
        findings += found
        if not found and not arguments.keep:
            shutil.rmtree(Path(arguments.out) / f"{store}-{seed}")
        seed += 1
        if totals["kills"] >= arguments.kills:
            return findings, dict(totals, rounds=seed - arguments.seed)


def main():
    parser = argparse.ArgumentParser(description="Chaos on real processes and real stores.")
    parser.add_argument("--worker", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--store", choices=sorted(PLACES), nargs="+", default=sorted(PLACES))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--results")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--plant", action="store_true", help="show that the judge sees what is planted into the run")
    arguments = parser.parse_args()
    arguments.worker = os.path.abspath(arguments.worker)
    results = {store: run_store(arguments, store) for store in arguments.store}
    if arguments.results:
        measures.write(Path(arguments.results), results, arguments)
    return 1 if any(findings for findings, _ in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

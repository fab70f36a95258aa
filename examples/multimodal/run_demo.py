#!/usr/bin/env python3
"""The main job: three producers, eight ranks, two kills, a checkpoint and a rewind to it, one check.

  run_demo.py --bin build/bin --data build/demo-data --out build/demo [--store local|s3]
              [--size full|small] [--seed N] [--pace SECONDS]

Creates a stream, starts the producers and ranks as processes, kills one of each with SIGKILL at
seeded points between 20% and 80% of the run, restarts them, makes a checkpoint on the way, waits for
the sealed stream's end, lets all ranks return to the checkpoint and read on from there, runs check.py
and writes <out>/report.json. Exits with 1 if anything does not hold.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import progress
from workers import Crew, Worker

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(ROOT / "tools" / "reader"))
import s3  # the reader's, which does without Lakestream

KINDS = ("video", "image", "text")
DP, CP = 4, 2
ITEMS = {
    "full": {"video": 400, "image": 2400, "text": 6000},
    "small": {"video": 60, "image": 240, "text": 500},
}
PACE_S = {"full": 25.0, "small": 4.0}
TIME_LIMIT_S = {"full": 170, "small": 60}
RESTART_DELAY_S = 0.3
CHECKPOINT = "mid-run"
CHECKPOINT_AT = 0.4  # of the run, when the slowest rank is there


class DemoError(Exception):
    """Ends the demo; the text is for people."""


class LocalStore:
    """The embedded store: a folder."""

    name = "local"

    def __init__(self, out):
        self.folder = out / "stream"
        self.uri = str(self.folder)
        self.environment = {}

    def start(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def folder_for_check(self):
        return self.folder

    def stop(self):
        pass


class S3Store:
    """A real S3 server on loopback, started for this run and stopped at its end."""

    name = "s3"

    def __init__(self, out):
        self.folder = out / "mirror"
        self.scripts = ROOT / "tests" / "s3_server"
        self.settings = {}

    def start(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        environment = dict(os.environ, RGW_STORE="bluestore", RGW_OWNER_PID=str(os.getpid()))
        answer = subprocess.run(
            [str(self.scripts / "start.sh")], env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if answer.returncode != 0:
            raise DemoError(f"the S3 server did not start:\n{answer.stderr[-2000:]}")
        self.settings = dict(line.split("=", 1) for line in answer.stdout.split() if "=" in line)
        self.prefix = "main-job"
        self.uri = f"s3://{self.settings['RGW_BUCKET']}/{self.prefix}"
        self.environment = {
            "AWS_ENDPOINT_URL_S3": self.settings["RGW_ENDPOINT"],
            "AWS_ACCESS_KEY_ID": self.settings["RGW_ACCESS"],
            "AWS_SECRET_ACCESS_KEY": self.settings["RGW_SECRET"],
            "AWS_REGION": self.settings.get("RGW_REGION", "us-east-1"),
        }

    def folder_for_check(self):
        s = self.settings
        bucket = s3.S3(s["RGW_ENDPOINT"], s["RGW_BUCKET"], s["RGW_ACCESS"], s["RGW_SECRET"])
        s3.mirror(bucket, self.prefix, self.folder)
        return self.folder

    def stop(self):
        if "RGW_DIR" in self.settings:
            subprocess.run([str(self.scripts / "stop.sh"), self.settings["RGW_DIR"]], check=False)


class Kill:
    """One planned SIGKILL: at which step, of whom, and what came of it."""

    def __init__(self, role, fraction, total_steps):
        self.role, self.fraction = role, fraction
        self.at_step = max(1, int(fraction * total_steps))
        self.victim = None
        self.step = None  # when it was sent
        self.restart_at = None


class Demo:
    def __init__(self, arguments, store):
        self.arguments, self.store = arguments, store
        self.out = Path(arguments.out).resolve()
        self.bin = Path(arguments.bin).resolve()
        self.data = Path(arguments.data).resolve()
        self.logs = self.out / "logs"
        self.items = ITEMS[arguments.size]
        self.random = random.Random(arguments.seed)
        self.crew = Crew(self.logs, dict(os.environ, **getattr(store, "environment", {})))
        self.show = progress.Progress(sys.stderr)
        self.plan = {}
        self.kills = []
        self.checkpoint_step = None
        self.rewind = {}

    # Preparation --------------------------------------------------------------------------------

    def prepare(self):
        for program in ("demo_producer", "demo_consumer", "demo_expected"):
            if not (self.bin / program).exists():
                raise DemoError(f"{self.bin / program} is missing: run 'make build' first")
        if not (self.data / "prepared" / "tokenizer.model").exists():
            raise DemoError(f"{self.data} is not prepared: run examples/multimodal/fetch_data.sh and demo_prepare")
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir(parents=True)
        self.plan = self._plan_steps()
        self.total_steps = sum(self.plan.values())
        producer = self.random.uniform(0.25, 0.70)
        consumer = self.random.uniform(0.25, 0.75)
        self.kills = [
            Kill("producer", producer, self.total_steps),
            Kill("consumer", consumer, self.total_steps),
        ]
        created = subprocess.run(
            self.producer_command("video") + ["--create"], env=self.crew.environment, stderr=subprocess.PIPE, text=True
        )
        if created.returncode != 0:
            raise DemoError(created.stderr.strip())

    def _plan_steps(self):
        """The number of steps of each producer, from the sources alone; cached beside the data."""
        cache = self.data / "prepared" / f"plan-{self.arguments.size}-{self.arguments.seed}.json"
        if cache.exists():
            return json.loads(cache.read_text())
        plans = {
            kind: subprocess.Popen(
                [
                    str(self.bin / "demo_expected"), "--data", str(self.data), "--kind", kind, "--items",
                    str(self.items[kind]), "--seed", str(self.arguments.seed), "--dp", str(DP), "--cp",
                    str(CP), "--plan",
                ],
                stdout=subprocess.PIPE,
            )
            for kind in KINDS
        }  # fmt: skip
        steps = {kind: len(plan.communicate()[0].splitlines()) for kind, plan in plans.items()}
        if not all(steps.values()) or any(plan.returncode for plan in plans.values()):
            raise DemoError("the steps could not be planned: is the data complete?")
        cache.write_text(json.dumps(steps))
        return steps

    def producer_command(self, kind):
        pace_ms = int(1000 * self.arguments.pace / self.plan[kind])
        return [
            str(self.bin / "demo_producer"), "--uri", self.store.uri, "--name", kind, "--kind", kind,
            "--data", str(self.data), "--items", str(self.items[kind]), "--seed",
            str(self.arguments.seed), "--pace-ms", str(pace_ms),
        ]  # fmt: skip

    def consumer_command(self, dp, cp, start_step=0, log="rank"):
        return [
            str(self.bin / "demo_consumer"), "--uri", self.store.uri, "--dp", str(dp), "--cp", str(cp),
            "--start-step", str(start_step), "--out", str(self.logs / f"{log}-dp{dp}-cp{cp}.log"),
            "--save-steps", "8",
        ]  # fmt: skip

    def lakestream(self, *words):
        """What the command line tool prints as JSON."""
        command = [str(self.bin / "lakestream"), *words[:2], self.store.uri, *words[2:], "--json"]
        answer = subprocess.run(command, env=self.crew.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if answer.returncode != 0:
            raise DemoError(f"lakestream {' '.join(words)}: {answer.stderr.strip()}")
        return json.loads(answer.stdout)

    # The run ------------------------------------------------------------------------------------

    def run(self):
        self.started = time.monotonic()
        self.producers = [Worker("producer", kind, self.producer_command(kind)) for kind in KINDS]
        self.ranks = [
            Worker("consumer", f"dp{dp}-cp{cp}", self.consumer_command(dp, cp)) for dp in range(DP) for cp in range(CP)
        ]
        for worker in self.producers + self.ranks:
            self.crew.start(worker)
        while not all(worker.finished for worker in self.producers + self.ranks):
            self.crew.listen(0.1)
            for kill in self.kills:
                self._carry_out(kill)
            self._take_checkpoint()
            self._check_health()
            self.show.update(self._status_line())
        self.seconds = time.monotonic() - self.started
        self.show.update(self._status_line(), last=True)

    def committed_steps(self):
        known = [w.status.get("next_step", 0) for w in self.producers] + [w.status.get("step", 0) for w in self.ranks]
        return max(known)

    def _carry_out(self, kill):
        if kill.victim is None:
            victim = self._choose_victim(kill)
            if victim is not None:
                kill.victim, kill.step = victim, self.committed_steps()
                self.crew.kill(victim)
                kill.restart_at = time.monotonic() + RESTART_DELAY_S
                self.show.say(f"SIGKILL to {victim} at step {kill.step} of {self.total_steps}")
        elif kill.restart_at is not None and time.monotonic() >= kill.restart_at:
            kill.restart_at = None
            self.crew.start(kill.victim)
            self.show.say(f"{kill.victim} started again")

    def _take_checkpoint(self):
        slowest = min(rank.status.get("step", 0) for rank in self.ranks)
        if self.checkpoint_step is not None or slowest < CHECKPOINT_AT * self.total_steps:
            return
        self.lakestream("checkpoint", "create", CHECKPOINT, "--step", str(slowest), "--note", "the main job, mid-run")
        self.checkpoint_step = slowest
        self.show.say(f"checkpoint {CHECKPOINT} at step {slowest}")

    # The rewind ---------------------------------------------------------------------------------

    def read_again(self):
        """All ranks return to the checkpoint, by its name, and read on to the end."""
        found = [c for c in self.lakestream("checkpoint", "list") if c["name"] == CHECKPOINT]
        if not found:
            raise DemoError(f"there is no checkpoint {CHECKPOINT} to return to")
        step = found[0]["step"]
        self.show.say(f"rewind: all ranks return to checkpoint {CHECKPOINT} at step {step}")
        again = [
            Worker("rewind", f"dp{dp}-cp{cp}", self.consumer_command(dp, cp, step, "rewind"))
            for dp in range(DP)
            for cp in range(CP)
        ]
        started = time.monotonic()
        for worker in again:
            self.crew.start(worker)
        while not all(worker.finished for worker in again):
            self.crew.listen(0.1)
            for worker in again:
                if worker.failed or time.monotonic() - started > TIME_LIMIT_S[self.arguments.size]:
                    raise DemoError(f"{worker} did not read to the end (code {worker.code}):\n{worker.last_words()}")
        different = 0
        for worker in again:
            first, second = (self._steps_of(f"{log}-{worker.name}.log", step) for log in ("rank", "rewind"))
            different += sum(1 for s in first.keys() | second.keys() if first.get(s) != second.get(s))
        self.rewind = {
            "checkpoint": CHECKPOINT,
            "step": step,
            "steps_read_again": self.total_steps - step,
            "slices_different": different,
            "identical": different == 0 and step == self.checkpoint_step and step < self.total_steps,
            "seconds": round(time.monotonic() - started, 1),
        }

    def _steps_of(self, log, first_step):
        """What a rank wrote down for each step: identity, sizes and hashes of what it read."""
        lines = (json.loads(line) for line in (self.logs / log).read_text().splitlines())
        return {line["step"]: line for line in lines if line["step"] >= first_step}

    def _choose_victim(self, kill):
        if kill.role == "consumer":
            rank = self.ranks[self.arguments.seed % len(self.ranks)]
            ripe = kill.at_step <= rank.status.get("step", 0) < 0.8 * self.total_steps
            return rank if ripe and rank.alive else None
        if self.committed_steps() < kill.at_step:
            return None
        # The first, from a seeded place on, that has committed some steps and still has some to do.
        for i in range(len(KINDS)):
            worker = self.producers[(self.arguments.seed + i) % len(KINDS)]
            done = worker.status.get("tgbs", 0)
            if worker.alive and worker.status.get("committed", 0) and done < 0.9 * self.plan[worker.name]:
                return worker
        return None

    def _check_health(self):
        for worker in self.producers + self.ranks:
            if worker.failed:
                raise DemoError(f"{worker} ended with code {worker.code}:\n{worker.last_words()}")
        limit = TIME_LIMIT_S[self.arguments.size]
        if time.monotonic() - self.started > limit:
            raise DemoError(f"not done after {limit} s:\n{self._status_line()}\nsee the logs in {self.logs}")

    def _status_line(self):
        seconds = time.monotonic() - self.started
        done = self.committed_steps()
        made = "  ".join(f"{w.name} {w.status.get('tgbs', 0)}/{self.plan[w.name]}" for w in self.producers)
        steps = [w.status.get("step", 0) for w in self.ranks]
        written = sum(w.total("bytes") for w in self.producers)
        bar = progress.bar(done / self.total_steps)
        return (
            f"{seconds:5.1f} s {bar} step {done}/{self.total_steps}  {made}  "
            f"ranks at {min(steps)}..{max(steps)}  {written / 1e6:.0f} MB written"
        )

    # The end ------------------------------------------------------------------------------------

    def check(self):
        self.show.say("checking: reading the stream without Lakestream, decoding the sources again")
        result_file = self.out / "check.json"
        result_file.unlink(missing_ok=True)
        command = [
            sys.executable, str(HERE / "check.py"), "--stream", str(self.store.folder_for_check()),
            "--data", str(self.data), "--bin", str(self.bin), "--logs", str(self.logs), "--out",
            str(result_file), "--seed", str(self.arguments.seed), "--items",
            ",".join(f"{kind}={n}" for kind, n in self.items.items()),
        ]  # fmt: skip
        began = time.monotonic()
        ended = subprocess.run(command)
        if not result_file.exists():
            raise DemoError(f"the check ended with code {ended.returncode} and without a result")
        result = json.loads(result_file.read_text())
        result["check_seconds"] = round(time.monotonic() - began, 1)
        return result

    def report(self, check):
        positions = [
            json.loads((self.logs / f"rank-{worker.name}.log.position").read_text()) for worker in self.ranks
        ]
        slice_bytes = sum(p["slice_bytes"] for p in positions)
        bytes_read = sum(p["bytes_read"] for p in positions)
        attempts = sum(
            max(status.get("attempts", 0), check["commits_by_session"].get(str(status.get("session")), 0))
            for worker in self.producers
            for status in worker.lives
        )
        kills = [
            {
                "role": k.role, "victim": k.victim.name if k.victim else None, "step": k.step,
                "fraction_of_run": round(k.step / self.total_steps, 3) if k.step else None,
            }
            for k in self.kills
        ]  # fmt: skip
        count = {role: sum(1 for k in kills if k["role"] == role and k["step"]) for role in ("producer", "consumer")}
        in_time = all(k["step"] and 0.2 <= k["fraction_of_run"] <= 0.8 for k in kills)
        return {
            "holds": check["holds"] and in_time and self.rewind["identical"],
            "steps": check["steps"],
            "ranks": len(self.ranks),
            **{name: check[name] for name in (
                "items_total", "items_missing", "items_duplicated", "torn_steps", "order_mismatches",
                "checksum_errors", "content_errors", "identity_errors", "items_unexpected",
            )},
            "producer_kills": count["producer"],
            "consumer_kills": count["consumer"],
            "kills": kills,
            "rewind": self.rewind,
            "bytes_written": check["data_bytes_checked"],
            "bytes_read": bytes_read,
            "read_amplification": round(bytes_read / slice_bytes, 4) if slice_bytes else None,
            "commits": check["commits"],
            "commit_attempts": attempts,
            "seconds": round(self.seconds, 1),
            "check_seconds": check["check_seconds"],
            "store": self.store.name,
            "uri": self.store.uri,
            "seed": self.arguments.seed,
            "size": self.arguments.size,
            "pace_s": self.arguments.pace,
            "by_producer": check["by_producer"],
            "by_rank": check["by_rank"],
            "rereads": sum(p["rereads"] for p in positions),
            "requests_of_ranks": sum(p["requests"] for p in positions),
            "orphaned_objects": check["orphans"],
            "pictures_decoded_twice": check["pictures_decoded_twice"],
            "findings": check["findings"],
            "emulated": "the training step of a rank; the pace at which raw data comes in",
            "notes": [
                "bytes_read of the killed rank counts its first process up to its last saved position",
                "items: identity, packing and text are recomputed in Python; pictures and video by demo_expected "
                "(same decoding libraries, no Lakestream, videos decoded from start to end)",
            ],
        }  # fmt: skip


def parse_arguments():
    parser = argparse.ArgumentParser(description="Runs the main job; see README.md in this folder.")
    parser.add_argument("--bin", default=str(ROOT / "build" / "bin"))
    parser.add_argument("--data", default=str(ROOT / "build" / "demo-data"))
    parser.add_argument("--out", default=str(ROOT / "build" / "demo"))
    parser.add_argument("--store", choices=("local", "s3"), default="local")
    parser.add_argument("--size", choices=tuple(ITEMS), default="full")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pace", type=float, help="seconds over which each producer spreads its steps; 0: flat out")
    arguments = parser.parse_args()
    if arguments.pace is None:
        arguments.pace = PACE_S[arguments.size]
    return arguments


def main():
    arguments = parse_arguments()
    out = Path(arguments.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    store = (S3Store if arguments.store == "s3" else LocalStore)(out)
    demo = None
    try:
        store.start()
        demo = Demo(arguments, store)
        demo.prepare()
        demo.show.say(progress.headline(demo))
        demo.run()
        demo.read_again()
        report = demo.report(demo.check())
    except (DemoError, OSError) as problem:
        print(f"run_demo.py: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("run_demo.py: interrupted", file=sys.stderr)
        return 130
    finally:
        if demo is not None:
            demo.crew.end_all()
        store.stop()
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    print(progress.for_people(report, out))
    return 0 if report["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())

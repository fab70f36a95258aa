"""Where a chaos run's stream lies, and the faults that belong to the place."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import stores

HERE = Path(__file__).resolve().parent
SERVER = HERE.parent / "s3_server"
PYTHON = "/usr/bin/python3"  # Debian's: its modules belong to it
TMPFS_BYTES = 48 << 20


class LocalPlace:
    """A folder; on a small tmpfs of its own if that can be mounted, so that the disk can be full."""

    name = "local"

    def __init__(self, folder, random, on_tmpfs):
        self.random = random
        self.folder = folder / "store"
        self.folder.mkdir(parents=True)
        self.mounted = on_tmpfs and self._mount()
        self.uri = str(self.folder / "stream")
        self.environment = dict(os.environ)
        self.spec = {"folder": self.uri}
        self.full_until = None
        self.next_full = time.monotonic() + random.uniform(2, 4)
        self.counts = {"disk_full": 0}

    def _mount(self):
        command = ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_BYTES}", "tmpfs", str(self.folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"chaos: no full disk in this run: a tmpfs cannot be mounted ({done.stderr.strip()}); root can", flush=True)
        return done.returncode == 0

    def strike(self):
        """The faults of the place that are due."""
        now = time.monotonic()
        filler = self.folder / "filler"
        if self.full_until and now >= self.full_until:
            filler.unlink(missing_ok=True)
            self.full_until = None
            self.next_full = now + self.random.uniform(3, 8)
        elif self.mounted and not self.full_until and now >= self.next_full:
            self._fill(filler)
            self.full_until = now + self.random.uniform(0.3, 1.5)
            self.counts["disk_full"] += 1

    def _fill(self, filler):
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass

    def heal(self, _limit_s):
        (self.folder / "filler").unlink(missing_ok=True)
        self.full_until, self.next_full = None, float("inf")

    def end(self):
        if self.mounted:
            subprocess.run(["umount", str(self.folder)], check=False)


# Weathers of the proxy: {fault: probability}. Requests get through in each of them but the last.
WEATHERS = [
    {"delay": 0.1, "trickle": 0.05},
    {"throttle": 0.05, "conflict": 0.05, "conflicted": 0.03, "failed": 0.03, "lost": 0.03, "cut": 0.03, "late": 0.02},
    {"throttle": 0.5},
    {"conflict": 0.3, "conflicted": 0.3},
    {"lost": 0.3, "failed": 0.1},
    {"late": 0.3, "torn": 0.1},
    {"cut": 0.3, "refuse": 0.1},
    {"hang": 0.03, "freeze": 0.004, "late": 0.1},
    {"refuse": 1.0},
]


class S3Place:
    """A real S3 server on loopback, and a proxy that misbehaves before it."""

    name = "s3"

    def __init__(self, folder, random, _on_tmpfs):
        self.random = random
        self.proxy = None
        environment = dict(os.environ, RGW_STORE="bluestore", RGW_OWNER_PID=str(os.getpid()), RGW_OSD_BYTES=str(2 << 30))
        started = subprocess.run([str(SERVER / "start.sh")], env=environment, capture_output=True, text=True)
        if started.returncode != 0:
            raise SystemExit(f"the S3 server did not start:\n{started.stderr[-2000:]}")
        self.settings = dict(line.split("=", 1) for line in started.stdout.split() if "=" in line)
        host = self.settings["RGW_ENDPOINT"].removeprefix("http://")
        self.proxy = subprocess.Popen(
            [PYTHON, str(HERE / "s3_proxy.py"), host, str(random.randrange(1 << 30))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self.proxy_endpoint = f"http://127.0.0.1:{int(self.proxy.stdout.readline())}"
        self.uri = f"s3://{self.settings['RGW_BUCKET']}/chaos"
        self.environment = dict(
            os.environ, LAKESTREAM_S3_ENDPOINT=self.proxy_endpoint, AWS_REGION="us-east-1",
            AWS_ACCESS_KEY_ID=self.settings["RGW_ACCESS"], AWS_SECRET_ACCESS_KEY=self.settings["RGW_SECRET"],
        )  # fmt: skip
        self.spec = {"settings": self.settings, "prefix": "chaos"}
        self.weathers = random.sample(WEATHERS, 5)  # not all of them in each round
        self.is_calm = False
        self.next_weather = 0.0
        self.next_restart = time.monotonic() + random.uniform(3, 6)
        self.restart_at = None
        self.restarting = None
        self.counts = {"server_restarts": 0}

    def strike(self):
        now = time.monotonic()
        if now >= self.next_weather:
            self.is_calm = not self.is_calm  # in between, work gets done that faults can hit
            self.tell({} if self.is_calm else self.random.choice(self.weathers))
            self.next_weather = now + self.random.uniform(0.3, 2)
        if self.restarting and self.restarting.poll() is not None:
            self.restarting = None
            self.next_restart = now + self.random.uniform(8, 20)
        if self.restart_at and now >= self.restart_at:
            self.restart_at = None
            self.restarting = self._restart()
        elif not self.restart_at and not self.restarting and now >= self.next_restart:
            self._kill_server()
            self.restart_at = now + self.random.uniform(0.1, 1.5)

    def _kill_server(self):
        """SIGKILL to the gateway, now and then to the disk's process too."""
        parts = ["rgw", "osd"] if self.random.random() < 0.15 else ["rgw"]
        for part in parts:
            pid = int((Path(self.settings["RGW_DIR"]) / f"{part}.sh.pid").read_text())
            command = Path(f"/proc/{pid}/cmdline")
            if command.exists() and self.settings["RGW_DIR"].encode() in command.read_bytes():
                os.kill(pid, signal.SIGKILL)
        self.counts["server_restarts"] += 1

    def _restart(self):
        return subprocess.Popen(
            [str(SERVER / "restart.sh"), self.settings["RGW_DIR"]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def tell(self, weather):
        print(json.dumps(weather), file=self.proxy.stdin, flush=True)

    def ask(self):
        print("", file=self.proxy.stdin, flush=True)
        return json.loads(self.proxy.stdout.readline())

    def heal(self, limit_s):
        """Until the server is up, and what the proxy holds back has been done."""
        self.tell({})
        if self.restart_at or self.restarting:
            (self.restarting or self._restart()).wait()
            self.restart_at = self.restarting = None
        self.next_weather = self.next_restart = float("inf")
        until = time.monotonic() + limit_s
        while (counts := self.ask())["under_way"] and time.monotonic() < until:
            time.sleep(0.1)
        self.counts.update({k: v for k, v in counts.items() if k != "under_way"})

    def end(self):
        if self.proxy:
            self.proxy.kill()
            self.proxy.wait()
        subprocess.run([str(SERVER / "stop.sh"), self.settings["RGW_DIR"]], check=False)


def start_watcher(place, folder):
    return subprocess.Popen(
        [PYTHON, str(HERE / "watcher.py"), json.dumps(place.spec), str(folder)], stdin=subprocess.PIPE
    )


def copy_final(place, folder):
    store = stores.open_store(place.spec)
    stores.copy(store, folder)
    return store.unfinished()


PLACES = {"local": LocalPlace, "s3": S3Place}

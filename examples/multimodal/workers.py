"""Processes of the demo: started, listened to, killed, and ended whatever happens."""

import json
import os
import selectors
import signal
import subprocess


class Worker:
    """A producer or rank over all its lives. `status` is its newest progress line."""

    def __init__(self, role, name, command):
        self.role, self.name, self.command = role, name, command
        self.process = None
        self.code = None
        self.killed = False
        self.lives = []  # the newest status of each process
        self.words = []  # lines that are not progress
        self.pending = b""  # of a line that is not complete yet

    def __str__(self):
        return f"{self.role} {self.name}"

    @property
    def status(self):
        return self.lives[-1] if self.lives else {}

    def total(self, field):
        return sum(status.get(field, 0) for status in self.lives)

    @property
    def alive(self):
        return self.process is not None and self.code is None

    @property
    def finished(self):
        return self.code == 0

    @property
    def failed(self):
        return self.code not in (None, 0) and not self.killed

    def last_words(self):
        return "\n".join(self.words[-10:]) or "(it said nothing)"


class Crew:
    """All workers, one selector over what they say. Their words are kept in <logs>/<name>.stderr."""

    def __init__(self, logs, environment):
        self.logs, self.environment = logs, environment
        self.selector = selectors.DefaultSelector()
        self.workers = []

    def start(self, worker):
        worker.process = subprocess.Popen(
            worker.command, env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        worker.code, worker.killed = None, False
        # A new process knows nothing yet; what was reached stays on show until it speaks.
        worker.lives.append({k: v for k, v in worker.status.items() if k in ("tgbs", "next_step", "step")})
        self.selector.register(worker.process.stderr, selectors.EVENT_READ, worker)
        if worker not in self.workers:
            self.workers.append(worker)

    def kill(self, worker):
        """SIGKILL, and what the process said before it."""
        worker.killed = True
        worker.process.send_signal(signal.SIGKILL)

    def listen(self, seconds):
        for key, _ in self.selector.select(seconds):
            self._read(key.fileobj, key.data)

    def _read(self, pipe, worker):
        chunk = os.read(pipe.fileno(), 65536)
        worker.pending += chunk
        *lines, worker.pending = worker.pending.split(b"\n")
        for line in lines:
            self._take(worker, line.decode(errors="replace"))
        if not chunk:
            self.selector.unregister(pipe)
            pipe.close()
            worker.pending = b""
            worker.code = worker.process.wait()

    def _take(self, worker, line):
        with (self.logs / f"{worker.role}-{worker.name}.stderr").open("a") as log:
            log.write(line + "\n")
        try:
            status = json.loads(line)
            assert isinstance(status, dict)
        except (ValueError, AssertionError):
            worker.words.append(line)
            return
        worker.lives[-1] = status

    def end_all(self):
        for worker in self.workers:
            if worker.alive:
                worker.process.kill()
                worker.process.wait()

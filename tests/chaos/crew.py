"""The processes of a chaos run: started, killed, stopped, and ended whatever happens."""

import json
import signal
import subprocess
import time


class Member:
    """One process over all its lives. Its words go to said/<name>."""

    def __init__(self, role, name, words):
        self.role, self.name, self.words = role, name, words
        self.process = None
        self.continue_at = None  # stopped until then
        self.start_at = 0.0
        self.retired = False  # is not started again

    def __str__(self):
        return self.name

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None


class Crew:
    def __init__(self, worker, uri, environment, said):
        self.worker, self.uri, self.environment, self.said = worker, uri, environment, said
        said.mkdir(parents=True, exist_ok=True)
        self.members = []
        self.listened = {}  # file -> how far its words were taken
        self.kills = self.stops = 0

    def add(self, role, name, /, **words):
        member = Member(role, name, words)
        self.members.append(member)
        return member

    def start(self, member):
        command = [self.worker, member.role, self.uri] + [f"{k}={v}" for k, v in member.words.items()]
        with (self.said / member.name).open("ab") as words:
            member.process = subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=words, stderr=words
            )

    def run(self, role, name, limit_s, /, **words):
        """One process to its end. Its exit code; None if it took too long."""
        member = Member(role, name, words)
        self.start(member)
        try:
            return member.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            member.process.kill()
            member.process.wait()
            return None

    def running(self):
        return [m for m in self.members if m.alive]

    def kill(self, member):
        if not member.alive:
            return
        member.process.send_signal(signal.SIGKILL)
        member.process.wait()
        member.continue_at = None
        self.kills += 1

    def stop_for(self, member, seconds):
        member.process.send_signal(signal.SIGSTOP)
        member.continue_at = time.monotonic() + seconds
        self.stops += 1

    def continue_due(self, all_of_them=False):
        for member in self.members:
            if member.continue_at and (all_of_them or time.monotonic() >= member.continue_at):
                if member.alive:
                    member.process.send_signal(signal.SIGCONT)
                member.continue_at = None

    def listen(self):
        """What the members have said since the last time."""
        for path in self.said.iterdir():
            with path.open("rb") as words:
                words.seek(self.listened.get(path, 0))
                fresh = words.read()
            whole = fresh[: fresh.rfind(b"\n") + 1]
            self.listened[path] = self.listened.get(path, 0) + len(whole)
            for line in whole.splitlines():
                try:
                    yield json.loads(line)
                except ValueError:
                    pass  # the judge reports it

    def end_all(self):
        for member in self.members:
            if member.alive:
                member.process.kill()
                member.process.wait()

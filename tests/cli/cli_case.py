"""What the tests of the command share: a folder of their own, running the command, its two ways to answer.

The binary's path is the first argument of every test program here.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv.pop(1)
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# Commands that are a word for several have these.
COMMANDS = ["init", "info", "ls", "cat", "tail", "verify", "seal", "checkpoint create", "checkpoint list", "checkpoint pin",
            "checkpoint unpin", "checkpoint delete", "runs", "trim", "gc", "branch create", "branch list",
            "branch delete", "produce", "consume"]


class CliCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lakestream-cli-")
        self.addCleanup(self.folder.cleanup)
        self.uri = os.path.join(self.folder.name, "stream")

    def run_cli(self, *words, code=0, **options):
        """`code`: the exit code that it must have; None: any."""
        done = subprocess.run([BINARY, *words], capture_output=True, timeout=60, stdin=subprocess.DEVNULL, **options)
        if code is not None:
            self.assertEqual(done.returncode, code,
                             f"{words}: {done.stdout.decode(errors='replace')}{done.stderr.decode()}")
        return done

    def json_of(self, *words, code=0):
        return json.loads(self.run_cli(*words, "--json", code=code).stdout)

    def fails(self, *words, code, says):
        """A failure is one line on stderr that begins with the program's name, and nothing on stdout."""
        done = self.run_cli(*words, code=code)
        message = done.stderr.decode()
        self.assertRegex(message, r"\Alakestream: [^\n]+\n\Z")
        self.assertIn(says, message)
        self.assertEqual(done.stdout, b"")
        return message

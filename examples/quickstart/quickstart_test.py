#!/usr/bin/python3
"""Runs the README's producer and consumer as processes: quickstart_test.py PRODUCER CONSUMER."""

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

PRODUCER, CONSUMER = sys.argv[1:3]


def expected(rank, start=0):
    return "".join(f"step {step}: {2 * step + rank}\n" for step in range(start, 50))


class QuickstartTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.uri = str(pathlib.Path(folder.name) / "stream")

    def run_program(self, *command):
        run = subprocess.run([*command], text=True, capture_output=True, timeout=30, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_each_rank_reads_its_numbers_in_order(self):
        self.run_program(PRODUCER, self.uri)
        self.assertEqual(self.run_program(CONSUMER, self.uri, "0"), expected(0))
        self.assertEqual(self.run_program(CONSUMER, self.uri, "1"), expected(1))

    def test_consumer_goes_on_at_a_saved_step(self):
        self.run_program(PRODUCER, self.uri)
        self.assertEqual(self.run_program(CONSUMER, self.uri, "1", "37"), expected(1, 37))

    def test_killed_producer_goes_on_without_gap_or_repeat(self):
        for delay_s in (0.0, 0.01, 0.03, 0.1):
            with subprocess.Popen([PRODUCER, self.uri]) as process:
                time.sleep(delay_s)  # a kill at some moment of its run, whichever that is
                process.kill()
        last = subprocess.run([PRODUCER, self.uri], text=True, capture_output=True, timeout=30, check=False)
        if last.returncode != 0:  # an earlier run had got to its end before the kill
            self.assertIn("sealed", last.stderr)
        self.assertEqual(self.run_program(CONSUMER, self.uri, "0"), expected(0))

    def test_missing_stream_is_an_error_in_one_line(self):
        run = subprocess.run([CONSUMER, self.uri, "0"], text=True, capture_output=True, timeout=30, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assertIn("stream_missing", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)

"""Checkpoints, runs, trim, gc and branches on the command line, as an operator uses them."""

import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from cli_case import BINARY, CliCase

GRACE_S = 1


class LifecycleTest(CliCase):
    templates = {}  # by number of steps: made once, copied for each test

    @classmethod
    def setUpClass(cls):
        cls.folder_of_all = tempfile.TemporaryDirectory(prefix="lakestream-cli-")
        cls.addClassCleanup(cls.folder_of_all.cleanup)

    def make_stream(self, tgbs=20):
        if tgbs not in self.templates:
            own, self.uri = self.uri, os.path.join(self.folder_of_all.name, str(tgbs))
            self.run_cli("init", self.uri, "--mesh", "1x1", "--reclaim-grace", f"{GRACE_S}s", "--snapshot-interval",
                         "4", "--index-page-steps", "4")
            self.produce(tgbs)
            self.templates[tgbs], self.uri = self.uri, own
        shutil.copytree(self.templates[tgbs], self.uri)

    def produce(self, tgbs, *more):
        """Up to `tgbs` in all, a commit and a data object for each."""
        for last in range(1, tgbs + 1):
            self.run_cli("produce", self.uri, "--name", "a", "--tgbs", str(last), "--slice-bytes", "100", *more)

    def checkpoint(self, name, step, *more):
        return self.run_cli("checkpoint", "create", self.uri, name, "--step", str(step), *more)

    def names(self):
        return [c["name"] for c in self.json_of("checkpoint", "list", self.uri)]

    def gc_until_done(self):
        """Passes until nothing waits; what they removed."""
        removed = 0
        for _ in range(10):
            report = self.json_of("gc", self.uri)
            removed += report["data_objects"]
            if report["next_release_ms"] == 0 and report["waiting_steps"] == 0:
                return removed
            time.sleep(GRACE_S + 0.2)
        return self.fail("something waits for ever")

    def steps(self, *more):
        return [s["step"] for s in self.json_of("ls", self.uri, "--count", "1000", *more)]

    # ---- checkpoints

    def test_a_checkpoint_from_its_making_to_its_end(self):
        self.make_stream()
        self.checkpoint("warm", 5, "--note", "s3://models/warm")
        self.checkpoint("warm", 5, "--note", "s3://models/warm")  # the same again
        self.checkpoint("late", 12, "--pin")
        listed = self.json_of("checkpoint", "list", self.uri)
        self.assertEqual([(c["name"], c["step"], c["state"], c["pinned"], c["note"]) for c in listed],
                         [("warm", 5, "live", False, "s3://models/warm"), ("late", 12, "live", True, "")])
        table = self.run_cli("checkpoint", "list", self.uri).stdout.decode().splitlines()
        self.assertEqual(table[0].split(), ["checkpoint", "step", "state", "pinned", "made", "note"])
        self.assertEqual(len(table), 3)
        self.fails("checkpoint", "delete", self.uri, "late", "--yes", code=4, says="unpin")
        self.run_cli("checkpoint", "unpin", self.uri, "late")
        self.fails("checkpoint", "delete", self.uri, "late", code=4, says="--yes")
        self.assertEqual(self.names(), ["warm", "late"])
        self.run_cli("checkpoint", "delete", self.uri, "late", "--yes")
        self.run_cli("checkpoint", "pin", self.uri, "warm")
        self.assertEqual([c["pinned"] for c in self.json_of("checkpoint", "list", self.uri)], [True])

    def test_checkpoints_that_cannot_be(self):
        self.make_stream(8)
        self.fails("checkpoint", "create", self.uri, "x", "--step", "9", code=4, says="ends at step 8")
        self.fails("checkpoint", "create", self.uri, "../x", "--step", "1", code=2, says="../x")
        self.fails("checkpoint", "create", self.uri, "x", code=2, says="--step")
        self.fails("checkpoint", "create", self.uri, "x", "--step", "1", "--note", "n" * 2000, code=2, says="1024")
        self.checkpoint("x", 1)
        self.fails("checkpoint", "create", self.uri, "x", "--step", "2", code=4, says="delete it first")
        for verb in ("pin", "unpin", "delete"):
            self.fails("checkpoint", verb, self.uri, "nix", code=3, says="checkpoint list")
        self.run_cli("checkpoint", "delete", self.uri, "x", "--yes")
        self.run_cli("trim", self.uri, "--to", "4", "--yes")
        self.fails("checkpoint", "create", self.uri, "old", "--step", "3", code=4, says="was trimmed")

    # ---- trim

    def test_trim_says_what_it_would_do_and_does_just_that(self):
        self.make_stream()
        for step in (2, 4, 6, 8, 10):
            self.checkpoint(f"c{step}", step)
        self.run_cli("checkpoint", "pin", self.uri, "c4")
        rules = ["--keep-last", "1", "--keep-every", "3"]
        plan = self.json_of("trim", self.uri, *rules, "--dry-run")
        self.assertEqual((plan["from"], plan["to"], plan["dropped"]), (0, 4, ["c2", "c8"]))
        self.assertEqual([(k["what"], k["step"], k["why"]) for k in plan["kept"]],
                         [("checkpoint c4", 4, "pinned"), ("checkpoint c6", 6, "at a multiple of 3"),
                          ("checkpoint c10", 10, "one of the last 1")])
        message = self.fails("trim", self.uri, *rules, code=4, says="--yes")
        self.assertIn("steps 0..3", message)
        self.assertIn("c2 c8", message)
        self.assertEqual(len(self.names()), 5)
        done = self.json_of("trim", self.uri, *rules, "--yes")
        self.assertEqual({**done, "dry_run": True}, plan)
        self.assertEqual(self.names(), ["c4", "c6", "c10"])
        self.assertEqual(self.steps()[0], 4)
        again = self.run_cli("trim", self.uri, *rules)  # nothing to do: nothing to ask
        self.assertIn(b"gave up nothing", again.stdout)

    def test_trim_keeps_what_is_young_and_what_fits(self):
        self.make_stream()
        self.checkpoint("old", 3)
        self.checkpoint("new", 9)
        self.assertEqual(self.json_of("trim", self.uri, "--keep-for", "1h", "--dry-run")["dropped"], [])
        self.assertEqual(self.json_of("trim", self.uri, "--keep-for", "1ms", "--dry-run")["dropped"], ["new", "old"])
        tight = self.json_of("trim", self.uri, "--keep-for", "1h", "--max-bytes", "6KiB", "--dry-run")
        self.assertEqual((tight["dropped"], tight["to"], tight["over_max_bytes"]), (["old"], 9, False))
        self.run_cli("checkpoint", "pin", self.uri, "old")
        pinned = self.run_cli("trim", self.uri, "--max-bytes", "1KiB", "--dry-run")
        self.assertIn(b"above --max-bytes", pinned.stderr)

    def test_trim_to_a_step_is_refused_if_something_needs_more(self):
        self.make_stream()
        self.checkpoint("five", 5)
        self.fails("trim", self.uri, "--to", "6", "--yes", code=4, says="checkpoint five needs step 5")
        self.fails("trim", self.uri, "--to", "21", "--yes", code=4, says="ends at step 20")
        self.fails("trim", self.uri, "--to", "3", "--max-bytes", "1GiB", code=2, says="excludes")
        for words in (["--keep-for", "3"], ["--keep-for", "-1h"], ["--max-bytes", "5 apples"], ["--keep-last", "-1"]):
            self.fails("trim", self.uri, *words, code=2, says=words[0])
        self.run_cli("trim", self.uri, "--to", "5", "--yes")
        self.assertEqual(self.steps()[0], 5)

    # ---- gc

    def test_gc_removes_what_was_trimmed_after_the_grace_and_says_so(self):
        self.make_stream()
        self.checkpoint("ten", 10)
        self.run_cli("trim", self.uri, "--yes")
        first = self.json_of("gc", self.uri)
        self.assertEqual((first["data_objects"], first["waiting_steps"]), (0, 10))
        self.assertGreater(first["next_release_ms"], time.time() * 1000 - 60_000)
        self.assertIn(b"waiting: about", self.run_cli("gc", self.uri, "--dry-run").stdout)
        time.sleep(GRACE_S + 0.2)
        planned = self.json_of("gc", self.uri, "--dry-run")
        self.assertEqual((planned["data_objects"], planned["index_pages"]), (10, 2))
        self.assertEqual(len(os.listdir(os.path.join(self.uri, "data", "main"))), 20)
        text = self.run_cli("gc", self.uri).stdout.decode()
        self.assertRegex(text, r"data +10 +\d")
        self.assertIn("log records", text)
        self.assertEqual(len(os.listdir(os.path.join(self.uri, "data", "main"))), 10)
        self.gc_until_done()
        self.assertEqual(self.run_cli("gc", self.uri).stdout, b"removed nothing\nnothing waits\n")
        self.assertEqual(self.steps(), list(range(10, 20)))
        self.produce(22)
        read = self.json_of("consume", self.uri, "--start-step", "10", "--max-steps", "12", "--check")
        self.assertEqual((read["steps"], read["wrong"]), (12, 0))

    def test_gc_names_the_sessions_and_checkpoints_that_it_ends(self):
        self.make_stream(4)
        orphan = os.path.join(self.uri, "data", "main", f"{4:020}-{9:010}.tgb")  # of the current session
        with open(orphan, "wb") as file:
            file.write(b"uploaded, never committed")
        self.assertEqual(self.json_of("gc", self.uri)["ended"], [])
        time.sleep(GRACE_S + 0.2)
        words = ["gc", self.uri, "--fence-after", "50ms"]
        self.assertEqual(self.json_of(*words, "--dry-run")["ended"], ["session 4 of a"])
        self.assertIn(b"ended session 4 of a", self.run_cli(*words).stdout)
        self.gc_until_done()
        time.sleep(GRACE_S + 0.2)
        self.run_cli("gc", self.uri)
        self.assertFalse(os.path.exists(orphan))
        self.assertEqual(self.steps(), [0, 1, 2, 3])

    # ---- runs

    def test_a_run_holds_what_it_needs_until_it_is_detached(self):
        self.make_stream()
        job = ["--job", "train", "--run", "r1"]
        read = self.run_cli("consume", self.uri, *job, "--max-steps", "9", "--save-every", "4")
        self.assertIn(b"--detach train", read.stderr)
        run, = self.json_of("runs", self.uri, "--ranks")
        self.assertEqual((run["job"], run["run"], run["ranks"], run["read"], run["lag"], run["durable"]),
                         ("train", "r1", 1, 9, 11, 8))
        self.assertEqual([(r["rank"], r["read"], r["durable"]) for r in run["positions"]], [(0, 9, 8)])
        self.fails("trim", self.uri, "--to", "9", "--yes", code=4, says="job train needs step 8")
        trimmed = self.json_of("trim", self.uri, "--yes")
        self.assertEqual((trimmed["to"], trimmed["kept"][0]["what"]), (8, "job train"))
        self.fails("consume", self.uri, "--job", "late", "--run", "r1", code=4, says="step 0")
        self.fails("runs", self.uri, "--detach", "train", code=4, says="--yes")
        self.fails("runs", self.uri, "--detach", "nix", "--yes", code=3, says="nix")
        self.run_cli("runs", self.uri, "--detach", "train", "--yes")
        self.assertEqual(self.json_of("runs", self.uri), [])

    def test_a_job_of_another_size_reads_the_same_bytes_from_a_checkpoint(self):
        self.run_cli("init", self.uri, "--mesh", "2x2", "--samples-multiple", "4")
        self.run_cli("produce", self.uri, "--name", "a", "--tgbs", "12", "--slice-bytes", "999", "--spread", "0.5")
        self.checkpoint("c", 4)
        for mesh, dps in (("1x2", 1), ("2x2", 2), ("4x2", 4), ("8x2", 8)):
            for dp in range(dps):
                read = self.json_of("consume", self.uri, "--mesh", mesh, "--dp", str(dp), "--cp", "1", "--checkpoint",
                                    "c", "--max-steps", "8", "--check", "--job", "train", "--run", "of-" + mesh)
                self.assertEqual((read["steps"], read["next_step"], read["wrong"]), (8, 12, 0))
        run, = self.json_of("runs", self.uri)  # the newest run of the job has replaced the others
        self.assertEqual((run["run"], run["ranks"], run["ranks_reporting"], run["start"]), ("of-8x2", 16, 8, 4))
        for mesh, says in (("3x2", "multiple"), ("2x1", "cp"), ("16x2", "multiple of 4")):
            self.fails("consume", self.uri, "--mesh", mesh, code=4, says=says)
        self.fails("consume", self.uri, "--mesh", "2x2", "--dp", "2", code=2, says="dp 2")
        self.fails("consume", self.uri, "--checkpoint", "nix", code=3, says="nix")
        self.fails("consume", self.uri, "--checkpoint", "c", "--start-step", "3", code=2, says="excludes")
        self.fails("consume", self.uri, "--job", "x", code=2, says="--run")

    def test_a_producer_waits_for_the_slowest_run(self):
        self.make_stream(4)
        job = ["--job", "train", "--run", "r1"]
        self.run_cli("consume", self.uri, *job, "--max-steps", "2")
        produce = ["produce", self.uri, "--name", "a", "--slice-bytes", "100", "--rate", "50", "--commit-interval-ms", "1",
                   "--tgbs", "30", "--ahead-steps", "8"]
        held = self.run_cli(*produce, "--timeout", "2", "--json", code=5)
        self.assertGreater(json.loads(held.stdout)["held_back"], 0)
        self.assertLess(self.json_of("info", self.uri)["steps"], 20)
        self.run_cli("runs", self.uri, "--detach", "train", "--yes")
        self.assertEqual(self.json_of(*produce)["next_step"], 30)

    def test_a_producer_reclaims_on_the_way(self):
        self.make_stream()
        self.run_cli("trim", self.uri, "--to", "10", "--yes")
        self.run_cli("produce", self.uri, "--name", "a", "--tgbs", "80", "--slice-bytes", "100", "--rate", "20",
                     "--reclaim-interval", "100ms")
        self.assertEqual(self.steps()[0], 10)
        first = os.path.join(self.uri, "data", "main", f"{1:020}-{0:010}.tgb")
        self.assertFalse(os.path.exists(first))

    # ---- branches

    def test_a_branch_shares_what_lies_below_its_fork(self):
        self.make_stream()
        self.checkpoint("base", 12)
        self.run_cli("branch", "create", self.uri, "mix", "--checkpoint", "base")
        self.produce(3, "--branch", "mix")
        self.run_cli("branch", "create", self.uri, "deep", "--step", "14", "--parent", "mix")
        listed = self.json_of("branch", "list", self.uri)
        self.assertEqual([(b["name"], b["parent"], b["fork_step"], b["next_step"], b["deleted"]) for b in listed],
                         [("mix", "main", 12, 15, False), ("deep", "mix", 14, 14, False)])
        self.assertEqual(self.steps("--branch", "mix"), list(range(15)))
        read = self.json_of("consume", self.uri, "--branch", "mix", "--start-step", "9", "--max-steps", "6", "--check")
        self.assertEqual((read["steps"], read["wrong"]), (6, 0))
        self.run_cli("checkpoint", "delete", self.uri, "base", "--yes")
        self.run_cli("trim", self.uri, "--to", "18", "--yes")
        self.run_cli("trim", self.uri, "--branch", "mix", "--to", "8", "--yes")
        self.gc_until_done()
        self.assertEqual(self.steps("--branch", "deep")[0], 0)  # has its own trim point, and keeps all
        self.assertEqual(self.steps("--branch", "mix")[0], 8)
        self.fails("branch", "delete", self.uri, "mix", "--yes", code=4, says="deep")
        self.fails("branch", "delete", self.uri, "deep", code=4, says="--yes")
        self.run_cli("branch", "delete", self.uri, "deep", "--yes")
        self.assertEqual([b["deleted"] for b in self.json_of("branch", "list", self.uri)], [False, True])
        self.fails("branch", "delete", self.uri, "mix", "--yes", code=4, says="still being reclaimed")
        self.gc_until_done()
        self.run_cli("branch", "delete", self.uri, "mix", "--yes")
        self.fails("info", self.uri, "--branch", "mix", code=4, says="was deleted")
        self.gc_until_done()
        self.assertEqual(self.json_of("branch", "list", self.uri), [])
        self.assertEqual(len(os.listdir(os.path.join(self.uri, "data", "main"))), 2)
        self.assertEqual(self.steps(), [18, 19])

    def test_branches_that_cannot_be(self):
        self.make_stream(4)
        self.fails("branch", "create", self.uri, "x", code=2, says="--step or --checkpoint")
        self.fails("branch", "create", self.uri, "x", "--step", "1", "--checkpoint", "c", code=2, says="excludes")
        self.fails("branch", "create", self.uri, "x", "--step", "5", code=4, says="ends at step 4")
        self.fails("branch", "create", self.uri, "x", "--checkpoint", "nix", code=3, says="nix")
        self.fails("branch", "create", self.uri, "a/b", "--step", "1", code=2, says="a/b")
        self.fails("branch", "create", self.uri, "main", "--step", "1", code=4, says="taken")
        self.fails("branch", "create", self.uri, "x", "--step", "1", "--parent", "nix", code=3, says="nix")
        self.fails("branch", "delete", self.uri, "nix", "--yes", code=3, says="branch list")
        self.fails("branch", "delete", self.uri, "main", "--yes", code=2, says="main")
        for command in (["info"], ["ls"], ["verify"], ["tail"], ["cat", "1"], ["seal", "--yes"], ["trim"],
                        ["checkpoint list"], ["produce", "--name", "a"], ["consume"], ["runs"]):
            words = command[0].split()
            self.fails(*words, self.uri, *command[1:], "--branch", "nix", code=3, says="branch list")

    # ---- what info and ls show of it

    def test_info_shows_who_keeps_what_and_what_could_go(self):
        self.make_stream()
        self.checkpoint("six", 6)
        self.run_cli("consume", self.uri, "--job", "train", "--run", "r1", "--max-steps", "15")
        self.run_cli("branch", "create", self.uri, "side", "--step", "3")
        info = self.json_of("info", self.uri)
        self.assertEqual((info["trim_step"], info["reclaimable_steps"]), (0, 0))
        self.assertEqual([c["name"] for c in info["checkpoints"]], ["six"])
        self.assertEqual([(r["job"], r["lag"], r["durable"]) for r in info["runs"]], [("train", 5, 15)])
        self.assertEqual([(b["name"], b["trim_step"], b["next_step"]) for b in info["branches"]], [("side", 0, 3)])
        self.run_cli("trim", self.uri, "--yes")  # to 6; the branch keeps 0..2
        info = self.json_of("info", self.uri)
        self.assertEqual((info["trim_step"], info["reclaimable_steps"]), (6, 3))
        self.assertEqual(info["boundary"], {"released_step": 0, "released_version": 0, "release_ms": 0})
        for _ in range(2):
            self.run_cli("gc", self.uri)
            text = self.run_cli("info", self.uri).stdout.decode()
            time.sleep(GRACE_S + 0.2)
        self.assertRegex(text, r"trimmed   steps below 6; nothing is left to reclaim\n")
        self.assertRegex(text, r"boundary  steps below 6 and the log up to version \d+ may go since ")
        for heading in ("producer ", "checkpoint ", "job ", "branch "):
            self.assertIn("\n\n" + heading, text)
        self.assertIn("from step 3 of main", self.run_cli("info", self.uri, "--branch", "side").stdout.decode())

    def test_ls_shows_objects_by_kind(self):
        self.make_stream(8)
        usage = {u["kind"]: u["objects"] for u in self.json_of("ls", self.uri, "--kind", "all")}
        self.assertEqual((usage["data"], usage["log"], usage["snapshot"], usage["index"]), (8, 16, 4, 2))
        log = self.json_of("ls", self.uri, "--kind", "log", "--from", "3", "--count", "2")
        self.assertEqual([o["object"] for o in log], [f"log/main/{n:020}" for n in (3, 4)])
        self.assertEqual(log[0]["bytes"], os.path.getsize(os.path.join(self.uri, log[0]["object"])))
        data = self.json_of("ls", self.uri, "--kind", "data", "--from", "8")
        self.assertEqual([o["object"] for o in data], [f"data/main/{8:020}-{0:010}.tgb"])
        self.assertEqual(self.json_of("ls", self.uri, "--kind", "watermark"), [])
        self.fails("ls", self.uri, "--kind", "objects", code=2, says="snapshot")
        self.run_cli("trim", self.uri, "--to", "4", "--yes")
        self.assertIn(b"steps below 4 were trimmed", self.run_cli("ls", self.uri).stderr)

    # ---- the terminal

    def test_a_question_is_asked_on_a_terminal_and_a_no_changes_nothing(self):
        self.make_stream(4)
        self.checkpoint("c", 1)
        for answer, code, left in (("n", 4, ["c"]), ("y", 0, [])):
            shell = f"'{BINARY}' checkpoint delete '{self.uri}' c"
            done = subprocess.run(["script", "-qec", shell, "/dev/null"], input=(answer + "\n").encode(),
                                  capture_output=True, timeout=30)
            self.assertEqual(done.returncode, code, done.stdout)
            self.assertIn(b"[y/N]", done.stdout)
            self.assertEqual(self.names(), left)

    def test_words_that_are_close_to_a_command(self):
        self.fails("checkpoint", "creat", self.uri, code=2, says="did you mean 'create'")
        self.fails("branch", code=2, says="branch --help")
        self.fails("brnch", "list", self.uri, code=2, says="did you mean 'branch'")


if __name__ == "__main__":
    unittest.main(verbosity=1)

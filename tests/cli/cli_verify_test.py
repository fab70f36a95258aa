"""`lakestream verify` against every fault that can be planted in a folder: what it names, what it says to do, its exit code.

One stream is made once: trimmed, reclaimed (its log no longer begins at version 1), with checkpoints and a branch. Each test
damages a copy of it.
"""

import json
import os
import shutil
import tempfile
import time
import unittest

from cli_case import CliCase

STEPS = 24
TRIMMED = 5
FORK = 12


class VerifyTest(CliCase):
    @classmethod
    def setUpClass(cls):
        cls.folder_of_all = tempfile.TemporaryDirectory(prefix="lakestream-cli-")
        cls.addClassCleanup(cls.folder_of_all.cleanup)
        cls.template = os.path.join(cls.folder_of_all.name, "stream")
        maker = cls("run_cli")
        maker.uri = cls.template
        maker.make_stream()

    def setUp(self):
        super().setUp()
        shutil.copytree(self.template, self.uri)

    def make_stream(self):
        self.run_cli("init", self.uri, "--mesh", "1x1", "--reclaim-grace", "1s", "--snapshot-interval", "4",
                     "--index-page-steps", "4")
        self.produce(range(STEPS))
        self.run_cli("checkpoint", "create", self.uri, "early", "--step", "8")
        self.run_cli("checkpoint", "create", self.uri, "late", "--step", "21", "--pin")
        self.run_cli("branch", "create", self.uri, "exp", "--step", str(FORK))
        self.produce(range(3), "--branch", "exp")
        self.run_cli("trim", self.uri, "--to", str(TRIMMED), "--yes")
        self.run_cli("trim", self.uri, "--to", "7", "--branch", "exp", "--yes")
        for _ in range(3):
            self.run_cli("gc", self.uri)
            time.sleep(1.1)

    def produce(self, items, *more):
        for item in items:
            self.run_cli("produce", self.uri, "--name", "a", "--tgbs", str(item + 1), "--slice-bytes", "300", *more)

    # ---- planting

    def path(self, *parts):
        return os.path.join(self.uri, *parts)

    def listed(self, kind, branch="main"):
        folder = self.path(kind, branch)
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def object_of(self, step, branch="main"):
        found = self.json_of("ls", self.uri, "--from", str(step), "--count", "1", "--branch", branch)
        return self.path(found[0]["object"])

    def flip(self, path, at=-20):
        with open(path, "rb") as file:
            data = bytearray(file.read())
        data[at] ^= 1
        self.write(path, bytes(data))

    def write(self, path, data):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def copy(self, source, target):
        with open(source, "rb") as file:
            self.write(target, file.read())

    # ---- what verify says

    def verified(self, *more):
        done = self.run_cli("verify", self.uri, "--json", *more, code=None)
        report = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1 if report["errors"] else 0)
        for finding in report["errors"] + report["warnings"]:  # each says what to do, or that nothing is to be done
            self.assertRegex(finding["detail"], r"restore|delete|gc|a later commit|writes it")
        return report

    def finds(self, *errors, warnings=(), words=()):
        """Exactly these (kind, object, part of the detail), and the text for people names them too."""
        report = self.verified(*words)
        for wanted, found in ((errors, report["errors"]), (warnings, report["warnings"])):
            self.assertEqual([kind for kind, _, _ in wanted], [f["kind"] for f in found], found)
            for (_, name, says), finding in zip(wanted, found):
                self.assertTrue(finding["object"].endswith(name), f"{finding} is not about {name}")
                self.assertIn(says, finding["detail"])
        text = self.run_cli("verify", self.uri, *words, code=1 if errors else 0).stdout.decode()
        for kind, name, _ in [*errors, *warnings]:
            self.assertRegex(text, f"(error  |warning) {kind}: .*{os.path.basename(name)}")
        self.assertIn(f"{len(errors)} error{'' if len(errors) == 1 else 's'}, ", text)
        return report

    # ---- nothing is wrong

    def test_a_trimmed_and_reclaimed_stream_with_a_branch_is_clean(self):
        self.assertGreater(self.json_of("info", self.uri)["boundary"]["released_version"], 0)
        self.assertFalse(os.path.exists(self.path("log", "main", f"{1:020}")))
        report = self.finds()
        self.assertEqual((report["branches"], report["steps"]), (2, STEPS - TRIMMED + 3))
        self.assertEqual(report["reclaimable_objects"], 0)
        only = self.finds(words=["--branch", "exp"])
        self.assertEqual(only["steps"], FORK - 7 + 3)

    def test_what_was_given_up_and_waits_for_gc_is_no_fault(self):
        self.run_cli("checkpoint", "delete", self.uri, "early", "--yes")
        self.run_cli("trim", self.uri, "--to", "20", "--yes")
        self.run_cli("branch", "delete", self.uri, "exp", "--yes")
        report = self.finds()
        self.assertGreater(report["reclaimable_objects"], 18)  # steps 5..19, and what the branch held
        for _ in range(4):
            time.sleep(1.1)
            self.run_cli("gc", self.uri)
        report = self.finds()
        self.assertEqual((report["reclaimable_objects"], report["branches"], report["steps"]), (0, 1, 4))

    # ---- data

    def test_a_missing_data_object_and_the_checkpoint_that_leads_to_it(self):
        lost = self.object_of(8)
        os.remove(lost)
        report = self.finds(("missing_object", lost, "restore the object"),
                            ("dangling_reference", "checkpoint early", "delete the checkpoint"),
                            ("dangling_reference", "branch/exp", "branch exp reads this step"))
        self.assertEqual([f["step"] for f in report["errors"]], [8, 8, 8])
        self.finds(("missing_object", lost, "restore"), ("dangling_reference", "branch/exp", "trim the branch past it"),
                   words=["--branch", "exp", "--no-data"])

    def test_a_flipped_bit_in_a_slice(self):
        hit = self.object_of(14)
        self.flip(hit, 200)
        report = self.finds(("bad_checksum", hit, "restore the object"))
        self.assertEqual(report["errors"][0]["step"], 14)
        self.finds(words=["--no-data"])
        self.finds(words=["--branch", "exp"])  # which does not read step 14 of main

    def test_a_data_object_that_is_cut_short(self):
        hit = self.object_of(13, "exp")
        with open(hit, "r+b") as file:
            file.truncate(100)
        self.finds(("bad_checksum", hit, "has 100 bytes"), words=["--no-data"])

    # ---- the log

    def test_a_gap_that_readers_can_pass_by_a_snapshot(self):
        gap = self.listed("log")[1]
        os.remove(gap)
        self.finds(("gap", gap, "readers go on from the snapshot"))

    def test_a_gap_that_nothing_can_be_read_behind(self):
        gap = self.listed("log", "exp")[-2]
        os.remove(gap)
        for snapshot in self.listed("snapshot", "exp"):
            os.remove(snapshot)
        report = self.verified()
        self.assertEqual([(f["kind"], os.path.basename(f["object"])) for f in report["errors"]],
                         [("gap", os.path.basename(gap))])
        self.assertIn("stop all writers", report["errors"][0]["detail"])

    def test_a_flipped_bit_in_a_record(self):
        hit = self.listed("log")[2]
        self.flip(hit)
        self.finds(("bad_record", hit, "restore the object"))

    def test_records_that_change_places(self):
        first, second = self.listed("log")[1:3]
        self.copy(first, second)
        self.finds(("bad_record", second, "calls itself version"))

    # ---- snapshots, index pages, hint

    def test_a_wrong_snapshot(self):
        snapshots = self.listed("snapshot")
        self.copy(snapshots[-1], snapshots[-2])
        self.finds(("bad_snapshot", snapshots[-2], "delete it"))

    def test_the_snapshot_that_the_log_begins_with(self):
        first = self.listed("snapshot")[0]
        self.flip(first)
        self.finds(("bad_snapshot", first, "the log before it is reclaimed"))
        os.remove(first)
        self.finds(("bad_snapshot", first, "is missing"))

    def test_a_missing_snapshot_costs_time_only(self):
        snapshot = self.listed("snapshot")[-1]
        os.remove(snapshot)
        self.finds(warnings=[("bad_snapshot", snapshot, "slower")])

    def test_a_missing_index_page(self):
        reclaimed, *_, in_log = self.listed("index")
        os.remove(in_log)
        self.finds(warnings=[("bad_index", in_log, "slower")])
        os.remove(reclaimed)
        report = self.finds(("bad_index", reclaimed, "steps 4..7 cannot be found"),
                            ("dangling_reference", "branch/exp", "restore"),
                            warnings=[("bad_index", in_log, "slower")])
        self.assertEqual(report["errors"][0]["step"], 4)

    def test_a_wrong_index_page(self):
        pages = self.listed("index")
        self.flip(pages[-1])
        self.finds(("bad_index", pages[-1], "delete it"))
        self.copy(pages[-2], pages[-1])
        self.finds(("bad_index", pages[-1], "delete it"))

    def test_a_spoiled_hint_costs_requests_only(self):
        self.copy(self.path("head", "main"), self.path("head", "exp"))
        self.finds(warnings=[("bad_hint", "head/exp", "which is not there")])
        self.write(self.path("head", "main"), b"rubbish")
        self.finds(warnings=[("bad_hint", "head/exp", "readers search"), ("bad_hint", "head/main", "readers search")])

    # ---- references

    def test_a_branch_without_its_description(self):
        os.remove(self.path("branch", "exp"))
        self.finds(("dangling_reference", "branch/exp", "'lakestream gc' writes it anew"))
        self.run_cli("gc", self.uri)
        self.finds()

    def test_a_description_that_is_not_what_was_forked(self):
        self.flip(self.path("branch", "exp"))
        self.finds(("dangling_reference", "branch/exp", "delete it"))
        os.remove(self.path("branch", "exp"))
        self.run_cli("gc", self.uri)
        self.finds()

    def test_a_branch_that_no_log_knows(self):
        self.copy(self.path("branch", "exp"), self.path("branch", "ghost"))
        self.finds(("dangling_reference", "branch/ghost", "no branch forks it"))

    def test_a_checkpoint_below_the_trim_point_cannot_be_made(self):
        self.fails("checkpoint", "create", self.uri, "below", "--step", str(TRIMMED - 1), code=4, says="was trimmed")
        self.fails("trim", self.uri, "--to", "9", "--yes", code=4, says="checkpoint early needs step 8")
        self.finds()

    def test_a_boundary_that_is_lost_or_damaged(self):
        boundary = self.path("boundary", "main")
        self.flip(boundary)
        self.finds(("bad_boundary", "boundary/main", "restore the object"))
        os.remove(boundary)
        self.finds(("missing_boundary", "boundary/main", "stop all writers"))

    # ---- what lies around

    def test_orphans_and_how_they_will_go(self):
        ended = self.path("data", "main", f"{3:020}-{7:010}.tgb")
        current = self.path("data", "main", f"{STEPS:020}-{7:010}.tgb")
        for path in (ended, current):
            self.write(path, b"uploaded, never committed")
        self.finds(warnings=[("orphan", ended, "session 3 ended"), ("unpublished", current, "producer a")])
        time.sleep(1.1)
        self.run_cli("gc", self.uri)
        self.finds(warnings=[("unpublished", current, "started again")])
        self.produce([STEPS])
        self.run_cli("gc", self.uri)
        self.finds()

    def test_what_is_not_lakestreams(self):
        names = [self.path("README.txt"), self.path("data", "main", "notes.txt"), self.path("log", "main", "7")]
        for name in names:
            self.write(name, b"mine")
        self.write(self.path("data", "nobody", f"{1:020}-{0:010}.tgb"), b"x" * 50)
        self.finds(warnings=[("foreign", names[0], "delete it if"), ("foreign", names[1], "delete it if"),
                             ("foreign", names[2], "delete it if"), ("orphan", "data/nobody/", "1 object, 50 bytes")])

    # ---- all at once

    def test_every_fault_is_found_among_others(self):
        lost, hit = self.object_of(8), self.object_of(22)
        os.remove(lost)
        self.flip(hit, 200)
        gap = self.listed("log")[1]
        os.remove(gap)
        snapshot = self.listed("snapshot")[-1]
        self.flip(snapshot)
        self.write(self.path("head", "main"), b"")
        self.finds(("gap", gap, ""), ("bad_snapshot", snapshot, ""), ("missing_object", lost, ""), ("bad_checksum", hit, ""),
                   ("dangling_reference", "checkpoint early", ""), ("dangling_reference", "branch/exp", ""),
                   warnings=[("bad_hint", "head/main", "")])


if __name__ == "__main__":
    unittest.main(verbosity=1)

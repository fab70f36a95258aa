#!/usr/bin/python3
"""Tests of setup.sh and its list that install nothing."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run_setup(*arguments, path=None):
    environment = dict(os.environ, LC_ALL="C")
    if path is not None:
        environment["PATH"] = str(path)
    return subprocess.run(["/bin/sh", str(HERE / "setup.sh"), *arguments], env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)


def fake_machine(folder, missing=(), user="1000"):
    """A folder of programs in which the packages but `missing` are installed and there is no sudo."""
    names = run_setup("--list").stdout.split()
    listing = "".join(f"ii {name}\\n" for name in names if name not in missing)
    programs = {"dpkg-query": f"printf '{listing}'", "id": f"echo {user}"}
    for name, body in programs.items():
        file = folder / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)
    for name in ("sed", "grep", "wc", "dirname"):
        (folder / name).symlink_to(f"/usr/bin/{name}")


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_list_names_packages_and_nothing_else(self):
        names = run_setup("--list").stdout.split("\n")[:-1]
        self.assertIn("g++", names)
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertRegex(name, r"^[a-z0-9][a-z0-9+.-]+$")

    def test_each_package_has_a_reason(self):
        for line in (HERE / "packages.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                self.assertTrue(re.search(r"\S\s+# \S", line), line)

    def test_nothing_to_do_is_silent(self):
        fake_machine(self.folder)
        run = run_setup(path=self.folder)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_neither_root_nor_sudo_is_one_clear_line(self):
        fake_machine(self.folder, missing=("cmake", "libzstd-dev"))
        run = run_setup(path=self.folder)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assertIn("2 packages", run.stderr)
        self.assertIn("install --no-install-recommends cmake libzstd-dev", run.stderr)

    def test_other_systems_are_told_so(self):
        (self.folder / "dirname").symlink_to("/usr/bin/dirname")
        (self.folder / "sed").symlink_to("/usr/bin/sed")
        run = run_setup(path=self.folder)
        self.assertEqual(run.returncode, 1)
        self.assertIn("no Debian", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)

"""The command `lakestream` as a user meets it: results, exit codes, one-line errors. Run with the binary's path."""

import json
import os
import re
import signal
import struct
import subprocess
import time
import unittest

from cli_case import BINARY, COMMANDS, ROOT, CliCase


class CliTest(CliCase):
    def make_stream(self, tgbs=12, finish=True):
        self.run_cli("init", self.uri, "--mesh", "2x2", "--producers", "a")
        words = ["produce", self.uri, "--name", "a", "--tgbs", str(tgbs), "--slice-bytes", "1000", "--spread", "0.5"]
        self.run_cli(*words, *(["--finish"] if finish else []))

    def data_object(self):
        folder = os.path.join(self.uri, "data", "main")
        return os.path.join(folder, sorted(os.listdir(folder))[0])

    # ---- results

    def test_a_stream_from_init_to_consume(self):
        made = self.json_of("init", self.uri, "--mesh", "2x2", "--producers", "a,b")
        self.assertRegex(made["uuid"], "^[0-9a-f]{32}$")
        written = self.json_of("produce", self.uri, "--name", "a", "--tgbs", "30", "--slice-bytes", "5000", "--finish")
        self.assertEqual((written["tgbs"], written["finished"]), (30, True))
        self.run_cli("produce", self.uri, "--name", "b", "--tgbs", "10", "--slice-bytes", "100", "--finish")
        info = self.json_of("info", self.uri)
        self.assertEqual((info["steps"], info["sealed"], info["mesh"]), (40, True, {"dp": 2, "cp": 2}))
        self.assertEqual({p["name"]: p["tgbs"] for p in info["producers"]}, {"a": 30, "b": 10})
        for dp in ("0", "1"):
            read = self.json_of("consume", self.uri, "--dp", dp, "--cp", "1", "--check")
            self.assertEqual((read["steps"], read["end_of_stream"], read["wrong"]), (40, True, 0))
        rest = self.json_of("consume", self.uri, "--start-step", "35", "--max-steps", "3")
        self.assertEqual((rest["steps"], rest["next_step"], rest["end_of_stream"]), (3, 38, False))
        report = self.json_of("verify", self.uri)
        self.assertEqual((report["steps"], report["errors"], report["warnings"]), (40, [], []))

    def test_produce_goes_on_where_it_was(self):
        self.run_cli("init", self.uri, "--mesh", "1x1")
        self.run_cli("produce", self.uri, "--name", "a", "--tgbs", "5", "--slice-bytes", "10")
        again = self.json_of("produce", self.uri, "--name", "a", "--tgbs", "8", "--slice-bytes", "10")
        self.assertEqual((again["resumed_at"], again["tgbs"]), (5, 3))
        self.assertEqual(self.json_of("info", self.uri)["steps"], 8)

    def test_ls_shows_steps_and_slices(self):
        self.make_stream()
        steps = self.json_of("ls", self.uri, "--from", "3", "--count", "2")
        self.assertEqual([s["step"] for s in steps], [3, 4])
        self.assertEqual(len(steps[0]["slices"]), 4)
        table = self.run_cli("ls", self.uri, "--count", "1", "--slices").stdout.decode()
        self.assertEqual(len(table.splitlines()), 1 + 4)

    def test_cat_shows_and_writes_tensors(self):
        self.make_stream()
        slice_ = self.json_of("cat", self.uri, "7", "--dp", "1")
        item = next(t for t in slice_["tensors"] if t["name"] == "item")
        self.assertEqual((item["dtype"], item["shape"], item["first_values"]), ("U64", [], [7]))
        raw = self.run_cli("cat", self.uri, "7", "--dp", "1", "--tensor", "item", "--raw").stdout
        self.assertEqual(struct.unpack("<Q", raw), (7,))
        payload = self.run_cli("cat", self.uri, "7", "--raw").stdout
        header = struct.unpack("<Q", payload[:8])[0]
        self.assertIn("data", json.loads(payload[8 : 8 + header]))

    def test_tail_is_json_lines(self):
        self.make_stream()
        lines = self.run_cli("tail", self.uri, "--from", "1", "--json").stdout.splitlines()
        commits = [json.loads(line) for line in lines]
        self.assertEqual([c["version"] for c in commits], list(range(1, len(commits) + 1)))
        self.assertEqual(commits[0]["changes"], ["open a"])
        self.assertEqual(commits[-1]["next_step"], 12)

    def test_tail_follow_ends_with_the_stream(self):
        self.make_stream(finish=False)
        tail = subprocess.Popen([BINARY, "tail", self.uri, "--follow"], stdout=subprocess.PIPE)
        self.run_cli("seal", self.uri, "--yes")
        out, _ = tail.communicate(timeout=30)
        self.assertEqual(tail.returncode, 0)
        self.assertIn(b"seal", out.splitlines()[-1])

    def test_seal_does_nothing_without_yes(self):
        self.make_stream(finish=False)
        self.fails("seal", self.uri, code=4, says="--yes")
        self.assertFalse(self.json_of("info", self.uri)["sealed"])
        self.assertEqual(self.json_of("seal", self.uri, "--yes")["steps"], 12)
        self.run_cli("seal", self.uri)  # sealed already: nothing to ask

    def test_verify_finds_a_flipped_bit(self):
        self.make_stream()
        path = self.data_object()
        with open(path, "r+b") as file:
            file.seek(200)
            byte = file.read(1)[0]
            file.seek(200)
            file.write(bytes([byte ^ 1]))
        report = self.json_of("verify", self.uri, code=1)
        self.assertEqual(report["errors"][0]["kind"], "bad_checksum")
        self.assertEqual(self.json_of("verify", self.uri, "--no-data")["errors"], [])
        text = self.run_cli("verify", self.uri, code=1).stdout.decode()
        self.assertIn(os.path.basename(path), text)

    def test_the_reference_page_says_what_help_says(self):
        """For each command: the same example, and the same options, neither more nor fewer."""
        with open(os.path.join(ROOT, "docs", "reference", "cli.md"), encoding="utf-8") as file:
            introduction, *sections = re.split(r"^### ", file.read(), flags=re.MULTILINE)
        pages = {re.match("`([a-z ]+)`", section)[1]: section.split("\n## ")[0] for section in sections}
        self.assertEqual(list(pages), COMMANDS)
        shared = set(re.findall(r"`(--[a-z-]+)", introduction)) - {"--branch", "--yes"}
        for command, page in pages.items():
            text = self.run_cli(*command.split(), "--help").stdout.decode()
            example = re.search(r"^Example:\n  (lakestream .*)$", text, re.MULTILINE)
            self.assertTrue(example, f"{command} --help has no example")
            self.assertIn(f"\n    {example[1]}\n", page)
            self.assertEqual(example[1].split()[1:1 + len(command.split())], command.split())
            options = set(re.findall(r"^ .*?(--[a-z-]+)", text, re.MULTILINE)) | set(re.findall(r",(--[a-z-]+)", text))
            self.assertLessEqual(shared, options)
            self.assertEqual(set(re.findall(r"`(--[a-z-]+)", page)) - shared, options - shared, command)

    def test_version(self):
        self.assertRegex(self.run_cli("--version").stdout.decode(), r"^lakestream \d+\.\d+\.\d+, format \d+\n$")

    # ---- failures

    def test_wrong_words(self):
        self.fails("infoo", self.uri, code=2, says="did you mean 'info'")
        self.fails("xyzzy", code=2, says="--help")
        self.fails(code=2, says="--help")
        self.fails("info", code=2, says="uri")
        self.fails("info", self.uri, "--jsn", code=2, says="--jsn")
        self.fails("init", self.uri, code=2, says="--mesh")
        for mesh in ("0x1", "4y2", "", "-1", "1x99999999999", "100000x100000"):
            self.fails("init", self.uri, "--mesh=" + mesh, code=2, says="mesh")
        self.fails("init", self.uri, "--mesh", "1", "--producers", "a,a", code=2, says="twice")
        self.fails("init", self.uri, "--mesh", "1", "--producers", "../x", code=2, says="../x")
        self.fails("init", self.uri, "--mesh", "1", "--zstd", "99", code=2, says="zstd")
        self.assertFalse(os.path.exists(self.uri))

    def test_numbers_outside_their_range(self):
        self.make_stream()
        for words in (["cat", self.uri, "-5"], ["ls", self.uri, "--from", "-1"], ["cat", self.uri, "1" + "0" * 30],
                      ["consume", self.uri, "--dp", "x"], ["produce", self.uri, "--name", "a", "--spread", "2"]):
            self.fails(*words, code=2, says="--help")
        self.fails("cat", self.uri, "500", code=3, says="step 500")
        self.fails("cat", self.uri, "1", "--dp", "2", code=2, says="dp 2")
        self.fails("cat", self.uri, "1", "--tensor", "nope", code=3, says="nope")
        self.fails("consume", self.uri, "--dp", "9", code=2, says="mesh")

    def test_uris_that_lead_nowhere(self):
        self.fails("info", "gopher://x", code=2, says="gopher")
        self.fails("info", self.uri, code=3, says="no stream")
        self.fails("info", "s3://", code=2, says="bucket")
        open(self.uri, "w").close()
        self.assertNotEqual(subprocess.run([BINARY, "init", self.uri, "--mesh", "1"], capture_output=True).returncode, 0)

    def test_an_endpoint_that_does_not_answer(self):
        environment = dict(os.environ, AWS_ACCESS_KEY_ID="k", AWS_SECRET_ACCESS_KEY="very-secret")
        done = self.run_cli("info", "s3://bucket/x", "--endpoint", "http://127.0.0.1:1", "--timeout", "2", code=5,
                            env=environment)
        self.assertIn(b"127.0.0.1:1", done.stderr)
        self.assertNotIn(b"very-secret", done.stderr)

    def test_streams_that_say_no(self):
        self.make_stream()
        self.fails("init", self.uri, "--mesh", "2x2", code=4, says="already")
        self.run_cli("init", self.uri, "--mesh", "2x2", "--producers", "a", "--if-missing")
        self.fails("init", self.uri, "--mesh", "4x2", "--if-missing", code=4, says="mesh")
        self.fails("produce", self.uri, "--name", "a", code=4, says="sealed")

    def test_damage_and_newer_formats(self):
        self.make_stream()
        os.remove(self.data_object())
        done = self.run_cli("consume", self.uri, code=6)
        self.assertIn(b"lakestream verify", done.stderr)
        path = os.path.join(self.uri, "stream.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"format": 1', '"format": 2'))
        self.fails("info", self.uri, code=4, says="upgrade")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[:40])
        self.fails("info", self.uri, code=6, says="stream.json")

    def test_time_is_up(self):
        self.run_cli("init", self.uri, "--mesh", "1")
        done = self.run_cli("consume", self.uri, "--timeout", "0.2", code=5)
        self.assertIn(b"step 0", done.stderr)

    def test_an_interrupt_ends_cleanly(self):
        self.run_cli("init", self.uri, "--mesh", "1")
        for number in (signal.SIGINT, signal.SIGTERM):
            waiting = subprocess.Popen([BINARY, "consume", self.uri, "--timeout", "0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            time.sleep(0.3)
            waiting.send_signal(number)
            _, err = waiting.communicate(timeout=20)
            self.assertEqual(waiting.returncode, 130)
            self.assertEqual(err, b"lakestream: interrupted\n")

    def test_a_reader_that_goes_away_is_no_error(self):
        self.make_stream(tgbs=40)
        shell = f"'{BINARY}' tail '{self.uri}' --from 1 --json | head -n 1"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", shell], capture_output=True, timeout=30)
        self.assertEqual(done.stderr, b"")

    def test_bash_completes_commands_and_flags(self):
        """The script that `completion` prints, in a real bash: the words that a press of Tab would offer."""
        def offered(*words):
            quoted = " ".join(f"'{word}'" for word in words)
            shell = (f"lakestream() {{ '{BINARY}' \"$@\"; }}; source <(lakestream completion); "
                     f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _lakestream; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
            done = subprocess.run(["bash", "-c", shell], capture_output=True, timeout=30, check=True)
            self.assertEqual(done.stderr, b"")
            return done.stdout.decode().split()

        self.assertLessEqual({command.split()[0] for command in COMMANDS}, set(offered("lakestream", "")))
        self.assertEqual(offered("lakestream", "ver"), ["verify"])
        self.assertEqual(offered("lakestream", "branch", ""), ["create", "list", "delete"])
        self.assertEqual(offered("lakestream", "checkpoint", "un"), ["unpin"])
        self.assertIn("--note", offered("lakestream", "checkpoint", "create", "x", "--no"))
        self.assertIn("--json", offered("lakestream", "info", "--j"))


if __name__ == "__main__":
    unittest.main(verbosity=1)

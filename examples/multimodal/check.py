#!/usr/bin/env python3
"""The independent check of the main job.

  check.py --stream FOLDER --data FOLDER --bin FOLDER --logs FOLDER --out FILE
           --seed S --items video=N,image=N,text=N

Reads the stream with tools/reader (no Lakestream), works out what it must hold from the source
files with expected.py and demo_expected (no Lakestream either), and compares both with what each
rank wrote down. Writes its findings as JSON; exits with 1 if anything is wrong.

What is recomputed how:
- who every item is, the packing and the cut over context parallelism: here, in Python, for all items;
- text: here, for all items: the tokens in the stream decode to the bytes of the source;
- pictures and video: demo_expected decodes all items from the source files, with the same decoding
  libraries as the producers but videos from start to end; a sample of the pictures is decoded once
  more here, with djpeg and a resize in plain Python;
- hashes: of every item part here from the stored objects, compared with the producer's, the rank's
  and the expected one.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import xxhash

import expected

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "reader"))
from formats import read_tensors, values
from stream_reader import StreamReader

FIELDS = {"video": "frames", "image": "pixels", "text": "tokens"}
UNIT_BYTES = {"video": 160 * 90 * 3, "image": 224 * 3, "text": 4}
PICTURE_SAMPLE = 16


def hex64(data):
    return xxhash.xxh3_64_hexdigest(data)


class Findings:
    """Counts by kind, and the first few in words."""

    def __init__(self):
        self.counts = Counter()
        self.examples = []

    def add(self, kind, text):
        self.counts[kind] += 1
        if len(self.examples) < 20:
            self.examples.append(f"{kind}: {text}")


class Expectation:
    """Output of demo_expected for one kind, read while it runs beside us."""

    def __init__(self, arguments, kind, count):
        self.kind, self.steps, self.items = kind, [], {}
        self.path = Path(arguments.logs) / f"expected-{kind}.jsonl"
        command = [
            f"{arguments.bin}/demo_expected", "--data", arguments.data, "--kind", kind,
            "--items", str(count), "--seed", str(arguments.seed), "--dp", "4", "--cp", "2",
        ]  # fmt: skip
        self.process = subprocess.Popen(command, stdout=self.path.open("wb"))

    def finish(self):
        if self.process.wait() != 0:
            raise SystemExit(f"check.py: demo_expected failed for {self.kind}")
        for line in self.path.open():
            entry = json.loads(line)
            if "step" in entry:
                self.steps.append((entry["next"], entry["rows"]))
            else:
                self.items[entry["id"]] = entry


def read_parts(payload, kind):
    """[(id, start, length, stated hash, bytes)] of one slice."""
    metadata, tensors = read_tensors(payload)
    if metadata.get("kind") != kind:
        raise ValueError(f"a slice of kind {metadata.get('kind')}")
    ids, starts = values(tensors, "item_ids"), values(tensors, "starts")
    lengths, hashes = values(tensors, "lengths"), values(tensors, "hashes")
    offsets = values(tensors, FIELDS[kind] + "#offsets")
    data, unit = tensors[FIELDS[kind]][2], UNIT_BYTES[kind]
    if not len(ids) == len(starts) == len(lengths) == len(hashes) == len(offsets) - 1:
        raise ValueError("tensors of different lengths")
    return [
        (ids[i], starts[i], lengths[i], f"{hashes[i]:016x}", data[offsets[i] * unit : offsets[i + 1] * unit])
        for i in range(len(ids))
    ]


class Checker:
    def __init__(self, arguments, counts):
        self.arguments, self.counts = arguments, counts
        self.findings = Findings()
        self.expectations = {k: Expectation(arguments, k, n) for k, n in counts.items()}
        self.identities = expected.Identities(arguments.data, arguments.seed)
        self.pieces = expected.Pieces(Path(arguments.data) / "prepared" / "tokenizer.model")
        self.reader = StreamReader(arguments.stream)
        self.seen = Counter()  # (item, cp) -> times in the stream
        self.stored = {}  # step -> {(dp, cp): (payload hash, [(id, start, length, hash)])}
        self.sampled = 0

    # Expectation: two implementations must agree before it is worth anything.

    def check_expectation(self):
        for kind, expectation in self.expectations.items():
            expectation.finish()
            units = []
            for k in range(self.counts[kind]):
                item = expectation.items.get(expected.item_id(kind, k))
                if item is None or item["identity"] != self.identities.of(kind, k):
                    self.findings.add("identity_errors", f"{kind} item {k}: {item}")
                    return
                units.append(item["units"])
            packed = [
                (following, [[expected.item_id(kind, k) for k in row] for row in rows])
                for following, rows in expected.pack(kind, units, self.reader.dp)
            ]
            if packed != expectation.steps:
                self.findings.add("identity_errors", f"{kind}: packings differ")

    # The stream as it is stored.

    def check_stream(self):
        positions = Counter()
        for step, producer, frames in self.reader.steps():
            position = positions[producer]
            positions[producer] += 1
            if len(frames) != self.reader.slices:
                self.findings.add("torn_steps", f"step {step} lacks slices")
                continue
            try:
                self._check_step(step, producer, position, frames)
            except (ValueError, KeyError) as problem:
                self.findings.add("content_errors", f"step {step} of {producer}: {problem}")
        if not self.reader.sealed:
            self.findings.add("order_mismatches", "the stream is not sealed")
        for kind, expectation in self.expectations.items():
            if positions[kind] != len(expectation.steps):
                text = f"{kind}: {positions[kind]} steps instead of {len(expectation.steps)}"
                self.findings.add("order_mismatches", text)
            row = self.reader.rows.get(kind, {})
            cursor = f'{{"next":{self.counts[kind]},"tgbs":{len(expectation.steps)}}}'
            if row.get("state") != cursor.encode():
                self.findings.add("order_mismatches", f"{kind}: last state is {row.get('state')}")

    def _check_step(self, step, kind, position, frames):
        expectation = self.expectations[kind]
        if position >= len(expectation.steps):
            raise ValueError("more steps than expected")
        self.stored[step] = {}
        for dp in range(self.reader.dp):
            parts = [read_parts(frames[dp, cp], kind) for cp in range(self.reader.cp)]
            ids = [[part[0] for part in each] for each in parts]
            if any(each != ids[0] for each in ids):
                self.findings.add("torn_steps", f"step {step} dp {dp}: parts of different items")
            if ids[0] != expectation.steps[position][1][dp]:
                self.findings.add("order_mismatches", f"step {step} dp {dp}: other items than packed")
            for cp, each in enumerate(parts):
                described = [self._check_part(step, kind, cp, part) for part in each]
                self.stored[step][dp, cp] = (hex64(frames[dp, cp]), described)
            for group in zip(*parts):
                self._check_whole(kind, group)

    def _check_part(self, step, kind, cp, part):
        item, start, length, stated, data = part
        self.seen[item, cp] += 1
        actual = hex64(data)
        known = self.expectations[kind].items.get(item)
        if known is None:
            self.findings.add("items_unexpected", f"step {step}: item {item}")
        elif actual != known["hashes"][cp] or length != known["units"]:
            self.findings.add("content_errors", f"step {step}: item {item} cp {cp} differs from its source")
        if actual != stated:
            self.findings.add("checksum_errors", f"step {step}: item {item} cp {cp} differs from its hash")
        begin, end = (expected.cp_start(length, self.reader.cp, p) for p in (cp, cp + 1))
        if start != begin or len(data) != (end - begin) * UNIT_BYTES[kind]:
            self.findings.add("torn_steps", f"step {step}: item {item} cp {cp} is another part")
        return [item, start, length, actual]

    def _check_whole(self, kind, group):
        item = group[0][0]
        k = item & ((1 << 48) - 1)
        if kind == "text":
            tokens = memoryview(b"".join(part[4] for part in group)).cast("i")
            if self.pieces.decode(tokens) != self.identities.text_of(k):
                self.findings.add("content_errors", f"text item {k}: its tokens are not its source")
        if kind == "image" and k % max(self.counts["image"] // PICTURE_SAMPLE, 1) == 0:
            pixels = expected.decode_crop(self.arguments.data, self.identities.of("image", k))
            self.sampled += 1
            if pixels != b"".join(part[4] for part in group):
                self.findings.add("content_errors", f"image item {k}: djpeg gives other pixels")

    def check_items(self):
        totals = {"items_total": 0, "items_missing": 0, "items_duplicated": 0}
        for expectation in self.expectations.values():
            for item in expectation.items:
                times = [self.seen[item, cp] for cp in range(self.reader.cp)]
                totals["items_total"] += 1
                totals["items_missing"] += min(times) == 0
                totals["items_duplicated"] += max(times) > 1
        return totals

    # What the ranks wrote down.

    def check_ranks(self):
        ranks, sequences = {}, []
        for dp in range(self.reader.dp):
            for cp in range(self.reader.cp):
                name = f"dp{dp}-cp{cp}"
                lines = [json.loads(x) for x in (Path(self.arguments.logs) / f"rank-{name}.log").open()]
                sequences.append([line["step"] for line in lines])
                ranks[name] = {"steps": len(lines), "parts": sum(len(x["items"]) for x in lines)}
                for line in lines:
                    self._check_line(name, line, self.stored.get(line["step"], {}).get((dp, cp)))
        wanted = list(range(self.reader.next_step))
        for name, sequence in zip(ranks, sequences):
            if sequence != wanted:
                self.findings.add("order_mismatches", f"rank {name} did not see 0..{len(wanted) - 1} in order")
        for step in set(wanted) - set.intersection(*map(set, sequences)):
            self.findings.add("torn_steps", f"step {step} was not seen by every rank")
        return ranks

    def _check_line(self, name, line, stored):
        if stored is None:
            self.findings.add("order_mismatches", f"rank {name}: step {line['step']} is not in the stream")
        elif line["payload"] != stored[0] or line["items"] != stored[1]:
            self.findings.add("checksum_errors", f"rank {name}: read other bytes at step {line['step']}")

    def run(self):
        self.reader.read_log()
        self.check_expectation()
        self.check_stream()
        for _, where, what in self.reader.errors:
            self.findings.add("checksum_errors", f"{where}: {what}")
        result = self.check_items()
        result["by_rank"] = self.check_ranks()
        result["by_producer"] = {
            kind: {"items": n, "steps": len(self.expectations[kind].steps)}
            for kind, n in self.counts.items()
        }
        for kind in (
            "torn_steps", "order_mismatches", "checksum_errors", "content_errors", "identity_errors",
            "items_unexpected",
        ):  # fmt: skip
            result[kind] = self.findings.counts[kind]
        result.update(
            steps=self.reader.next_step,
            commits=self.reader.versions,
            commits_by_session={str(s): n for s, n in self.reader.commits_by_session.items()},
            data_bytes_checked=self.reader.bytes_checked,
            slice_bytes=self.reader.log.slice_bytes,
            orphans=self.reader.orphans(),
            pictures_decoded_twice=self.sampled,
            findings=self.findings.examples,
        )
        bad = sum(self.findings.counts.values()) + result["items_missing"] + result["items_duplicated"]
        result["holds"] = bad == 0 and result["items_total"] > 0
        return result


def main():
    parser = argparse.ArgumentParser(description="The independent check of the main job.")
    for name in ("stream", "data", "bin", "logs", "out", "items"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--seed", type=int, required=True)
    arguments = parser.parse_args()
    counts = {k: int(n) for k, n in (pair.split("=") for pair in arguments.items.split(","))}
    result = Checker(arguments, counts).run()
    Path(arguments.out).write_text(json.dumps(result, indent=2) + "\n")
    return 0 if result["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())

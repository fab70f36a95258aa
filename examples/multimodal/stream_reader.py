"""A second reader of Lakestream's formats, written from docs/format/ alone.

It shares nothing with the library: Python's standard library, and xxhash for the checksums. It reads
a stream that lies in a folder, checks all that can be checked, and collects what is wrong instead of
stopping, so that a report can say how much is.
"""

import json
import struct
from pathlib import Path

import xxhash

UNIT = 64
KINDS = {1: "open", 2: "publish", 3: "finish", 4: "seal"}
DTYPES = {"U8": ("B", 1), "I32": ("i", 4), "I64": ("q", 8), "U64": ("Q", 8)}


class FormatError(Exception):
    """Bytes that are not what the format pages say."""


def checksum(data):
    return xxhash.xxh3_64_intdigest(data)


class Bytes:
    """A cursor over bytes. Reading past the end is a FormatError."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def raw(self, size):
        if size > len(self.data) - self.at:
            raise FormatError("cut short")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.raw(struct.calcsize("<" + form)))[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.raw(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise FormatError("a varint of more than ten bytes")

    def done(self):
        if self.at != len(self.data):
            raise FormatError("bytes left over")


def open_frame(data, magic):
    if len(data) < 20 or data[:8] != magic:
        raise FormatError(f"does not begin with {magic.decode()}")
    (size,) = struct.unpack_from("<I", data, 8)
    if len(data) != size + 20:
        raise FormatError("its length is not the one that it states")
    if struct.unpack_from("<Q", data, 12 + size)[0] != checksum(data[: 12 + size]):
        raise FormatError("checksum")
    return data[12 : 12 + size]


def read_layout(cursor, slices):
    """(tgb count, sizes in bytes of all frames in (cp, dp, TGB) order)."""
    count = cursor.varint()
    sizes = []
    for _ in range(cursor.varint()):
        length = cursor.varint()
        units = cursor.varint()
        if length > count * slices - len(sizes):
            raise FormatError("a layout of too many frames")
        sizes += [units * UNIT] * length
    if len(sizes) != count * slices or count == 0 or 0 in sizes:
        raise FormatError("a layout that does not fit the mesh")
    return count, sizes


def read_state(cursor):
    kind = cursor.number("B")
    if kind == 0:
        return b""
    if kind == 1:
        return bytes(cursor.raw(cursor.varint()))
    if kind == 2:
        return ("extent", cursor.varint(), cursor.varint(), cursor.number("Q"))
    raise FormatError(f"state of kind {kind}")


def read_change(cursor, slices):
    kind = KINDS.get(cursor.number("B"))
    body = Bytes(cursor.raw(cursor.varint()))
    change = {"kind": kind}
    if kind == "open":
        change["producer"] = bytes(body.raw(body.varint())).decode()
        change["expected_session"] = body.varint()
    elif kind == "publish":
        change.update(session=body.varint(), object=body.varint(), first_sequence=body.varint())
        change["count"], change["sizes"] = read_layout(body, slices)
        change["object_bytes"] = body.varint()
        change["state"] = read_state(body)
    elif kind == "finish":
        change["session"] = body.varint()
    elif kind is None:
        raise FormatError("a change of unknown kind")
    body.done()
    return change


def read_tensors(payload):
    """Safetensors: (metadata, {name: (dtype, shape, bytes)})."""
    if len(payload) < 8:
        raise FormatError("a payload without a header")
    (size,) = struct.unpack_from("<Q", payload)
    if size > len(payload) - 8:
        raise FormatError("a safetensors header beyond the payload")
    header = json.loads(bytes(payload[8 : 8 + size]))
    metadata = header.pop("__metadata__", {})
    area = payload[8 + size :]
    tensors = {}
    for name, info in header.items():
        begin, end = info["data_offsets"]
        elements = 1
        for n in info["shape"]:
            elements *= n
        if not 0 <= begin <= end <= len(area) or end - begin != elements * DTYPES[info["dtype"]][1]:
            raise FormatError(f"tensor {name} does not fit its place")
        tensors[name] = (info["dtype"], info["shape"], area[begin:end])
    return metadata, tensors


def values(tensors, name):
    dtype, _, data = tensors[name]
    return struct.unpack(f"<{len(data) // DTYPES[dtype][1]}{DTYPES[dtype][0]}", data)


class StreamReader:
    """The whole stream below a folder. `errors` holds (kind, where, what)."""

    def __init__(self, root):
        self.root = Path(root)
        self.info = json.loads((self.root / "stream.json").read_text())
        self.dp = self.info["mesh"]["dp"]
        self.cp = self.info["mesh"]["cp"]
        self.slices = self.dp * self.cp
        self.errors = []
        self.versions = 0
        self.sealed = False
        self.rows = {}  # producer -> {session, next_sequence, finished, tgbs, state}
        self.entries = []  # (first step, producer, publish change), in step order
        self.next_step = 0
        self.commits_by_session = {}
        self.bytes_checked = 0

    def error(self, kind, where, what):
        self.errors.append((kind, where, what))

    # The log ------------------------------------------------------------------------------------

    def read_log(self):
        names = sorted(p.name for p in (self.root / "log" / "main").iterdir())
        if names != [f"{v:020d}" for v in range(1, len(names) + 1)]:
            self.error("gap", "log/main", "versions are not 1, 2, 3, ... without a gap")
        previous = xxhash.xxh3_128_digest(bytes.fromhex(self.info["uuid"]))
        for version, name in enumerate(names, start=1):
            where = f"log/main/{name}"
            data = (self.root / where).read_bytes()
            try:
                self._apply(version, Bytes(open_frame(data, b"LSLOG001")), previous)
            except (FormatError, KeyError, UnicodeDecodeError) as problem:
                self.error("record", where, str(problem))
                return
            previous = xxhash.xxh3_128_digest(data)
            self.versions = version

    def _apply(self, version, body, previous):
        if bytes(body.raw(16)).hex() != self.info["uuid"]:
            raise FormatError("belongs to another stream")
        if body.number("Q") != version:
            raise FormatError("states another version")
        if bytes(body.raw(16)) != previous:
            raise FormatError("the hash chain is broken")
        body.raw(16 + 8)  # commit id, writer's clock
        first_step, next_step = body.number("Q"), body.number("Q")
        if first_step != self.next_step:
            raise FormatError(f"begins at step {first_step} instead of {self.next_step}")
        sessions = set()
        for _ in range(body.varint()):
            change = read_change(body, self.slices)
            getattr(self, "_" + change["kind"])(change)
            if "session" in change:
                sessions.add(change["session"])
        body.done()
        if self.next_step != next_step:
            raise FormatError("its changes do not lead to the step that it states")
        for session in sessions:
            self.commits_by_session[session] = self.commits_by_session.get(session, 0) + 1

    def _open(self, change):
        row = self.rows.setdefault(
            change["producer"], {"session": 0, "tgbs": 0, "state": b"", "finished": False}
        )
        if row["session"] != change["expected_session"] or self.sealed:
            raise FormatError("an open that is not valid")
        row["session"] = 1 + max(r["session"] for r in self.rows.values())
        row["next_sequence"] = 0
        row["finished"] = False

    def _row_of(self, session):
        for producer, row in self.rows.items():
            if row["session"] == session:
                return producer, row
        raise FormatError(f"session {session} is not current: a zombie's change")

    def _publish(self, change):
        producer, row = self._row_of(change["session"])
        if change["first_sequence"] != row["next_sequence"] or self.sealed:
            raise FormatError("a publish out of sequence")
        self.entries.append((self.next_step, producer, change))
        row["next_sequence"] += change["count"]
        row["tgbs"] += change["count"]
        row["state"] = change["state"]
        self.next_step += change["count"]

    def _finish(self, change):
        self._row_of(change["session"])[1]["finished"] = True
        declared = self.info["producers"]
        if declared and all(self.rows.get(p, {}).get("finished") for p in declared):
            self.sealed = True

    def _seal(self, _change):
        self.sealed = True

    # Data objects -------------------------------------------------------------------------------

    def steps(self):
        """Yields (step, producer, {(dp, cp): payload or None}); what is damaged is reported."""
        for first_step, producer, entry in self.entries:
            where = f"data/main/{entry['session']:020d}-{entry['object']:010d}.tgb"
            frames = [{} for _ in range(entry["count"])]
            try:
                data = memoryview((self.root / where).read_bytes())
                self._read_object(where, data, producer, entry, frames)
            except (OSError, FormatError, struct.error) as problem:
                self.error("object", where, str(problem))
            for ordinal, frame in enumerate(frames):
                yield first_step + ordinal, producer, frame

    def _read_object(self, where, data, producer, entry, frames):
        self._check_header(data, entry)
        offset = UNIT
        sizes = iter(entry["sizes"])
        for cp in range(self.cp):
            for dp in range(self.dp):
                for ordinal in range(entry["count"]):
                    size = next(sizes)
                    place = (entry["session"], entry["object"], ordinal, dp, cp)
                    try:
                        frame = data[offset : offset + size]
                        frames[ordinal][dp, cp] = self._open_slice(frame, place)
                    except (FormatError, struct.error) as problem:
                        self.error("slice", where, f"TGB {ordinal} dp {dp} cp {cp}: {problem}")
                    offset += size
        self._check_footer(data, producer, entry)
        self.bytes_checked += len(data)

    def _check_header(self, data, entry):
        magic, form, reserved, uuid, session, number, dp, cp, count, check = struct.unpack_from(
            "<8sII16sQIIIIQ", data
        )
        if magic != b"LSDATA01" or check != checksum(data[:56]):
            raise FormatError("a damaged object header")
        expected = (1, 0, self.info["uuid"], entry["session"], entry["object"])
        if (form, reserved, uuid.hex(), session, number) != expected:
            raise FormatError("the header is another object's")
        if (dp, cp, count) != (self.dp, self.cp, entry["count"]):
            raise FormatError("the header does not fit the manifest's entry")
        if len(data) != entry["object_bytes"]:
            raise FormatError("the object is not as long as the manifest says")

    def _open_slice(self, frame, place):
        magic, form, codec, session, number, ordinal, dp, cp, stored, raw, payload_check, check = (
            struct.unpack_from("<4sHHQIIIIQQQQ", frame)
        )
        if magic != b"LSSL" or form != 1 or check != checksum(frame[:56]):
            raise FormatError("a damaged slice header")
        if (session, number, ordinal, dp, cp) != place:
            raise FormatError("the slice is another one")
        if codec != 0:
            raise FormatError("a compressed slice, which the demo does not write")
        if raw != stored or (UNIT + stored + UNIT - 1) // UNIT * UNIT != len(frame):
            raise FormatError("the slice's length does not fit its frame")
        payload = frame[UNIT : UNIT + stored]
        if checksum(payload) != payload_check:
            raise FormatError("the payload's checksum")
        return payload

    def _check_footer(self, data, producer, entry):
        magic, at, size, body_check, length, _, check = struct.unpack(
            "<8sQQQQ16sQ", data[len(data) - UNIT :]
        )
        if magic != b"LSDATAFT" or check != checksum(data[len(data) - UNIT : len(data) - 8]):
            raise FormatError("a damaged footer")
        body = data[at : at + size]
        if length != len(data) or checksum(body) != body_check:
            raise FormatError("a damaged footer body")
        cursor = Bytes(body)
        if bytes(cursor.raw(cursor.varint())).decode() != producer:
            raise FormatError("the footer names another producer")
        if cursor.varint() != entry["first_sequence"]:
            raise FormatError("the footer states another sequence")
        if read_layout(cursor, self.slices) != (entry["count"], entry["sizes"]):
            raise FormatError("the footer states another layout")
        if read_state(cursor) != entry["state"]:
            raise FormatError("the footer states another state")
        cursor.done()

    def orphans(self):
        """Data objects that no entry names: what a killed producer uploaded but did not commit."""
        named = {f"{e['session']:020d}-{e['object']:010d}.tgb" for _, _, e in self.entries}
        return sorted(p.name for p in (self.root / "data" / "main").iterdir() if p.name not in named)

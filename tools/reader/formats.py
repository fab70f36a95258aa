"""The bytes of a stream's objects, read as docs/format/ says. Shares nothing with the library.

Python's standard library, and xxhash for the checksums.
"""

import json
import struct

import xxhash

UNIT = 64
KINDS = {
    1: "open", 2: "publish", 3: "finish", 4: "seal", 5: "begin", 6: "trim", 7: "fork", 8: "fence",
    9: "attach", 10: "detach", 13: "complete", 14: "drop", 15: "pin", 16: "close", 17: "forget",
}  # fmt: skip
DTYPES = {"U8": ("B", 1), "I32": ("i", 4), "I64": ("q", 8), "U64": ("Q", 8)}


class FormatError(Exception):
    """Bytes that are not what the format pages say."""


def checksum(data):
    return xxhash.xxh3_64_intdigest(data)


def hash128(data):
    return xxhash.xxh3_128_digest(data)


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

    def string(self):
        return bytes(self.raw(self.varint())).decode()

    def done(self):
        if self.at != len(self.data):
            raise FormatError("bytes left over")


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def string(text):
    data = text.encode()
    return varint(len(data)) + data


def open_frame(data, magic):
    if len(data) < 20 or data[:8] != magic:
        raise FormatError(f"does not begin with {magic.decode()}")
    (size,) = struct.unpack_from("<I", data, 8)
    if len(data) != size + 20:
        raise FormatError("its length is not the one that it states")
    if struct.unpack_from("<Q", data, 12 + size)[0] != checksum(data[: 12 + size]):
        raise FormatError("checksum")
    return data[12 : 12 + size]


def make_frame(magic, body):
    front = magic + struct.pack("<I", len(body)) + body
    return front + struct.pack("<Q", checksum(front))


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
    """The state's bytes, or ("extent", offset, size, checksum) in the data object."""
    kind = cursor.number("B")
    if kind == 0:
        return b""
    if kind == 1:
        return bytes(cursor.raw(cursor.varint()))
    if kind == 2:
        return ("extent", cursor.varint(), cursor.varint(), cursor.number("Q"))
    raise FormatError(f"state of kind {kind}")


def _publish(body, slices):
    change = {"raw": bytes(body.data)}
    change.update(session=body.varint(), object=body.varint(), first_sequence=body.varint())
    change["count"], change["sizes"] = read_layout(body, slices)
    change["object_bytes"] = body.varint()
    state_at = body.at
    change["state"] = read_state(body)
    change["state_raw"] = bytes(body.data[state_at:])
    return change


# The fields of each kind of change, in their order.
FIELDS = {
    "open": (("producer", "string"), ("expected", "varint")),
    "finish": (("session", "varint"),),
    "seal": (),
    "begin": (
        ("name", "string"), ("attempt", "string"), ("step", "varint"), ("parts", "varint"),
        ("pinned", "u8"), ("note", "string"), ("time", "u64"),
    ),
    "trim": (("step", "varint"),),
    "fork": (("branch", "string"), ("step", "varint")),
    "fence": (("producer", "string"), ("expected", "varint")),
    "attach": (("job", "string"), ("run", "string"), ("ranks", "varint"), ("start", "varint"), ("time", "u64")),
    "detach": (("job", "string"), ("run", "string")),
    "complete": (("name", "string"), ("begun", "varint")),
    "drop": (("name", "string"), ("begun", "varint")),
    "pin": (("name", "string"), ("begun", "varint"), ("pinned", "u8")),
    "close": (),
    "forget": (("branch", "string"),),
}  # fmt: skip
READERS = {
    "string": Bytes.string, "varint": Bytes.varint,
    "u8": lambda cursor: cursor.number("B"), "u64": lambda cursor: cursor.number("Q"),
}  # fmt: skip


def read_change(cursor, slices):
    number = cursor.number("B")
    body = Bytes(cursor.raw(cursor.varint()))
    kind = KINDS.get(number)
    if kind is None:
        raise FormatError(f"a change of kind {number}, which is not known")
    if kind == "publish":
        change = _publish(body, slices)
    else:
        change = {name: READERS[form](body) for name, form in FIELDS[kind]}
    change["kind"] = kind
    body.done()
    return change


def read_record(data, slices):
    body = Bytes(open_frame(data, b"LSLOG001"))
    record = {
        "uuid": bytes(body.raw(16)).hex(),
        "version": body.number("Q"),
        "previous": bytes(body.raw(16)),
        "commit_id": bytes(body.raw(16)),
        "time": body.number("Q"),
        "first_step": body.number("Q"),
        "next_step": body.number("Q"),
    }
    record["changes"] = [read_change(body, slices) for _ in range(body.varint())]
    body.done()
    if not record["changes"]:
        raise FormatError("a record without changes")
    return record


def read_branch(data):
    body = Bytes(open_frame(data, b"LSBRCH01"))
    branch = {
        "uuid": bytes(body.raw(16)).hex(), "name": body.string(), "parent": body.string(),
        "step": body.varint(), "version": body.varint(), "trim_step": body.varint(),
        "root": bytes(body.raw(16)),
    }  # fmt: skip
    body.done()
    return branch


def read_boundary(data):
    body = Bytes(open_frame(data, b"LSBNDR01"))
    boundary = {"uuid": bytes(body.raw(16)).hex()}
    for name in ("decided_at", "snapshot", "first_step", "settled_step"):
        boundary[name] = body.varint()
    boundary["closed"] = body.number("B")
    body.done()
    return boundary


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


class DataObject:
    """One data object, checked against its entry in the manifest.

    `slices` is a list by TGB of {(dp, cp): payload}; `problems` says what is wrong.
    """

    def __init__(self, data, info, producer, entry):
        self.data, self.entry = memoryview(data), entry
        self.dp, self.cp, self.uuid = info["mesh"]["dp"], info["mesh"]["cp"], info["uuid"]
        self.slices = [{} for _ in range(entry["count"])]
        self.problems = []
        for check in (self._check_header, self._read_slices, lambda: self._check_footer(producer)):
            try:
                check()
            except (FormatError, struct.error) as problem:
                self.problems.append(str(problem))

    def state(self):
        """The producer's state behind the last TGB."""
        state = self.entry["state"]
        if not isinstance(state, tuple):
            return state
        _, offset, size, check = state
        block = bytes(self.data[offset : offset + size])
        if len(block) != size or checksum(block) != check:
            raise FormatError("the state block's checksum")
        return block

    def _check_header(self):
        magic, form, reserved, uuid, session, number, dp, cp, count, check = struct.unpack_from(
            "<8sII16sQIIIIQ", self.data
        )
        if magic != b"LSDATA01" or check != checksum(self.data[:56]):
            raise FormatError("a damaged object header")
        expected = (1, 0, self.uuid, self.entry["session"], self.entry["object"])
        if (form, reserved, uuid.hex(), session, number) != expected:
            raise FormatError("the header is another object's")
        if (dp, cp, count) != (self.dp, self.cp, self.entry["count"]):
            raise FormatError("the header does not fit the manifest's entry")
        if len(self.data) != self.entry["object_bytes"]:
            raise FormatError("the object is not as long as the manifest says")

    def _read_slices(self):
        offset = UNIT
        sizes = iter(self.entry["sizes"])
        for cp in range(self.cp):
            for dp in range(self.dp):
                for ordinal in range(self.entry["count"]):
                    size = next(sizes)
                    place = (self.entry["session"], self.entry["object"], ordinal, dp, cp)
                    try:
                        self.slices[ordinal][dp, cp] = open_slice(self.data[offset : offset + size], place)
                    except (FormatError, struct.error) as problem:
                        self.problems.append(f"slice of TGB {ordinal} dp {dp} cp {cp}: {problem}")
                    offset += size

    def _check_footer(self, producer):
        tail = self.data[len(self.data) - UNIT :]
        magic, at, size, body_check, length, _, check = struct.unpack("<8sQQQQ16sQ", tail)
        if magic != b"LSDATAFT" or check != checksum(tail[:56]):
            raise FormatError("a damaged footer")
        body = self.data[at : at + size]
        if length != len(self.data) or checksum(body) != body_check:
            raise FormatError("a damaged footer body")
        cursor = Bytes(body)
        if cursor.string() != producer:
            raise FormatError("the footer names another producer")
        if cursor.varint() != self.entry["first_sequence"]:
            raise FormatError("the footer states another sequence")
        if read_layout(cursor, self.dp * self.cp) != (self.entry["count"], self.entry["sizes"]):
            raise FormatError("the footer states another layout")
        if read_state(cursor) != self.entry["state"]:
            raise FormatError("the footer states another state")
        cursor.done()


def open_slice(frame, place):
    magic, form, codec, session, number, ordinal, dp, cp, stored, raw, payload_check, check = (
        struct.unpack_from("<4sHHQIIIIQQQQ", frame)
    )
    if magic != b"LSSL" or form != 1 or check != checksum(frame[:56]):
        raise FormatError("a damaged slice header")
    if (session, number, ordinal, dp, cp) != place:
        raise FormatError("the slice is another one")
    if codec != 0:
        raise FormatError("a compressed slice, which this reader does not open")
    if raw != stored or (UNIT + stored + UNIT - 1) // UNIT * UNIT != len(frame):
        raise FormatError("the slice's length does not fit its frame")
    payload = frame[UNIT : UNIT + stored]
    if checksum(payload) != payload_check:
        raise FormatError("the payload's checksum")
    return payload

"""What the stream must hold, from the source files and the seed: a second implementation in Python.

Covers who each item is (epoch, source, crop, clip, segment), the text itself, the packing and the
cut over context parallelism. Decoding of pictures and video is left to demo_expected (C++, without
Lakestream); a sample of the pictures is decoded here with libjpeg's own djpeg.
"""

import gzip
import re
import struct
import subprocess
import zlib
from pathlib import Path

MASK = (1 << 64) - 1
KIND_NUMBERS = {"video": 1, "image": 2, "text": 3}
EPOCH_ORDER, ITEM, SEGMENTS = 1, 2, 3
VIDEOS = ["video/cockatoo.mp4", "video/cityCC0.mpg", "video/realshort.mp4"]
TILE, SIDE = 512, 224
BUDGETS = {"video": 16, "image": 3 * SIDE, "text": 8192}


class SplitMix64:
    def __init__(self, state):
        self.state = state

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, limit):
        return ((self.next() >> 32) * limit) >> 32


def keyed(seed, kind, purpose, index):
    key = seed
    for value in (KIND_NUMBERS[kind], purpose, index):
        key = SplitMix64(key ^ value).next()
    return SplitMix64(key)


def epoch_order(seed, kind, epoch, count):
    order = list(range(count))
    random = keyed(seed, kind, EPOCH_ORDER, epoch)
    for i in range(count, 1, -1):
        j = random.below(i)
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


def item_id(kind, k):
    return KIND_NUMBERS[kind] << 48 | k


def cp_start(units, cp, position):
    return units // cp * position + min(position, units % cp)


# Text ---------------------------------------------------------------------------------------------


class RReader:
    """R's XDR serialisation, as far as lists, numbers and strings go."""

    def __init__(self, data):
        assert data[:2] == b"X\n", "not R's XDR serialisation"
        self.data, self.at, self.symbols = data, 2, []
        version, _, _ = self.int(), self.int(), self.int()
        if version == 3:
            self.raw(self.int())

    def int(self):
        self.at += 4
        return struct.unpack_from(">i", self.data, self.at - 4)[0]

    def raw(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def read(self):
        """None, bytes, list, or {name: value} where names are given."""
        flags = self.int()
        kind = flags & 0xFF
        if kind == 254:
            return None
        if kind == 255:
            return self.symbols[(flags >> 8) - 1]
        if kind == 1:
            self.symbols.append(self.read())
            return self.symbols[-1]
        if kind == 2:
            pairs = {}
            tag = self.read() if flags & 0x400 else None
            pairs[tag] = self.read()
            pairs.update(self.read() or {})
            return pairs
        if kind == 9:
            size = self.int()
            return b"" if size == -1 else self.raw(size)
        assert kind in (10, 13, 16, 19), f"an R object of type {kind}"
        count = self.int()
        value = [self.int() if kind in (10, 13) else self.read() for _ in range(count)]
        names = self.read().get(b"names") if flags & 0x200 else None
        return dict(zip(names, value)) if names else value


def read_novels(folder):
    index = RReader(gzip.decompress((folder / "Rdata.rdx").read_bytes())).read()
    data = (folder / "Rdata.rdb").read_bytes()
    for name, (offset, size) in index[b"variables"].items():
        lines = RReader(zlib.decompress(data[offset + 4 : offset + size])).read()
        yield f"janeaustenr/{name.decode()}", b"".join(line + b"\n" for line in lines)


LINE_END = re.compile(rb"</?(?:div|title|row|item|l|lb)(?:[ /][^>]*)?>")
NOTE = re.compile(rb"<note(?: [^>]*)?(?<!/)>.*?</note>", re.DOTALL)
TAG = re.compile(rb"<[^>]*>")
ENTITY = re.compile(rb"&(amp|lt|gt|quot|apos);")
ENTITIES = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}
SPACE = re.compile(rb"[ \t\r\n]+")


def plain_text(osis):
    # "\0" marks the end of a line until white space is dealt with; it occurs in none of the texts.
    text = LINE_END.sub(b"\0", NOTE.sub(b"", osis))
    text = ENTITY.sub(lambda m: ENTITIES[m[1]], TAG.sub(b"", text))
    lines = (SPACE.sub(b" ", line).strip(b" ") for line in text.split(b"\0"))
    return b"".join(line + b"\n" for line in lines if line)


def read_sword(base, prefix):
    index = Path(str(base) + "s").read_bytes()
    data = Path(str(base) + "z").read_bytes()
    for number, (offset, stored, _) in enumerate(struct.iter_unpack("<III", index)):
        yield f"{prefix}/{number}", plain_text(zlib.decompress(data[offset : offset + stored]))


def read_documents(data):
    text = Path(data) / "text"
    documents = list(read_novels(text / "janeaustenr"))
    for module, testament, end in (
        ("mhcc", "ot", "bz"),
        ("mhcc", "nt", "bz"),
        ("tdavid", "ot", "cz"),
        ("engWEB2015eb", "ot", "bz"),
        ("engWEB2015eb", "nt", "bz"),
    ):
        documents += read_sword(text / module / f"{testament}.{end}", f"{module}/{testament}")
    return documents


def cut_segments(text, document):
    random = keyed(0, "text", SEGMENTS, document)
    begin, stops = 0, re.compile(rb"[ \n]")
    while begin < len(text):
        base = 256 << random.below(6)
        length = base + random.below(base)
        stop = stops.search(text, begin + length)
        end = stop.end() if stop else len(text)
        yield document, begin, end
        begin = end


class Pieces:
    """The vocabulary of a SentencePiece model: a protocol buffer of (piece, score, type)."""

    def __init__(self, path):
        self.pieces = []
        for field, value in self._fields(Path(path).read_bytes()):
            if field == 1:
                parts = dict(self._fields(value))
                self.pieces.append(self._bytes(parts[1], parts.get(3, 1)))

    @staticmethod
    def _fields(data):
        at = 0

        def varint():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    return value

        while at < len(data):
            key = varint()
            if key & 7 == 0:
                yield key >> 3, varint()
                continue
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            yield key >> 3, data[at : at + size]
            at += size

    @staticmethod
    def _bytes(piece, kind):
        if kind in (2, 3):  # unknown, control: no text has them
            return None
        if kind == 6:  # "<0xNN>"
            return bytes([int(piece[3:5], 16)])
        return piece.replace("\u2581".encode(), b" ")

    def decode(self, tokens):
        return b"".join(self.pieces[token] for token in tokens)


# Video --------------------------------------------------------------------------------------------


def count_mp4_frames(data):
    """The samples of the video track: the boxes moov/trak/mdia/minf with a vmhd, then stbl/stsz."""

    def boxes(begin, end):
        while begin + 8 <= end:
            size, name = struct.unpack_from(">I4s", data, begin)
            yield name, begin + 8, begin + size
            begin += max(size, 8)

    def inside(path, begin, end):
        if not path:
            yield begin, end
            return
        for name, a, b in boxes(begin, end):
            if name == path[0]:
                yield from inside(path[1:], a, b)

    for begin, end in inside([b"moov", b"trak", b"mdia", b"minf"], 0, len(data)):
        if any(name == b"vmhd" for name, _, _ in boxes(begin, end)):
            at, _ = next(inside([b"stbl", b"stsz"], begin, end))
            return struct.unpack_from(">I", data, at + 8)[0]
    return 0


def mpeg1_header_bytes(packet):
    """Stuffing, buffer size and time stamps at the beginning of a packet."""
    at = 0
    while packet[at] == 0xFF:
        at += 1
    if packet[at] >> 6 == 1:
        at += 2
    return at + {2: 5, 3: 10}.get(packet[at] >> 4, 1)


def count_mpeg_frames(data):
    """Picture start codes in the video of an MPEG program stream."""
    at, video = 0, bytearray()
    newer = data[4] >> 6 == 1  # MPEG-2
    while at + 6 <= len(data) and data[at : at + 3] == b"\0\0\1":
        code = data[at + 3]
        if code == 0xB9:
            break
        if code == 0xBA:
            at += 14 + (data[at + 13] & 7) if newer else 12
            continue
        end = at + 6 + struct.unpack_from(">H", data, at + 4)[0]
        if code == 0xE0:
            packet = data[at + 6 : end]
            video += packet[3 + packet[2] if newer else mpeg1_header_bytes(packet) :]
        at = end
    return video.count(b"\0\0\1\0")


def count_frames(path):
    data = Path(path).read_bytes()
    return count_mpeg_frames(data) if str(path).endswith(".mpg") else count_mp4_frames(data)


# Items --------------------------------------------------------------------------------------------


class Identities:
    """Who item k of each kind is."""

    def __init__(self, data, seed):
        self.data, self.seed = Path(data), seed
        self.tiles = sorted(p.name for p in (self.data / "prepared" / "tiles").glob("*.jpg"))
        self.frames = [count_frames(self.data / path) for path in VIDEOS]
        self.documents = read_documents(data)
        self.segments = [
            segment
            for number, (_, text) in enumerate(self.documents)
            for segment in cut_segments(text, number)
        ]
        self._orders = {}

    def _source(self, kind, k, count):
        epoch = k // count
        if (kind, epoch) not in self._orders:
            self._orders[kind, epoch] = epoch_order(self.seed, kind, epoch, count)
        return epoch, self._orders[kind, epoch][k % count]

    def of(self, kind, k):
        return getattr(self, "_" + kind)(k)

    def _image(self, k):
        epoch, tile = self._source("image", k, len(self.tiles))
        random = keyed(self.seed, "image", ITEM, k)
        size = SIDE + random.below(TILE - SIDE + 1)
        x, y = random.below(TILE - size + 1), random.below(TILE - size + 1)
        flip = random.below(2) == 1
        return {"epoch": epoch, "source": self.tiles[tile], "size": size, "x": x, "y": y, "flip": flip}

    def _video(self, k):
        epoch, file = self._source("video", k, len(VIDEOS))
        random = keyed(self.seed, "video", ITEM, k)
        count = 4 * (1 + random.below(4))
        first = random.below(self.frames[file] - count + 1)
        return {"epoch": epoch, "source": VIDEOS[file], "first": first, "frames": count}

    def _text(self, k):
        epoch, number = self._source("text", k, len(self.segments))
        document, begin, end = self.segments[number]
        return {"epoch": epoch, "source": self.documents[document][0], "begin": begin, "end": end}

    def text_of(self, k):
        document, begin, end = self.segments[self._source("text", k, len(self.segments))[1]]
        return self.documents[document][1][begin:end]


def decode_crop(data, identity):
    """The pixels of an image item, by djpeg and a resize in plain Python."""
    scale = 2 if identity["size"] >= 2 * SIDE else 1
    ppm = subprocess.run(
        ["djpeg", "-scale", f"1/{scale}", "-ppm", Path(data) / "prepared" / "tiles" / identity["source"]],
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    width = TILE // scale
    rgb = ppm[len(ppm) - width * width * 3 :]
    x, y, size = identity["x"] // scale, identity["y"] // scale, identity["size"] // scale
    taps = []
    for i in range(SIDE):
        place = min(max((2 * i + 1) * size * 256 // (2 * SIDE) - 128, 0), (size - 1) * 256)
        taps.append((place >> 8, min((place >> 8) + 1, size - 1), place & 255))
    columns = list(reversed(taps)) if identity["flip"] else taps
    out = bytearray()
    for top, bottom, down in taps:
        upper = rgb[((y + top) * width + x) * 3 :]
        lower = rgb[((y + bottom) * width + x) * 3 :]
        for first, second, across in columns:
            for c in range(3):
                a, b = first * 3 + c, second * 3 + c
                above = upper[a] * (256 - across) + upper[b] * across
                below = lower[a] * (256 - across) + lower[b] * across
                out.append((above * (256 - down) + below * down + 32768) >> 16)
    return bytes(out)


def place_longest_first(units, dp, budget):
    """Positions by dp slice, or None if they do not fit."""
    rows, load = [[] for _ in range(dp)], [0] * dp
    for item in sorted(range(len(units)), key=lambda i: (-units[i], i)):
        row = load.index(min(load))
        load[row] += units[item]
        if load[row] > budget and len(units) > 1:
            return None
        rows[row].append(item)
    return [sorted(row) for row in rows]


def pack(kind, units, dp):
    """The steps of items of the given lengths: (next cursor, rows of item numbers)."""
    begin = 0
    while begin < len(units):
        end, rows = begin, None
        while end < len(units):
            longer = place_longest_first(units[begin : end + 1], dp, BUDGETS[kind])
            if longer is None:
                break
            rows, end = longer, end + 1
        yield end, [[begin + i for i in row] for row in rows]
        begin = end

#!/usr/bin/python3
"""An HTTP proxy on loopback that stands before an S3 server and misbehaves as it is told.

  s3_proxy.py UPSTREAM_HOST:PORT SEED

Prints its port, then reads one JSON object a line from stdin: the weather, {fault: probability of it
for a request}; at the end of stdin it ends. An empty line asks for a line of counts, as JSON.

Faults, by where they strike:
  throttle     503 SlowDown; the request was not forwarded
  conflict     409 instead of forwarding a conditional PUT
  conflicted   409 after the store applied the conditional PUT
  failed       500 after the store did what was asked
  refuse       the connection is closed before anything was forwarded
  torn         half of the request's body is forwarded, then both sides are cut
  lost         the request is done, the answer is dropped with the connection
  cut          the answer is cut in the middle of its body
  late         the connection is closed at once; the PUT or DELETE is done up to 8 s later
  delay        the answer comes up to 2 s late
  hang         nothing happens for 5 s, then the connection is closed
  freeze       the same for 35 s, longer than any time-out of the client
  trickle      the answer comes in small pieces
"""

import asyncio
import collections
import json
import random
import sys

SLOW_DOWN = "<Error><Code>SlowDown</Code><Message>chaos</Message></Error>"
CONFLICT = "<Error><Code>ConditionalRequestConflict</Code><Message>chaos</Message></Error>"
FAILED = "<Error><Code>InternalError</Code><Message>chaos</Message></Error>"


class Cut(Exception):
    """The connection to the client ends here."""


class Message:
    """One HTTP request or answer, whole."""

    def __init__(self, head, body):
        self.head, self.body = head, body
        self.first_line = head.split(b"\r\n", 1)[0].decode("latin-1")
        self.method = self.first_line.split(" ", 1)[0]

    def header(self, name):
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.strip().lower() == name:
                return value.strip()
        return None

    @property
    def bytes(self):
        return self.head + self.body


async def read_message(reader, answers=None):
    """None at the end of the connection. `answers`: the method of the request that this answers."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    message = Message(head, b"")
    if answers == "HEAD" or " 204" in message.first_line or " 304" in message.first_line:
        return message
    if (message.header(b"transfer-encoding") or b"").lower() == b"chunked":
        body = b""
        while True:
            line = await reader.readuntil(b"\r\n")
            size = int(line, 16)
            body += line + await reader.readexactly(size + 2)
            if size == 0:
                return Message(head, body)
    return Message(head, await reader.readexactly(int(message.header(b"content-length") or 0)))


def answer(status, reason, document):
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/xml\r\nContent-Length: {len(document)}\r\n\r\n"
    return (head + document).encode()


class Proxy:
    def __init__(self, upstream, seed):
        self.upstream = upstream
        self.random = random.Random(seed)
        self.weather = {}
        self.counts = collections.Counter()
        self.under_way = set()  # late requests
        self.serving = set()

    def draw(self):
        point = self.random.random()
        for fault, probability in self.weather.items():
            point -= probability
            if point < 0:
                return fault
        return None

    async def serve(self, reader, writer):
        task = asyncio.current_task()  # the event loop itself would let it be collected
        self.serving.add(task)
        task.add_done_callback(self.serving.discard)
        server = None
        try:
            while (request := await read_message(reader)) is not None:
                self.counts["requests"] += 1
                if server is None:
                    server = await self.connect()
                if not await self.handle(request, server, writer):
                    server[1].close()
                    server = None
        except (Cut, ConnectionError, OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError):
            pass
        finally:
            for stream in (writer, server and server[1]):
                if stream:
                    stream.close()

    async def connect(self):
        return await asyncio.wait_for(asyncio.open_connection(*self.upstream), 5)

    async def exchange(self, request, server):
        server[1].write(request.bytes)
        await server[1].drain()
        reply = await read_message(server[0], request.method)
        if reply is None:
            raise Cut
        return reply

    async def handle(self, request, server, writer):
        """Whether the connection to the server can be used again."""
        fault = self.draw()
        conditional = request.header(b"if-none-match") or request.header(b"if-match")
        is_put = request.method == "PUT"
        if fault in ("conflict", "conflicted") and not (is_put and conditional):
            fault = None
        if fault == "late" and request.method not in ("PUT", "DELETE"):
            fault = None
        if fault:
            self.counts[fault] += 1
        if fault == "refuse":
            raise Cut
        if fault == "late":
            task = asyncio.create_task(self.do_late(request, self.random.uniform(0.2, 8)))
            self.under_way.add(task)
            task.add_done_callback(self.under_way.discard)
            raise Cut
        if fault in ("hang", "freeze"):
            await asyncio.sleep(5 if fault == "hang" else 35)
            raise Cut
        if fault == "torn":
            server[1].write(request.head + request.body[: len(request.body) // 2])
            await server[1].drain()
            raise Cut
        made_up = {"throttle": (503, "Slow Down", SLOW_DOWN), "conflict": (409, "Conflict", CONFLICT)}.get(fault)
        if made_up:
            writer.write(answer(*made_up))
            await writer.drain()
            return True
        reply = await self.exchange(request, server)
        await self.pass_on(fault, reply, writer)
        return (reply.header(b"connection") or b"").lower() != b"close"

    async def pass_on(self, fault, reply, writer):
        out = reply.bytes
        if fault == "lost":
            raise Cut
        if fault == "conflicted":
            out = answer(409, "Conflict", CONFLICT)
        if fault == "failed":
            out = answer(500, "Internal Server Error", FAILED)
        if fault == "delay":
            await asyncio.sleep(self.random.uniform(0.05, 2))
        if fault == "cut":
            writer.write(reply.head + reply.body[: len(reply.body) // 2])
            await writer.drain()
            raise Cut
        if fault == "trickle":
            size = max(len(out) // 20, 1)
            for at in range(0, len(out), size):
                writer.write(out[at : at + size])
                await writer.drain()
                await asyncio.sleep(0.02)
            return
        writer.write(out)
        await writer.drain()

    async def do_late(self, request, seconds):
        await asyncio.sleep(seconds)
        try:
            server = await self.connect()
            await self.exchange(request, server)
            server[1].close()
        except (Cut, ConnectionError, OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            self.counts["late_but_never_done"] += 1


async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    proxy = Proxy((host, int(port)), int(sys.argv[2]))
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        if line.strip():
            proxy.weather = json.loads(line)
        else:
            print(json.dumps(dict(proxy.counts, under_way=len(proxy.under_way))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())

"""Many readers of the stream of events, and many writers of notes, at one server that is a process of its own."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from agent.clock import SystemClock
from tests.processes import ended, started

CLOCK = SystemClock()
_REFUSED = {429, 503}
"""Answers that acknowledge nothing: the writer comes again."""
_PATIENCE = 120.0
"""Seconds in which all readers are let in."""
_SILENCE = 3.0
"""Seconds without an event after which a reader has them all."""


@dataclass(frozen=True)
class Served:
    """A server at work: its port, its token, and its process."""

    port: int
    token: str
    process: int

    @property
    def megabytes(self) -> float:
        """What the server has in memory of its own."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "VmSwap"))) / 1024


@dataclass
class Load:
    """What clients saw: the acknowledged notes, the seconds of each write and of each note until all readers had it,
    the ids that each reader got, and the memory of the server before, half-way and after."""

    notes: dict[str, str] = field(default_factory=dict)
    writes: list[float] = field(default_factory=list)
    refused: int = 0
    other: list[int] = field(default_factory=list)
    readers: list[list[int]] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    memory: list[float] = field(default_factory=list)

    def slowest(self, share: float) -> float:
        """The seconds in which this share of the writes was answered."""
        return sorted(self.writes)[int(len(self.writes) * share)]


@contextmanager
def serving(root: Path, environ: dict[str, str]) -> Iterator[Served]:
    """`vault-agent serve` on the vault, until the end of the block."""
    command = [sys.executable, "-m", "agent", "--vault", str(root), "serve", "--port", "0", "--json"]
    with started(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = json.loads(process.stdout.readline())
        yield Served(urlsplit(found["url"]).port or 0, Path(found["token_file"]).read_text(), process.pid)
        ended(process, signal.SIGTERM)


async def put_load(served: Served, readers: int, writers: int, seconds: float) -> Load:
    """Let so many readers and writers work for a while, then let the readers get the rest."""
    load = Load()
    over, ready = asyncio.Event(), asyncio.Semaphore(0)
    load.readers = [[] for _ in range(readers)]
    reading = [asyncio.create_task(_read(served, load, ids, ready)) for ids in load.readers]
    async with asyncio.timeout(_PATIENCE):
        for _ in range(readers):
            await ready.acquire()
    load.memory.append(served.megabytes)
    writing = [asyncio.create_task(_write(served, load, number, over)) for number in range(writers)]
    for _ in range(2):
        await asyncio.sleep(seconds / 2)
        load.memory.append(served.megabytes)
    over.set()
    await asyncio.gather(*writing)
    last = sum(map(len, load.readers))
    while True:
        await asyncio.sleep(_SILENCE)
        if sum(map(len, load.readers)) == last:
            break
        last = sum(map(len, load.readers))
    for each in reading:
        each.cancel()
    await asyncio.gather(*reading, return_exceptions=True)
    load.memory.append(served.megabytes)
    return load


async def _read(served: Served, load: Load, ids: list[int], ready: asyncio.Semaphore) -> None:
    """Note the id of each event, and how many readers have heard of each note. A connection that is closed before it
    was let in, as it may be where 200 come at once to a slow machine, is made again, as browsers do."""
    is_let_in = False
    while not is_let_in:
        stream, out = await asyncio.open_connection("127.0.0.1", served.port)
        out.write(_head(served, "GET", "/api/v1/events") + b"\r\n")
        while not is_let_in and (line := await _line(stream)):
            is_let_in = line.startswith(b"event: hello")
        if not is_let_in:
            out.close()
    ready.release()
    try:
        while line := await stream.readline():
            if line.startswith(b"id: "):
                ids.append(int(line[4:]))
            elif line.startswith(b"data: ") and b'"load/' in line:
                path = json.loads(line[6:])["path"]
                load.seen[path] = load.seen.get(path, 0) + 1
    finally:
        out.close()


async def _line(stream: asyncio.StreamReader) -> bytes:
    """The next line; empty at the end, also of a connection that was cut."""
    try:
        return await stream.readline()
    except ConnectionError:
        return b""


async def _write(served: Served, load: Load, number: int, over: asyncio.Event) -> None:
    """Make one note after the other, each until it is acknowledged."""
    stream, out = await asyncio.open_connection("127.0.0.1", served.port)
    made = 0
    while not over.is_set():
        path, text = f"load/{number}-{made}.md", f"# Note {made} of {number}\n\n{'words ' * 40}\n"
        body = json.dumps({"text": text}).encode()
        head = _head(served, "PUT", f"/api/v1/notes/{path}") + b"Content-Type: application/json\r\n"
        began = CLOCK.monotonic()
        out.write(head + b"If-None-Match: *\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        status = await _answered(stream)
        load.writes.append(CLOCK.monotonic() - began)
        if status in {201, 202}:
            load.notes[path] = text
            made += 1
        elif status in _REFUSED:
            load.refused += 1
            await asyncio.sleep(0.1)
        else:
            load.other.append(status)
            made += 1
    out.close()


def _head(served: Served, method: str, path: str) -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n"
    ).encode()


async def _answered(stream: asyncio.StreamReader) -> int:
    """The status of an answer, whose body is read and left."""
    status, length = int((await stream.readline()).split()[1]), 0
    while (line := await stream.readline()) != b"\r\n":
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    await stream.readexactly(length)
    return status

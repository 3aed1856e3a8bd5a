"""A process that reads attachments for `extract`: each in a process of its own, which can open nothing and start
nothing.

A request is a line of JSON, `{"ending": ".pdf", "size": 1234}`, and the bytes of the file; an answer a line with its
size, and a `PagedText` as JSON. It ends with its input, and so with the process that started it.
"""

import codecs
import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import BinaryIO

from agent.attachments.html.charset import ENCODINGS
from agent.attachments.limits import MEMORY, MOST_ANSWER, SECONDS
from agent.attachments.readers import read_attachment, reader_for
from agent.markdown.paged_text import PagedText
from agent.platform.here import platform

_PIECE = 1 << 20


def serve() -> None:
    """Read one file after the other."""
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    incoming = sys.stdin.buffer
    for encoding in ENCODINGS:
        codecs.lookup(encoding)  # an encoding is loaded from a file, which later is not possible
    while line := incoming.readline():
        asked = json.loads(line)
        data = incoming.read(asked["size"])
        if len(data) == asked["size"]:
            _answer(outgoing, _read_apart(asked["ending"], data))


def _answer(outgoing: BinaryIO, found: bytes) -> None:
    outgoing.write(json.dumps({"size": len(found)}).encode() + b"\n" + found)
    outgoing.flush()


def _read_apart(ending: str, data: bytes) -> bytes:
    """The text of a file, read by a process that ends with it."""
    read = reader_for(ending)  # before the limits: afterwards no module can be loaded
    here, there = os.pipe()
    child = os.fork()
    if not child:
        with suppress(BaseException):
            _confine(there)
            with os.fdopen(there, "wb") as pipe:
                pipe.write(read_attachment(read, data).to_bytes())
        os._exit(0)
    os.close(there)
    try:
        found, problem = _until_end(here)
    finally:
        os.close(here)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return found if not problem else PagedText(problem=problem).to_bytes()


def _confine(pipe: int) -> None:
    """Let this process open no file and no connection, start no process, and use so much memory and time only."""
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_CPU": int(SECONDS) + 2,
        "RLIMIT_AS": MEMORY,
        "RLIMIT_NPROC": 0,
        "RLIMIT_NOFILE": 0,  # the pipe that is open stays so, a socket would be a new one
    }
    os.closerange(3, pipe)
    os.closerange(pipe + 1, 256)
    os.close(0)
    platform().limit(limits)


def _until_end(pipe: int) -> tuple[bytes, str]:
    """All bytes that come through a pipe, or the reason why they are not used."""
    pieces: list[bytes] = []
    size, end = 0, time.monotonic() + SECONDS
    while (left := end - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            break
        piece = os.read(pipe, _PIECE)
        if not piece:
            return b"".join(pieces), "" if pieces else "its reader crashed on it, or took too much memory or time"
        pieces.append(piece)
        size += len(piece)
        if size > MOST_ANSWER:
            return b"", "its text is far too long"
    return b"", f"reading it takes more than {SECONDS:.0f} seconds"


if __name__ == "__main__":
    serve()

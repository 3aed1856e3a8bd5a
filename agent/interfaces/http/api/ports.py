"""A port that is open as long as its stream is read: `serve` asks a daemon that is already at work for one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
from starlette.concurrency import run_in_threadpool

from agent.interfaces.http.door.port import LOOPBACK, PortRequest, Tls
from agent.interfaces.http.following import QUIET
from agent.interfaces.http.operation import Call, Stream, StreamEvent, stream_event


class PortParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to listen on; `certificate` and `key` are files, `origin` a proxy's public one."""

    port: int
    address: str = LOOPBACK
    origin: str = ""
    certificate: str = ""
    key: str = ""


class PortOpened(msgspec.Struct, frozen=True):
    """As `serve --json` prints it."""

    url: str
    open: str
    token_file: str


async def port(call: Call[PortParams, None]) -> AsyncIterator[StreamEvent]:
    """Open the port, and close it when the reader has left."""
    wanted = call.params
    tls = Tls(Path(wanted.certificate), Path(wanted.key)) if wanted.certificate else None
    request = PortRequest(wanted.port, wanted.address, wanted.origin, tls)
    opened = await run_in_threadpool(call.service.open_port, request)
    try:
        yield stream_event("open", PortOpened(opened.url, opened.open, str(opened.token_file)))
        while True:
            await asyncio.sleep(QUIET)
            yield stream_event("still open", None)
    finally:
        opened.close()


STREAMS = (Stream("/api/v1/ports", "port", "Listen on a port while this is read", port, PortParams, "POST"),)

"""A port that is open as long as its stream is read: `serve` asks a daemon that is already at work for one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
from starlette.concurrency import run_in_threadpool

from agent.interfaces.http.door.port import LOOPBACK, PortRequest, Tls
from agent.interfaces.http.following import QUIET
from agent.interfaces.http.operation import Routes, StreamEvent, stream_event
from agent.interfaces.http.service import Service

ROUTES = Routes("/api/v1")


class PortOpened(msgspec.Struct, frozen=True):
    """As `serve --json` prints it."""

    url: str
    open: str
    token_file: str


@ROUTES.post("/ports", "Listen on a port while this is read")
async def port(
    service: Service, port: int, address: str = LOOPBACK, origin: str = "", certificate: str = "", key: str = ""
) -> AsyncIterator[StreamEvent]:
    """Open the port, and close it when the reader has left. `certificate` and `key` are files, `origin` is a proxy's
    public one."""
    tls = Tls(Path(certificate), Path(key)) if certificate else None
    opened = await run_in_threadpool(service.open_port, PortRequest(port, address, origin, tls))
    try:
        yield stream_event("open", PortOpened(opened.url, opened.open, str(opened.token_file)))
        while True:
            await asyncio.sleep(QUIET)
            yield stream_event("still open", None)
    finally:
        opened.close()

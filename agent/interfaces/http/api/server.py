"""The server itself: whether it is there and can work, the counts of events on this machine, the stream of what happens
in the vault, the browsers and apps that are signed in, and a port that is open as long as its stream is read: `serve`
asks a daemon that is already at work for one.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

import msgspec
from starlette.concurrency import run_in_threadpool

from agent.app.figures import prometheus_text
from agent.interfaces.http.door.browsers import BrowserInfo
from agent.interfaces.http.door.port import LOOPBACK, PortRequest, Tls
from agent.interfaces.http.operation import LastEvent, Routes, StreamEvent, stream_event
from agent.interfaces.http.service import QUIET, Service, followed
from agent.workspace.workspace import Workspace, load_daemon_state

ROUTES = Routes("/api/v1")


class Health(msgspec.Struct, frozen=True):
    """The server answers; `vault` is the folder it serves."""

    ok: bool
    vault: str


class Readiness(msgspec.Struct, frozen=True):
    """`ready` is false while the daemon starts, and `problem` says what keeps search behind."""

    ready: bool
    problem: str


@ROUTES.get("/health", "Whether the server answers")
def health(workspace: Workspace) -> Health:
    """The server answers."""
    return Health(True, str(workspace.vault.place.root))


@ROUTES.get("/ready", "Whether the daemon has started")
def ready(workspace: Workspace) -> Readiness:
    """The daemon's own state."""
    state = load_daemon_state(workspace) or {}
    return Readiness(not state.get("starting"), str(state.get("index") or ""))


@ROUTES.get("/metrics", "The metrics, for Prometheus", content_type="text/plain; version=0.0.4; charset=utf-8")
def metrics(workspace: Workspace) -> bytes:
    """All counters since the beginning and how things are now, in Prometheus' text format."""
    return prometheus_text(workspace)


EVENTS = Routes("/api/v1")
After = Annotated[int, msgspec.Meta(ge=0)]
"""The id of an event: what a page shows was read at some id, and its stream begins with the next one."""


@EVENTS.get("/events", "What happens, as it happens")
async def events(service: Service, last_event: LastEvent, after: After | None = None) -> AsyncIterator[StreamEvent]:
    """Every event of the daemon from now on, or after `Last-Event-ID`, or after the id of the query."""
    feed = service.changes
    last = feed.last  # a reader who was told of it misses nothing that comes after it
    start = str(last if after is None else after)
    yield stream_event("hello", {"last": last})
    async for item in followed(feed, last_event or start):
        yield StreamEvent(item.event.name, msgspec.Raw(item.event.data), str(item.number))


BROWSERS = Routes("/api/v1/browsers")
_BrowserId = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class BrowserList(msgspec.Struct, frozen=True):
    """The browsers and apps, the last one seen first."""

    browsers: list[BrowserInfo]


class EndedBrowsers(msgspec.Struct, frozen=True):
    """The ids of the browsers that were signed out."""

    ended: list[str]


@BROWSERS.get("", "The browsers that are signed in")
def list_browsers(service: Service) -> BrowserList:
    """The browsers that are signed in."""
    return BrowserList([BrowserInfo.of(each) for each in service.sign_in.browsers.all()])


@BROWSERS.delete("", "Sign all browsers out")
def end_browsers(service: Service) -> EndedBrowsers:
    """Sign all browsers out."""
    browsers = service.sign_in.browsers
    ended = [each.id for each in browsers.all()]
    browsers.end(ended)
    return EndedBrowsers(ended)


@BROWSERS.delete("/{id}", "Sign a browser out", 404)
def end_browser(service: Service, id: _BrowserId) -> EndedBrowsers:
    """Sign a browser out."""
    service.sign_in.browsers.end([id])
    return EndedBrowsers([id])


PORTS = Routes("/api/v1")


class PortOpened(msgspec.Struct, frozen=True):
    """As `serve --json` prints it."""

    url: str
    open: str
    token_file: str


@PORTS.post("/ports", "Listen on a port while this is read")
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

"""The daemon ends at once, whoever still reads; what is being written is finished."""

import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import httpx
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from agent.background.feed import Feed
from agent.clock import SystemClock
from agent.interfaces.http.door.browsers import Browsers
from agent.interfaces.http.door.guard import RequestLimits, TokenBucket
from agent.interfaces.http.door.port import PortRequest
from agent.interfaces.http.door.sign_in import SignIn
from agent.interfaces.http.server import HttpServer
from agent.interfaces.http.service import followed

CLOCK = SystemClock()


def make_server(*routes: Route) -> HttpServer:
    limits = RequestLimits(TokenBucket(CLOCK, 1e9, 1e9), TokenBucket(CLOCK, 1e9, 1e9), 1_000_000)
    server = HttpServer(SignIn("right", CLOCK, Browsers(Path("unused"), CLOCK)), limits, "en")
    server.start(Starlette(routes=routes))
    return server


def test_streams_end_at_once_and_leave_nobody_listening() -> None:
    """Sooner than what does not end is given up, which takes a second; a busy machine may be late, not always."""
    assert any(end_with_open_streams() < 1 for _ in range(5))


def end_with_open_streams() -> float:
    """The seconds that a server takes to end while twenty streams are read."""
    feed: Feed[int] = Feed()

    async def numbers() -> AsyncIterator[bytes]:
        yield b"first\n"
        async for item in followed(feed):
            yield b"%d\n" % item.event

    async def stream(request: Request) -> Response:
        return StreamingResponse(numbers(), media_type="text/event-stream")

    server = make_server(Route("/", stream))
    port = server.open_port(PortRequest(0)).port
    with ExitStack() as open_streams:
        client = open_streams.enter_context(httpx.Client(headers={"Authorization": "Bearer right"}))
        for _ in range(20):
            response = open_streams.enter_context(client.stream("GET", f"http://127.0.0.1:{port}/"))
            assert next(response.iter_raw()) == b"first\n"
        began = CLOCK.monotonic()
        server.close()
        took = CLOCK.monotonic() - began
    assert feed._listeners == []
    feed.put(1)
    return took


def test_a_write_that_goes_on_is_answered() -> None:
    began, go_on = threading.Event(), threading.Event()
    written: list[str] = []

    def write() -> None:
        began.set()
        go_on.wait(60)
        written.append("all of it")

    async def note(request: Request) -> Response:
        await run_in_threadpool(write)
        return PlainTextResponse("done")

    server = make_server(Route("/", note, methods=["PUT"]))
    port = server.open_port(PortRequest(0)).port
    answers: list[httpx.Response] = []
    headers = {"Authorization": "Bearer right"}
    writer = threading.Thread(target=lambda: answers.append(httpx.put(f"http://127.0.0.1:{port}/", headers=headers)))
    writer.start()
    began.wait(60)
    closing = threading.Thread(target=server.close)
    closing.start()
    closing.join(0.2)
    go_on.set()
    closing.join(60)
    writer.join(60)
    assert written == ["all of it"] and [each.text for each in answers] == ["done"]

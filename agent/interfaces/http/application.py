"""The ASGI application of one service: each operation of the table as a route, with its types checked on the way in.

The answers to requests with an `Idempotency-Key` are kept for a day: a request that is sent again is not carried out
again. They lie in the vault's private folder, so a client that asks again after the daemon was started anew gets its
answer, too. Only what was done is kept; a request that was refused may be repeated.
"""

import base64
import json
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from agent.config.private import make_folder, replace
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.interfaces.http.operation import Operation, StreamEvent, TypedReply, arguments
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.responses import SECURITY_HEADERS, encoded, json_bytes, problem_response
from agent.interfaces.http.service import Service
from agent.json_value import parse_json
from agent.workspace.workspace import Workspace

SECONDS = 86_400
_LONGEST = 200
_MOST = 10_000
_LOOK = 600.0
"""Seconds between two looks for answers that are too old."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response: its status, its body and the headers of its own."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(slots=True)
class StoredAnswers:
    """The answers by key, in files. Thread-safe; a second request with a key waits for the first."""

    workspace: Workspace
    _next_look: float = 0.0
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def once(
        self, key: str, asked: tuple[str, str, str, bytes], perform: Callable[[], StoredResponse]
    ) -> StoredResponse:
        """The answer of `perform`, or the one that it had the first time; `asked` tells one request from another.

        Raises `RequestRefused` for a key of another request.
        """
        if len(key) > _LONGEST:
            raise RequestRefused(
                HTTPStatus.BAD_REQUEST, "the Idempotency-Key is longer than {most} characters", most=_LONGEST
            )
        name = sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
        digest = sha256(repr(asked).encode("utf-8", "surrogateescape")).hexdigest()
        with self._lock_of(name):
            known = self._load(name)
            if known is not None:
                request_hash, answer = known
                if request_hash != digest:
                    raise RequestRefused(
                        HTTPStatus.UNPROCESSABLE_ENTITY,
                        "this Idempotency-Key came with another request",
                        hint="make a new key for each new request",
                    )
                return answer
            answer = perform()
            if answer.status < HTTPStatus.BAD_REQUEST:
                self._save(name, digest, answer)
            return answer

    @property
    def _folder(self) -> Path:
        return self.workspace.vault.private_folder / "http" / "answers"

    def _lock_of(self, name: str) -> threading.Lock:
        with self._lock:
            if len(self._locks) > _MOST:
                self._locks = {each: lock for each, lock in self._locks.items() if lock.locked()}
            return self._locks.setdefault(name, threading.Lock())

    def _load(self, name: str) -> tuple[str, StoredResponse] | None:
        try:
            found = parse_json((self._folder / name).read_bytes())
            answer = StoredResponse(found["status"], base64.b64decode(found["body"]), found["headers"])
            is_recent = self._now - float(found["at"]) < SECONDS
            return (found["asked"], answer) if is_recent else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _save(self, name: str, digest: str, answer: StoredResponse) -> None:
        make_folder(self._folder)
        body = base64.b64encode(answer.body).decode()
        found = {"asked": digest, "at": self._now, "status": answer.status, "headers": dict(answer.headers)}
        replace(self._folder / name, json.dumps({**found, "body": body}))
        os.utime(self._folder / name, (self._now, self._now))
        self._drop_old()

    def _drop_old(self) -> None:
        with self._lock:
            if self._now < self._next_look:
                return
            self._next_look = self._now + _LOOK
        for file in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if self._now - file.stat().st_mtime > SECONDS:
                    file.unlink()

    @property
    def _now(self) -> float:
        return self.workspace.clock.now().timestamp()


async def no_page(service: Service, request: Request) -> Response | None:
    """No page for an address that nothing answers."""
    return None


def build_application(
    service: Service,
    table: Iterable[Operation],
    *others: BaseRoute,
    missing: Callable[[Service, Request], Awaitable[Response | None]] = no_page,
) -> Starlette:
    """The application; `others` are routes that answer with pages and files, `missing` has the page for an address that
    none of them answers."""
    by_path: dict[str, dict[str, Operation]] = {}
    for each in table:
        by_path.setdefault(each.path, {})[each.method] = each
    answers = StoredAnswers(service.workspace)
    routes = [_route(service, answers, path, methods) for path, methods in by_path.items()]
    language = service.workspace.settings.vault.language

    def failed(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            error = _refused(request, error)
        return problem_response(error, language)

    async def not_found(request: Request, error: Exception) -> Response:
        return await missing(service, request) or failed(request, error)

    handled = (HTTPException, AgentError, RequestRefused, msgspec.MsgspecError, Exception)
    return Starlette(routes=[*routes, *others], exception_handlers={**dict.fromkeys(handled, failed), 404: not_found})


def _refused(request: Request, error: HTTPException) -> RequestRefused:
    """What was asked for and is not there, in words."""
    status, headers = HTTPStatus(error.status_code), error.headers or {}
    path, method = request.url.path, request.method
    match status:
        case HTTPStatus.NOT_FOUND:
            hint = "/openapi.json lists what there is"
            return RequestRefused(status, "there is nothing at {path}", hint=hint, headers=headers, path=path)
        case HTTPStatus.METHOD_NOT_ALLOWED:
            sentence, hint = "{path} does not take {method}", "it takes {allowed}"
            allowed = ", ".join(sorted(headers.get("Allow", "").split(", ")))
            return RequestRefused(
                status, sentence, hint=hint, headers=headers, path=path, method=method, allowed=allowed
            )
        case _:
            return RequestRefused(status, status.phrase, headers=headers)


def _route(service: Service, answers: StoredAnswers, path: str, methods: Mapping[str, Operation]) -> Route:
    """The one route of a path, for all its methods: so what it does not have is refused with those that it has."""
    served = {
        method: _stream(service, each) if each.is_stream else _operation(service, answers, each)
        for method, each in methods.items()
    }

    async def endpoint(request: Request) -> Response:
        return await served["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, endpoint, methods=[*served], name=next(iter(methods.values())).name)


def _operation(
    service: Service, answers: StoredAnswers, operation: Operation
) -> Callable[[Request], Awaitable[Response]]:
    def perform(first: object, call: Mapping[str, Any]) -> StoredResponse:
        answer = operation.function(first, **call)
        reply = answer if isinstance(answer, TypedReply) else TypedReply(answer)
        return StoredResponse(reply.status or operation.status, encoded(reply.result), dict(reply.headers))

    async def endpoint(request: Request) -> Response:
        data, body = await _body(request, operation)
        work = partial(perform, *_arguments(service, request, operation, body))
        key, method = request.headers.get("idempotency-key", ""), operation.method
        try:
            if key and method != "GET":
                asked = (method, str(request.url), request.headers.get("if-match", ""), data)
                answer = await run_in_threadpool(answers.once, key, asked, work)
            else:
                answer = await run_in_threadpool(work)
        except Exception as error:
            if isinstance(error, AgentError | RequestRefused | msgspec.MsgspecError):
                return problem_response(error, service.workspace.settings.vault.language)
            raise
        return json_bytes(answer.body, answer.status, answer.headers, operation.content_type)

    return endpoint


def _stream(service: Service, stream: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        if request.method == "HEAD":
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": stream.method})
        _, body = await _body(request, stream)
        whole, values = _arguments(service, request, stream, body)
        events = stream.function(whole, **values)
        first = await anext(events, None)  # an error before the first event still has a status of its own
        headers = {**SECURITY_HEADERS, "X-Accel-Buffering": "no"}
        return StreamingResponse(_encoded(first, events), 200, headers, "text/event-stream")

    return endpoint


async def _encoded(first: StreamEvent | None, events: AsyncIterator[StreamEvent]) -> AsyncIterator[bytes]:
    if first is None:
        return
    yield encode_event(first)
    async for event in events:
        yield encode_event(event)


def encode_event(event: StreamEvent) -> bytes:
    """An event in the form of `text/event-stream`; JSON has no line ends, so its data is one line."""
    number = f"id: {event.id}\n" if event.id else ""
    return f"event: {event.event}\n{number}data: ".encode() + bytes(event.data) + b"\n\n"


def _arguments(service: Service, request: Request, entry: Operation, body: object) -> tuple[object, dict[str, Any]]:
    names = [name for name, _ in request.query_params.multi_items()]
    if len(names) != len(set(names)):
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "a parameter of the query is given twice")
    return arguments(entry, service, {**request.query_params, **request.path_params}, body, request.headers)


async def _body(request: Request, entry: Operation) -> tuple[bytes, object]:
    """The bytes of the body, and the value in them; no body at all is an empty object."""
    type = entry.taken.body_type
    try:
        data = await request.body()
    except ClientDisconnect:
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "the request was cut off") from None
    if type is None:
        return data, None
    if not data:
        return data, msgspec.convert({}, type)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestRefused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body has to be JSON", hint="send Content-Type: application/json"
        )
    try:
        return data, msgspec.json.decode(data, type=type)
    except RecursionError:
        hint = "send what the API's document describes: nothing there is nested so deeply"
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "the body is nested too deeply", hint=hint) from None

"""The ASGI application of one service: each operation of the table as a route, with its types checked on the way in."""

import logging
from collections.abc import AsyncIterator, Iterable
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from agent.errors import AgentError
from agent.interfaces.http.operation import Call, Operation, Reply, Stream, StreamEvent
from agent.interfaces.http.problems import Refused
from agent.interfaces.http.responses import SECURITY_HEADERS, json_response, problem_response
from agent.interfaces.http.service import Service

logger = logging.getLogger(__name__)

AnyOperation = Operation[Any, Any, Any]
AnyStream = Stream[Any]


def build_application(service: Service, table: Iterable[AnyOperation | AnyStream], *others: BaseRoute) -> Starlette:
    """The application; `others` are routes that answer with pages and files."""
    routes = [_route(service, each) if isinstance(each, Operation) else _stream(service, each) for each in table]
    language = service.workspace.settings.vault.language

    def failed(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            error = Refused(HTTPStatus(error.status_code), HTTPStatus(error.status_code).phrase)
        elif not isinstance(error, AgentError | Refused | msgspec.MsgspecError):
            logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return problem_response(error, language)

    handled = (HTTPException, AgentError, Refused, msgspec.MsgspecError, Exception)
    return Starlette(routes=[*routes, *others], exception_handlers=dict.fromkeys(handled, failed))


def _route(service: Service, operation: AnyOperation) -> Route:
    async def endpoint(request: Request) -> Response:
        body = await _body(request, operation.body)
        call = _call(service, request, operation.params, body)
        try:
            answer = await run_in_threadpool(operation.respond, call)
        except Exception as error:
            if isinstance(error, AgentError | Refused | msgspec.MsgspecError):
                return problem_response(error, service.workspace.settings.vault.language)
            raise
        reply = answer if isinstance(answer, Reply) else Reply(answer)
        return json_response(reply.result, reply.status or operation.status, reply.headers)

    return Route(operation.path, endpoint, methods=[operation.method], name=operation.name)


def _stream(service: Service, stream: AnyStream) -> Route:
    async def endpoint(request: Request) -> Response:
        events = stream.events(_call(service, request, stream.params, None))
        first = await anext(events, None)  # an error before the first event still has a status of its own
        headers = {**SECURITY_HEADERS, "X-Accel-Buffering": "no"}
        return StreamingResponse(_encoded(first, events), 200, headers, "text/event-stream")

    return Route(stream.path, endpoint, methods=[stream.method], name=stream.name)


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


def _call(service: Service, request: Request, params: type[msgspec.Struct], body: object) -> Call[Any, Any]:
    names = [name for name, _ in request.query_params.multi_items()]
    if len(names) != len(set(names)):
        raise Refused(HTTPStatus.BAD_REQUEST, "a parameter of the query is given twice")
    given = {**request.query_params, **request.path_params}
    headers = request.headers
    return Call(
        service,
        msgspec.convert(given, params, strict=False),
        body,
        headers.get("if-match", "").removeprefix("W/").strip('"'),
        headers.get("idempotency-key", ""),
        headers.get("last-event-id", ""),
    )


async def _body(request: Request, type: type[object] | None) -> object:
    try:
        data = await request.body()
    except ClientDisconnect:
        raise Refused(HTTPStatus.BAD_REQUEST, "the request was cut off") from None
    if type is None:
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body has to be JSON", hint="send Content-Type: application/json"
        )
    return msgspec.json.decode(data, type=type)

"""The routes of the node host; `README.md` beside this file is the contract.

Lets in only requests with the token, for this host's own name, and from no web page; before anything is routed.

A page of another site cannot have the token, but a name that points to this machine (DNS rebinding), or a form, could
still reach the routes: so the headers `Host` and `Origin` are checked against exact lists first.
"""

import logging
import sys
from functools import partial
from http import HTTPStatus
from importlib.metadata import version
from typing import cast

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.clock import Clock
from agent.config.entrance import bearer_token, is_token, local_entrance
from agent.dataclass import dataclass
from agent.interfaces.node.calls import CallLog, NodeResponse
from agent.interfaces.node.catalog import described
from agent.interfaces.node.permissions import permissions
from agent.interfaces.node.programs import missing
from agent.interfaces.node.session import NodeFailure, bad_arguments
from agent.interfaces.node.tool import Desk, NodeResult, NodeTool
from agent.llm.messages import JsonObject
from agent.texts import Sentence
from agent.tools.arguments import problems

MOST_BYTES = 16 << 20
"""The largest body of a request."""


def problem(failure: NodeFailure, headers: dict[str, str] | None = None) -> JSONResponse:
    """The response for a failure."""
    return JSONResponse(failure.document(), int(failure.status), headers, "application/problem+json")


class NodeGuard:
    """The routes behind their checks. `port` is the one that the host listens on."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._entrance = local_entrance(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        failure = self._refusal(headers)
        if failure is not None:
            asks = {"WWW-Authenticate": "Bearer"} if failure.status == HTTPStatus.UNAUTHORIZED else None
            await problem(failure, asks)(scope, receive, send)
            return
        await self._app(scope, _Bounded(receive).receive, send)

    def _refusal(self, headers: Headers) -> NodeFailure | None:
        refused = self._entrance.refuses(headers.getlist("host"), headers.getlist("origin"))
        if refused == "host":
            return NodeFailure(HTTPStatus.FORBIDDEN, "wrong_host", "this address is not the node host's own")
        if refused == "origin":
            return NodeFailure(HTTPStatus.FORBIDDEN, "wrong_origin", "web pages may not use the node host")
        if not is_token(bearer_token(headers.getlist("authorization")), self._token):
            sends = "send it as Authorization: Bearer TOKEN"
            return NodeFailure(HTTPStatus.UNAUTHORIZED, "wrong_token", "the token is missing or wrong", sends)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return too_large()
        return None


def too_large() -> NodeFailure:
    """The failure of a request whose body is larger than `MOST_BYTES`."""
    return NodeFailure(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", f"a request has at most {MOST_BYTES:,} bytes")


class _Bounded:
    """A body that ends with an error when it becomes too large, also without its length in a header."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._size = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size > MOST_BYTES:
            raise too_large()
        return message


API = 1
"""The version of the contract; it changes when a program that keeps it would not be understood any more."""
_LONGEST_ID = 200
logger = logging.getLogger(__name__)


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request to execute a tool, as it comes."""

    call_id: str
    arguments: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class NodeCall:
    """A call of a tool; `call_id` is the caller's, who may send it again."""

    call_id: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class NodeApp:
    """The host's tools behind HTTP."""

    tools: dict[str, NodeTool]
    desk: Desk
    calls: CallLog
    clock: Clock

    def guarded(self, token: str, port: int) -> NodeGuard:
        """The whole application."""
        routes = [
            Route("/api/v1/version", self._version, methods=["GET"]),
            Route("/api/v1/tools", self._tools, methods=["GET"]),
            Route("/api/v1/permissions", self._permissions, methods=["GET"]),
            Route("/api/v1/tools/{name}/execute", self._execute, methods=["POST"]),
        ]
        errors = {NodeFailure: _failed, HTTPException: _not_routed}
        return NodeGuard(Starlette(routes=routes, exception_handlers=errors), token, port)

    def needs(self) -> dict[str, Sentence]:
        """What each tool still needs on this machine, a package or a permission; empty if it is ready."""
        found, needs = permissions(self.desk.folders), {}
        for name, tool in self.tools.items():
            packages = missing(tool.programs())
            needs[name] = Sentence("install the package {packages}", packages=packages) if packages else Sentence("")
            if not packages and tool.permission:
                needs[name] = found[tool.permission].guidance
        return needs

    async def _version(self, request: Request) -> Response:
        found = {"name": "vault-agent", "version": version("vault-agent"), "api": API, "platform": sys.platform}
        return JSONResponse(found)

    async def _tools(self, request: Request) -> Response:
        return JSONResponse({"tools": [described(tool) for tool in self.tools.values()]})

    async def _permissions(self, request: Request) -> Response:
        found = permissions(self.desk.folders)
        guidance = {name: str(each.guidance) for name, each in found.items() if each.guidance}
        return JSONResponse({name: each.state for name, each in found.items()} | {"guidance": guidance})

    async def _execute(self, request: Request) -> Response:
        name = request.path_params["name"]
        tool = self.tools.get(name)
        if tool is None:
            raise NodeFailure(HTTPStatus.NOT_FOUND, "no_such_tool", f"there is no tool {name}, or it is switched off")
        answer = await run_in_threadpool(partial(self.answer, tool, _parsed(await request.body())))
        return JSONResponse(
            answer.document,
            answer.status,
            media_type="application/json" if answer.status == HTTPStatus.OK else "application/problem+json",
        )

    def answer(self, tool: NodeTool, call: NodeCall) -> NodeResponse:
        """The answer to a call, also a failed one; it is logged."""
        began = self.clock.monotonic()
        try:
            answer = self.calls.once(call.call_id, tool.name, call.arguments, partial(self._perform, tool, call))
        except NodeFailure as failure:
            answer = NodeResponse(int(failure.status), failure.document())
        self.calls.log(tool.name, call.call_id, call.arguments, answer, self.clock.monotonic() - began)
        return answer

    def _perform(self, tool: NodeTool, call: NodeCall) -> NodeResponse:
        began = self.clock.monotonic()
        try:
            if found := problems(call.arguments, tool.parameters):
                raise bad_arguments("; ".join(found))
            self._check_permission(tool)
            done = tool.work(call.arguments, self.desk)
        except NodeFailure as failure:
            return NodeResponse(
                int(failure.status), self._advised(failure, tool).document() | {"call_id": call.call_id}
            )
        except Exception as error:  # a tool's bug must not leave the call without an answer; the log has the traceback
            logger.warning("%s failed", tool.name, exc_info=True)
            broken = NodeFailure(HTTPStatus.INTERNAL_SERVER_ERROR, "broken", f"{tool.name}: {type(error).__name__}")
            return NodeResponse(int(broken.status), broken.document() | {"call_id": call.call_id})
        return NodeResponse(HTTPStatus.OK, _document(tool, call, done, self.clock.monotonic() - began))

    def _check_permission(self, tool: NodeTool) -> None:
        """Raise `NodeFailure` if the system refuses what the tool needs."""
        if tool.permission and permissions(self.desk.folders)[tool.permission].state == "denied":
            detail = f"the permission {tool.permission} is denied on this machine"
            raise NodeFailure(HTTPStatus.FORBIDDEN, "permission_denied", detail, permission=tool.permission)

    def _advised(self, failure: NodeFailure, tool: NodeTool) -> NodeFailure:
        """The failure with what a person can do about the tool's permission, if it says nothing better."""
        if failure.hint or not tool.permission:
            return failure
        guidance = permissions(self.desk.folders)[tool.permission].guidance
        return NodeFailure(failure.status, failure.code, failure.detail, str(guidance), failure.permission)


def _document(tool: NodeTool, call: NodeCall, done: NodeResult, seconds: float) -> dict[str, object]:
    files = [{"path": each.path, "media_type": each.media_type, "bytes": each.size} for each in done.files]
    return {
        "call_id": call.call_id,
        "tool": tool.name,
        "output": done.output,
        "files": files,
        "seconds": round(seconds, 3),
    }


def _parsed(body: bytes) -> NodeCall:
    try:
        call = msgspec.json.decode(body, type=_Body)
    except msgspec.ValidationError as error:
        raise bad_arguments(str(error), 'send {"call_id": "…", "arguments": {…}}') from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NodeFailure(HTTPStatus.BAD_REQUEST, "not_json", f"the body is not JSON: {error}") from error
    if not 1 <= len(call.call_id) <= _LONGEST_ID:
        raise bad_arguments(f"call_id has 1 to {_LONGEST_ID} characters")
    return NodeCall(call.call_id, cast("JsonObject", call.arguments))


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, NodeFailure)
    return problem(error)


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(NodeFailure(HTTPStatus(error.status_code), "no_such_route", error.detail), dict(error.headers or {}))

"""Operations: a route's method, path, types and the function behind it, as one value.

The application, the OpenAPI document and the tests are made from the same values, so they agree.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import field
from http import HTTPStatus
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec

from agent.dataclass import dataclass
from agent.interfaces.http.service import Service
from agent.vault.change import HTTP

ACTOR = HTTP
"""The actor of what clients change, as commits name it, and the channel of what they ask."""

P = TypeVar("P", bound=msgspec.Struct, covariant=True)
B = TypeVar("B", covariant=True)
R = TypeVar("R")

Method = Literal["GET", "POST", "PUT", "DELETE", "PATCH"]


class NoParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An operation without parameters."""


@dataclass(frozen=True, slots=True)
class Call(Generic[P, B]):
    """One request, typed: the parameters of its path and query, its body, and the headers that an operation reads.

    `if_match` and `if_none_match` are the headers' values without their quotes, empty if they were not sent;
    `last_event` is the id of the last event that the client has of a stream.
    """

    service: Service
    params: P
    body: B
    if_match: str = ""
    if_none_match: str = ""
    idempotency_key: str = ""
    last_event: str = ""


@dataclass(frozen=True, slots=True)
class TypedReply(Generic[R]):
    """A result with headers of its own, or with another status than its operation's."""

    result: R
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 0


@dataclass(frozen=True, slots=True)
class Operation(Generic[P, B, R]):
    """A route whose function returns one result.

    `name` is the operation's id in the OpenAPI document and its function there. `body` is None for a request without
    one. `problems` are the statuses of the errors that it may answer beside those that every operation may, `headers`
    those of the request that it reads. A result of another `content_type` than JSON is text.
    """

    method: Method
    path: str
    name: str
    summary: str
    respond: Callable[[Call[P, B]], R | TypedReply[R]]
    result: type[R]
    params: type[P]
    body: type[B] | None = None
    status: int = HTTPStatus.OK
    problems: tuple[int, ...] = ()
    headers: tuple[str, ...] = ()
    content_type: str = "application/json"


class StreamEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event of a stream: `data` is JSON; `id` goes into `Last-Event-ID` when a client comes back."""

    event: str
    data: msgspec.Raw
    id: str = ""


@dataclass(frozen=True, slots=True)
class Stream(Generic[P]):
    """A route that sends events (SSE) until the client leaves or the work is over. `body` is None for a request without
    one."""

    path: str
    name: str
    summary: str
    events: Callable[[Call[P, Any]], AsyncIterator[StreamEvent]]
    params: type[P]
    method: Method = "GET"
    problems: tuple[int, ...] = ()
    body: type[object] | None = None


AnyOperation: TypeAlias = Operation[Any, Any, Any]
AnyStream: TypeAlias = Stream[Any]


def stream_event(event: str, data: object, id: str = "") -> StreamEvent:
    """An event with its data as JSON."""
    return StreamEvent(event, msgspec.Raw(msgspec.json.encode(data, enc_hook=str)), id)  # a `Sentence` is a text

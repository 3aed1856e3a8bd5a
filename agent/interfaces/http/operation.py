"""Operations: routes that are made of typed functions, and lists in pages.

A function's own types say what its route takes and returns: parameters that the path names, the others of the query, a
struct or single fields for the body, headers, a page of a list. The application, the OpenAPI document and the tests
read the same values, so they agree. Each page of a list has a cursor for the next one, which means nothing to a client.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import wraps
from http import HTTPStatus
from inspect import Parameter, getdoc, isasyncgenfunction, signature
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated, Any, Generic, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

from agent.dataclass import dataclass
from agent.deeds.result import ResultValue
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.service import Service
from agent.vault.change import HTTP
from agent.workspace.workspace import Workspace

ACTOR = HTTP
"""The actor of what clients change, as commits name it, and the channel of what they ask."""

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

EVENTS = "text/event-stream"

Method = Literal["GET", "POST", "PUT", "DELETE", "PATCH"]
_WITH_BODY = {"POST", "PUT", "PATCH"}
_PLACE = re.compile(r"\{(\w+)")


@dataclass(frozen=True, slots=True)
class FromHeader:
    """Marks a parameter whose value is that of a header of the request, without its quotes; empty if it was not
    sent."""

    name: str


IfMatch = Annotated[str, FromHeader("If-Match")]
IfNoneMatch = Annotated[str, FromHeader("If-None-Match")]
LastEvent = Annotated[str, FromHeader("Last-Event-ID")]
"""The id of the last event that the client has of a stream."""

Limit = Annotated[int, msgspec.Meta(ge=1, le=200, description="The most items of a page.")]
Cursor = Annotated[
    str,
    msgspec.Meta(
        max_length=2_000,
        description="The next_cursor of the page before, as it was given.",
        extra_json_schema={"pattern": "^(Wz[A-Za-z0-9_-]+)?$"},  # a JSON list with a number first
    ),
]
_INSIDE = r"^(?!/)(?!(.*/)?\.\.?(/|$))[^\x00-\x1f\x7f-\x9f\\]*"
_EXAMPLES = ("projects/garden.md",)
PATH_FORM: Mapping[str, object] = MappingProxyType({"pattern": f"{_INSIDE}$", "examples": list(_EXAMPLES)})
"""What the API's document says of a path in the vault: no part is `.` or `..`, it does not begin with a slash, and
has no control characters."""
NOTE_FORM: Mapping[str, object] = MappingProxyType(
    {"pattern": _INSIDE + r"[^\x00-\x1f\x7f-\x9f/\\]\.(md|txt|csv|canvas|base)$", "examples": list(_EXAMPLES)}
)
"""The same of the path of a note."""


class ListPage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which page of a list is asked for."""

    limit: Limit = 50
    cursor: Cursor = ""


@dataclass(frozen=True, slots=True)
class TypedReply(Generic[R]):
    """A result with headers of its own, or with another status than its operation's."""

    result: R
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What a function takes beside the service or its vault: `params` of the path and query, `body` as the type of its
    parameter of that name (empty: of a POST or PUT, all parameters that the path does not name), `page` as the name of
    that of a `ListPage`, and `headers` by the names of their parameters."""

    params: type[msgspec.Struct]
    body: tuple[str, type[msgspec.Struct]] | None
    page: str
    headers: Mapping[str, str]
    has_service: bool

    @property
    def body_type(self) -> type[msgspec.Struct] | None:
        """The type of the body; None for a request without one."""
        return self.body[1] if self.body else None


@dataclass(frozen=True, slots=True)
class Operation:
    """A route whose function returns one result, or a `TypedReply` of it; or yields `StreamEvent`s (SSE) until the
    client leaves or the work is over.

    `name` is the operation's id in the OpenAPI document. `problems` are the statuses of the answers that it may give
    beside its own and those that every operation may. A result of another `content_type` than JSON is text.
    """

    method: Method
    path: str
    name: str
    summary: str
    function: Callable[..., Any]
    taken: Taken
    result: Any
    status: int = HTTPStatus.OK
    problems: tuple[int, ...] = ()
    content_type: str = "application/json"

    @property
    def is_stream(self) -> bool:
        """True if the function yields events."""
        return self.content_type == EVENTS


class StreamEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event of a stream: `data` is JSON; `id` goes into `Last-Event-ID` when a client comes back."""

    event: str
    data: msgspec.Raw
    id: str = ""


@dataclass(frozen=True, slots=True)
class Routes:
    """The operations below one address, in the order in which a path is looked up.

    Each method names a path below it, a summary, and the statuses of further answers (and where they are not the usual
    ones, `status`, `name` and `content_type`), and takes a function: a handler, by decoration, or a deed as it is. Its
    first parameter is the `Service` or the `Workspace`.
    """

    base: str
    entries: list[Operation] = field(default_factory=list)

    def get(self, path: str, summary: str, *problems: int, **more: Any) -> Callable[[F], F]:
        return self._add("GET", path, summary, problems, more)

    def post(self, path: str, summary: str, *problems: int, **more: Any) -> Callable[[F], F]:
        return self._add("POST", path, summary, problems, more)

    def put(self, path: str, summary: str, *problems: int, **more: Any) -> Callable[[F], F]:
        return self._add("PUT", path, summary, problems, more)

    def delete(self, path: str, summary: str, *problems: int, **more: Any) -> Callable[[F], F]:
        return self._add("DELETE", path, summary, problems, more)

    def _add(
        self, method: Method, path: str, summary: str, problems: tuple[int, ...], more: dict[str, Any]
    ) -> Callable[[F], F]:
        def add(function: F) -> F:
            self.entries.append(operation(method, self.base + path, summary, function, problems=problems, **more))
            return function

        return add


def operation(
    method: Method, path: str, summary: str, function: Callable[..., Any], *, name: str = "", **more: Any
) -> Operation:
    """The operation of a function, whose types say what it takes and returns."""
    found = get_type_hints(function, include_extras=True)["return"]
    result = get_args(found)[0] if get_origin(found) is TypedReply else found
    if isasyncgenfunction(function):
        more["content_type"] = EVENTS
    return Operation(
        method, path, name or function.__name__, summary, function, _taken(function, method, path), result, **more
    )


def arguments(
    entry: Operation, service: Service, named: Mapping[str, str], body: object, headers: Mapping[str, str]
) -> tuple[object, dict[str, Any]]:
    """The first argument of an entry's function, and the others by their names. Raises `msgspec.ValidationError` for
    parameters that are not as the function takes them."""
    taken = entry.taken
    values = msgspec.structs.asdict(msgspec.convert(named, taken.params, strict=False))
    if taken.page:
        values[taken.page] = ListPage(values.pop("limit"), values.pop("cursor"))
    if taken.body is not None:
        values |= {taken.body[0]: body} if taken.body[0] else msgspec.structs.asdict(cast(msgspec.Struct, body))
    for parameter, name in taken.headers.items():
        values[parameter] = headers.get(name, "").removeprefix("W/").strip('"')
    return service if taken.has_service else service.workspace, values


def _taken(function: Callable[..., Any], method: Method, path: str) -> Taken:
    hints = get_type_hints(function, include_extras=True)
    first, *others = signature(function).parameters.values()
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    body, page, headers = None, "", dict[str, str]()
    for each in others:
        kind = hints[each.name]
        header = next((mark for mark in get_args(kind) if isinstance(mark, FromHeader)), None)
        if header is not None:
            headers[each.name] = header.name
        elif kind is ListPage:
            page = each.name
            fields += [(one.name, one.type, one.default) for one in msgspec.structs.fields(ListPage)]
        elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            body = each.name, kind
        else:
            fields.append((each.name, kind, *([] if each.default is Parameter.empty else [each.default])))
    sent = [each for each in fields if each[0] not in _PLACE.findall(path)]
    if method in _WITH_BODY and body is None and sent and not isasyncgenfunction(function):
        fields = [each for each in fields if each not in sent]
        body = "", _struct(f"{function.__name__.title().replace('_', '')}Body", sent, getdoc(function) or "")
    params = _struct("Params", fields)
    return Taken(params, body, page, headers, hints[first.name] is not Workspace)


def _struct(name: str, fields: list[Any], about: str = "") -> type[msgspec.Struct]:
    documented = {"__doc__": about}
    return msgspec.defstruct(name, fields, namespace=documented, frozen=True, forbid_unknown_fields=True, kw_only=True)


def stream_event(event: str, data: object, id: str = "") -> StreamEvent:
    """An event with its data as JSON."""
    return StreamEvent(event, msgspec.Raw(msgspec.json.encode(data, enc_hook=str)), id)  # a `Sentence` is a text


T = TypeVar("T")

NEXT = Annotated[str | None, msgspec.Meta(description="Give it as cursor for the next page; null on the last one.")]


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """Where a page ended: after so many items, the last of which had this key."""

    number: Annotated[int, msgspec.Meta(ge=0)]
    key: str


def page_of(items: Sequence[T], key: Callable[[T], str], page: ListPage) -> tuple[list[T], str | None]:
    """The items of one page, and the cursor for the next. An item that came or went before the place where the last
    page ended shifts nothing, as long as the last item of that page is there."""
    start = 0
    if page.cursor:
        place = parse_cursor(page.cursor)
        keys = [key(each) for each in items]
        start = keys.index(place.key) + 1 if place.key in keys else min(place.number, len(items))
    rows = list(items[start : start + page.limit])
    end = start + len(rows)
    return rows, cursor_after(end, key(rows[-1])) if rows and end < len(items) else None


def listed(
    name: str, items: str, deed: Callable[..., ResultValue], key: Callable[[Any], str] = attrgetter("id")
) -> Callable[..., ResultValue]:
    """A handler that answers with one page of the `items` that a deed returns; `name` is that of its result."""
    whole = signature(deed)
    kind = msgspec.defstruct(name, [("next_cursor", NEXT)], bases=(whole.return_annotation,), frozen=True, kw_only=True)

    @wraps(deed)
    def respond(workspace: Workspace, page: ListPage, **others: Any) -> ResultValue:
        found = deed(workspace, **others)
        rows, after = page_of(getattr(found, items), key, page)
        return cast(type[ResultValue], kind).of(found, **{items: rows}, next_cursor=after)

    respond.__annotations__ = {**deed.__annotations__, "page": ListPage, "return": kind}
    page = Parameter("page", Parameter.KEYWORD_ONLY, annotation=ListPage)
    respond.__signature__ = whole.replace(parameters=[*whole.parameters.values(), page])  # type: ignore[attr-defined]
    return respond


def cursor_after(number: int, key: str) -> str:
    """The cursor for what follows the item with this key."""
    return base64.urlsafe_b64encode(msgspec.json.encode(_Place(number, key))).decode().rstrip("=")


def parse_cursor(cursor: str) -> _Place:
    """The place in a cursor; raises `RequestRefused`."""
    try:
        data = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return msgspec.json.decode(data, type=_Place)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        hint = "take next_cursor of the page before, or none"
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "the cursor is not one of this list", hint=hint) from None

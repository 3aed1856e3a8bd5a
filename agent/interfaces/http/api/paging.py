"""Lists in pages: each page has a cursor for the next one, which means nothing to a client."""

import base64
import binascii
from collections.abc import Callable, Sequence
from functools import wraps
from http import HTTPStatus
from inspect import Parameter, signature
from operator import attrgetter
from typing import Annotated, Any, TypeVar, cast

import msgspec

from agent.deeds.result import ResultValue
from agent.interfaces.http.operation import ListPage
from agent.interfaces.http.problems import RequestRefused
from agent.workspace.workspace import Workspace

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
    shown = list(items[start : start + page.limit])
    end = start + len(shown)
    return shown, cursor_after(end, key(shown[-1])) if shown and end < len(items) else None


def listed(
    name: str, items: str, deed: Callable[..., ResultValue], key: Callable[[Any], str] = attrgetter("id")
) -> Callable[..., ResultValue]:
    """A handler that answers with one page of the `items` that a deed returns; `name` is that of its result."""
    whole = signature(deed)
    kind = msgspec.defstruct(name, [("next_cursor", NEXT)], bases=(whole.return_annotation,), frozen=True, kw_only=True)

    @wraps(deed)
    def respond(workspace: Workspace, page: ListPage, **others: Any) -> ResultValue:
        found = deed(workspace, **others)
        shown, after = page_of(getattr(found, items), key, page)
        return cast(type[ResultValue], kind).of(found, **{items: shown}, next_cursor=after)

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

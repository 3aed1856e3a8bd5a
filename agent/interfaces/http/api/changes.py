"""The stream of what happens in the vault while the daemon runs."""

from collections.abc import AsyncIterator
from dataclasses import fields, is_dataclass
from typing import Annotated

import msgspec

from agent.interfaces.http.following import followed
from agent.interfaces.http.operation import Call, Stream, StreamEvent, stream_event


class Since(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`after` is the id of an event: the stream begins with the next one. What a page shows was read at some id."""

    after: Annotated[int, msgspec.Meta(ge=0)] | None = None


async def changes(call: Call[Since, None]) -> AsyncIterator[StreamEvent]:
    """Every event of the daemon from now on, or after `Last-Event-ID`, or after the id of the query."""
    feed = call.service.changes
    after = "" if call.params.after is None else str(call.params.after)
    yield stream_event("hello", {"last": feed.last})
    async for item in followed(feed, call.last_event or after):
        yield stream_event(type(item.event).__name__, _plain(item.event), str(item.number))


def _plain(event: object) -> dict[str, str | int | float | bool | None]:
    """The event's fields that are plain values; its changes and objects stay here."""
    if not is_dataclass(event):
        return {}
    found = {each.name: getattr(event, each.name) for each in fields(event)}
    return {name: value for name, value in found.items() if isinstance(value, str | int | float | bool | None)}


STREAMS = (Stream("/api/v1/events", "events", "What happens, as it happens", changes, Since),)

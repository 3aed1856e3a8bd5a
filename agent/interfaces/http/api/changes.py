"""The stream of what happens in the vault while the daemon runs."""

from collections.abc import AsyncIterator
from dataclasses import fields, is_dataclass

from agent.interfaces.http.following import followed
from agent.interfaces.http.operation import Call, NoParams, Stream, StreamEvent, stream_event


async def changes(call: Call[NoParams, None]) -> AsyncIterator[StreamEvent]:
    """Every event of the daemon from now on, or after `Last-Event-ID`."""
    feed = call.service.changes
    yield stream_event("hello", {"last": feed.last})
    async for item in followed(feed, call.last_event):
        yield stream_event(type(item.event).__name__, _plain(item.event), str(item.number))


def _plain(event: object) -> dict[str, str | int | float | bool | None]:
    """The event's fields that are plain values; its changes and objects stay here."""
    if not is_dataclass(event):
        return {}
    found = {each.name: getattr(event, each.name) for each in fields(event)}
    return {name: value for name, value in found.items() if isinstance(value, str | int | float | bool | None)}


STREAMS = (Stream("/api/v1/events", "events", "What happens, as it happens", changes, NoParams),)

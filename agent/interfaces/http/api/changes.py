"""The stream of what happens in the vault while the daemon runs."""

from collections.abc import AsyncIterator
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
    last = feed.last  # a reader who was told of it misses nothing that comes after it
    after = str(last if call.params.after is None else call.params.after)
    yield stream_event("hello", {"last": last})
    async for item in followed(feed, call.last_event or after):
        yield StreamEvent(item.event.name, msgspec.Raw(item.event.data), str(item.number))


STREAMS = (Stream("/api/v1/events", "events", "What happens, as it happens", changes, Since),)

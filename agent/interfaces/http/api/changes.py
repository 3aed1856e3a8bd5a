"""The stream of what happens in the vault while the daemon runs."""

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec

from agent.interfaces.http.following import followed
from agent.interfaces.http.operation import LastEvent, Routes, StreamEvent, stream_event
from agent.interfaces.http.service import Service

ROUTES = Routes("/api/v1")
After = Annotated[int, msgspec.Meta(ge=0)]
"""The id of an event: what a page shows was read at some id, and its stream begins with the next one."""


@ROUTES.get("/events", "What happens, as it happens")
async def events(service: Service, last_event: LastEvent, after: After | None = None) -> AsyncIterator[StreamEvent]:
    """Every event of the daemon from now on, or after `Last-Event-ID`, or after the id of the query."""
    feed = service.changes
    last = feed.last  # a reader who was told of it misses nothing that comes after it
    start = str(last if after is None else after)
    yield stream_event("hello", {"last": last})
    async for item in followed(feed, last_event or start):
        yield StreamEvent(item.event.name, msgspec.Raw(item.event.data), str(item.number))

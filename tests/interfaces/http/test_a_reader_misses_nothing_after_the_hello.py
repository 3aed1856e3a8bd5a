"""What happens while the stream's first message is on its way is told after it."""

import asyncio
from dataclasses import dataclass, field
from typing import cast

from agent.background.feed import Feed
from agent.events.notices import NotificationSuppressed
from agent.interfaces.http.api.server import events
from agent.interfaces.http.operation import StreamEvent
from agent.interfaces.http.service import Happening, Service, take_in


@dataclass(frozen=True, slots=True)
class OnlyAFeed:
    """As much of a service as the stream reads."""

    changes: Feed[Happening] = field(default_factory=Feed)


def test_what_comes_just_after_the_hello_is_told() -> None:
    service = OnlyAFeed()
    tell = NotificationSuppressed("n1", "task_due", "held", "quiet")

    async def read() -> list[StreamEvent]:
        stream = events(cast(Service, service), "")
        hello = await anext(stream)
        take_in(service.changes, tell)
        return [hello, await asyncio.wait_for(anext(stream), 5.0)]

    take_in(service.changes, tell)
    hello, told = asyncio.run(read())
    assert (hello.event, told.event, told.id) == ("hello", "NotificationSuppressed", "2")

"""Follows a feed from the event loop: its events come from other threads."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from agent.background.feed import Feed, FeedItem

T = TypeVar("T")

QUIET = 15.0
"""Seconds of silence after which a reader is looked after: one that has left is noticed by then."""


async def followed(feed: Feed[T], last_event: str = "") -> AsyncIterator[FeedItem[T]]:
    """The feed's events after the one with this id (empty or unknown: from now on), until the feed is closed."""
    number = int(last_event) if last_event.isascii() and last_event.isdigit() else feed.last
    number = min(number, feed.last)  # an id of an earlier start of the daemon
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    leave = feed.listen(lambda: loop.call_soon_threadsafe(woken.set))
    try:
        while True:
            woken.clear()
            over = feed.closed
            for item in feed.after(number):
                number = item.number
                yield item
            if over:
                return
            await woken.wait()
    finally:
        leave()

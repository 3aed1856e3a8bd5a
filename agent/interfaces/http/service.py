"""The values that every route works with: the vault, its search, the runs that were asked for, and what happens: a feed
of events that come from other threads, followed from the event loop.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field, fields, is_dataclass
from typing import TypeVar

import msgspec

from agent.background.asked_runs import AskedRuns
from agent.background.feed import KEPT_AT_REST, Feed, FeedItem
from agent.background.pool import Pool
from agent.dataclass import dataclass
from agent.events.bus import Bus
from agent.events.types import FilesChanged, Tick, TurnEnded
from agent.index.model_files import OnDemand
from agent.interfaces.http.door.port import OpenPort, PortRequest
from agent.interfaces.http.door.sign_in import SignIn
from agent.interfaces.http.shares import Shares
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace

T = TypeVar("T")

QUIET = 15.0
"""Seconds of silence after which a reader is looked after: one that has left is noticed by then."""


async def followed(feed: Feed[T], last_event: str = "") -> AsyncIterator[FeedItem[T]]:
    """The feed's events after the one with this id (empty or unknown: from now on), until the feed is closed."""
    number = _number(feed, last_event)
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


async def next_items(feed: Feed[T], last_event: str = "") -> AsyncIterator[FeedItem[T]]:
    """The feed's events after the one with this id, as many as there are; where there is none yet, those that come in
    the next seconds."""
    number = _number(feed, last_event)
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    leave = feed.listen(lambda: loop.call_soon_threadsafe(woken.set))
    try:
        if not feed.after(number) and not feed.closed:
            with suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), QUIET)
                await asyncio.sleep(_GATHERED)
    finally:
        leave()
    for item in feed.after(number):
        yield item


_GATHERED = 0.05
"""Seconds in which the pieces of a text gather before they are sent as one response."""


def _number(feed: Feed[T], last_event: str) -> int:
    """The number after which a reader begins; an id of an earlier start of the daemon is taken for the newest."""
    number = int(last_event) if last_event.isascii() and last_event.isdigit() else feed.last
    return min(number, feed.last)


_NEVER_SHOWN = (Tick, TurnEnded, FilesChanged)
"""Events of each turn of the daemon, which tell a reader nothing."""
KEPT = 500
"""Happenings that are kept while more come: as many as one look at the files can tell of."""
STILL = 600.0
"""Seconds without an event after which only a few of the last ones are kept: a reader who was away for so long begins
anew where some are missing."""


@dataclass(frozen=True, slots=True)
class Happening:
    """An event's name, and its fields that are plain values as a JSON object."""

    name: str
    data: bytes


def take_in(changes: Feed[Happening], event: object) -> None:
    """Put an event of the daemon into the feed, unless it is one of each turn."""
    if not isinstance(event, _NEVER_SHOWN):
        changes.put(Happening(type(event).__name__, msgspec.json.encode(_plain_fields(event), enc_hook=str)))


@dataclass(slots=True)
class Happenings:
    """Hears a daemon's events for a feed, which is made short when nothing has come for a while."""

    changes: Feed[Happening]
    _last: int = field(default=0, init=False)
    _still_from: float | None = field(default=None, init=False)
    """The first tick after the event with the number `_last`; None when the feed was made short since."""

    def hear(self, event: object) -> None:
        """Take in an event."""
        take_in(self.changes, event)
        if not isinstance(event, Tick):
            return
        if self.changes.last != self._last:
            self._last, self._still_from = self.changes.last, event.now
        elif self._still_from is not None and event.now - self._still_from >= STILL:
            self._still_from = None
            self.changes.shorten(KEPT_AT_REST)


def _plain_fields(event: object) -> dict[str, str | int | float | bool | None]:
    """The event's fields that are plain values; a `Sentence` is a text."""
    if not is_dataclass(event):
        return {}
    found = {each.name: getattr(event, each.name) for each in fields(event)}
    return {name: value for name, value in found.items() if isinstance(value, str | int | float | bool | None)}


@dataclass(slots=True)
class SharedSearch:
    """One search index for all requests of a server: one request at a time searches in it. Its files are closed when
    nobody has searched for a while."""

    index: SearchIndex
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: OnDemand[SearchIndex] = field(init=False)

    def __post_init__(self) -> None:
        self._open = OnDemand(lambda: self.index, self._close)

    @contextmanager
    def held(self) -> Iterator[SearchIndex]:
        """The index, for this block only."""
        with self._lock:
            yield self._open.get()

    def _close(self, index: SearchIndex) -> None:
        with self._lock:
            index.close()


@dataclass(frozen=True, slots=True)
class Service:
    """What one daemon's doors give access to. `bus` and `pool` are the daemon's own, `changes` are its events.

    `open_port` raises `UserError` for a port that is taken; `urls` are the addresses of the ports that are open.
    """

    workspace: Workspace
    index: SharedSearch
    pool: Pool
    bus: Bus
    runs: AskedRuns
    changes: Feed[Happening]
    sign_in: SignIn
    open_port: Callable[[PortRequest], OpenPort]
    urls: Callable[[], tuple[str, ...]]
    shares: Shares

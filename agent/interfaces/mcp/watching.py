"""Tells programs which of the resources that they subscribed to have changed, and which lists, whoever changed them.

The few notes that are subscribed to are looked at once a second, and nothing without a subscription.
"""

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from typing import Literal, TypeAlias

import anyio
from anyio import to_thread

from agent.dataclass import dataclass
from agent.interfaces.mcp.resources import Resources

EVERY = 1.0
"""Seconds between two looks."""
LISTS_EVERY = 5.0
"""Seconds between two looks at a list: all names of notes, or all skills."""
ListName: TypeAlias = Literal["prompts", "resources"]
Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]
Tell: TypeAlias = Callable[[str], Awaitable[None]]
"""Function that tells whoever asked that the resource with this URI has changed."""


@dataclass(slots=True)
class Watch:
    """The subscriptions of this process, by URI, each with how many there are."""

    resources: Resources
    _wanted: Counter[str] = field(default_factory=Counter)
    _seen: dict[str, Stamp] = field(default_factory=dict)
    _begun: anyio.Event = field(default_factory=anyio.Event)

    async def add(self, uris: Iterable[str]) -> None:
        """Watch these resources; raises `UserError` for one that there is not."""
        stamps = {uri: await to_thread.run_sync(self._stamp, uri) for uri in uris}
        for uri, stamp in stamps.items():
            self._wanted[uri] += 1
            self._seen.setdefault(uri, stamp)
        self._begun.set()

    def drop(self, uris: Iterable[str]) -> None:
        """Watch these resources for one subscription less."""
        self._wanted.subtract(uris)
        self._wanted = +self._wanted
        self._seen = {uri: stamp for uri, stamp in self._seen.items() if uri in self._wanted}

    async def run(self, tell: Tell) -> None:
        """Look at the resources until this is cancelled."""
        await self._begun.wait()
        while True:
            for uri in list(self._seen):
                stamp = await to_thread.run_sync(self._stamp, uri)
                if stamp != self._seen.get(uri, stamp):
                    self._seen[uri] = stamp
                    await tell(uri)
            await anyio.sleep(EVERY)

    def _stamp(self, uri: str) -> Stamp:
        root = self.resources.workspace.vault.place.root
        return tuple(_stamp_of(f"{root}/{path}") for path in self.resources.paths(uri))


@dataclass(slots=True)
class ListWatch:
    """The lists that somebody wants to be told of, each with how many there are. `look` gives what tells one state of
    a list from another, and may block."""

    look: Mapping[ListName, Callable[[], object]]
    _wanted: Counter[ListName] = field(default_factory=Counter)
    _seen: dict[ListName, object] = field(default_factory=dict)
    _begun: anyio.Event = field(default_factory=anyio.Event)

    async def add(self, name: ListName) -> None:
        """Watch a list, as it is now."""
        if not self._wanted[name]:
            self._seen[name] = await to_thread.run_sync(self.look[name])
        self._wanted[name] += 1
        self._begun.set()

    def drop(self, name: ListName) -> None:
        """Watch a list for one listener less."""
        self._wanted[name] -= 1

    async def run(self, tell: Callable[[ListName], Awaitable[None]]) -> None:
        """Look at the lists until this is cancelled."""
        await self._begun.wait()
        while True:
            await anyio.sleep(LISTS_EVERY)
            for name in [name for name, count in self._wanted.items() if count > 0]:
                found = await to_thread.run_sync(self.look[name])
                if found != self._seen[name]:
                    self._seen[name] = found
                    await tell(name)


def _stamp_of(path: str) -> tuple[int, int, int] | None:
    """What tells one version of a file from another without reading it."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a path as text, once a second
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino

"""Tells programs which of the resources that they subscribed to have changed, and which lists, whoever changed them.

The few notes that are subscribed to are looked at once a second, and nothing without a subscription.

The vault's notes as resources (`note:///PATH`), three of them by name: the profile, MEMORY.md and today's note.
"""

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from typing import Literal, TypeAlias
from urllib.parse import quote, unquote

import anyio
from anyio import to_thread

from agent.dataclass import dataclass
from agent.errors import NoteGone, UserError
from agent.interfaces.mcp.clients import Client
from agent.tools.builtin.notes import Notes
from agent.tools.note_access import check_readable, may_read
from agent.tools.taint import frame
from agent.tools.text_origin import text_origin_of
from agent.vault.folders import MEMORY_NOTE, PROFILE
from agent.workspace.workspace import Workspace

NOTE = "note:///"
MARKDOWN = "text/markdown"
PAGE = 200
"""The most notes in one part of the list."""
_HINT = "list the resources, or find the note with the tool search"


@dataclass(frozen=True, slots=True)
class VaultResource:
    """A resource: its URI, and what it is called."""

    uri: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of one vault."""

    workspace: Workspace

    def page(self, cursor: str) -> tuple[list[VaultResource], str]:
        """The resources after a cursor (empty: from the beginning), and the cursor of the next part; empty for none."""
        vault = self.workspace.vault
        paths = [path for path in vault.note_paths() if path > cursor and may_read("owner", path, vault.home)]
        found = [] if cursor else [VaultResource(uri, name, about) for uri, (name, about, _) in self._named().items()]
        found += [VaultResource(NOTE + quote(path), path) for path in paths[:PAGE]]
        return found, paths[PAGE - 1] if len(paths) > PAGE else ""

    def paths(self, uri: str) -> tuple[str, ...]:
        """The notes that a resource shows; raises `UserError` for a URI that names none, and `BadPath`."""
        named = self._named().get(uri)
        if named is not None:
            return tuple(named[2]())
        if not uri.startswith(NOTE):
            raise UserError("there is no resource {uri}", hint=_HINT, uri=ascii(uri)[1:-1])
        return (check_readable(unquote(uri.removeprefix(NOTE))),)

    def read(self, uri: str, client: Client) -> str:
        """The text of a resource; text of strangers is framed and taints the program. Raises as `paths`, and
        `NoteGone`."""
        vault = self.workspace.vault
        notes = Notes(vault, text_origin_of(vault))
        parts: list[str] = []
        paths = self.paths(uri)
        for path in paths:
            with client.lock:
                data = vault.read(path)
                if data is None and len(paths) > 1:
                    continue
                if data is None or b"\0" in data[:8000]:
                    raise NoteGone("there is no note {path}", hint=_HINT, path=path)
                client.context.seen.add(path, data)
            text = vault.masked(data.decode("utf-8", "replace"))
            source = notes.origin_of(path, data)
            if source:
                client.context.taint.mark(source)
                text = frame(text, source)
            parts.append(text if len(paths) == 1 else f"<!-- {path} -->\n{text}")
        return "\n\n".join(parts)

    def _named(self) -> dict[str, tuple[str, str, Callable[[], Iterable[str]]]]:
        vault, today = self.workspace.vault, self.workspace.clock.now().date()
        place = vault.home.at(PROFILE)

        def profile() -> Iterable[str]:
            return (path for path in vault.note_paths(place) if not path.rpartition("/")[2].startswith(("_", "About")))

        return {
            "vault:///profile": ("profile", "What the agent knows about the person.", profile),
            "vault:///memory": (MEMORY_NOTE, "Long-term facts.", lambda: [vault.home.at(MEMORY_NOTE)]),
            "vault:///today": ("today", "The daily note of today.", lambda: [vault.home.day_note(today)]),
        }


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

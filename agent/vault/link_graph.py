"""The notes of a vault and the links between them, as one graph."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.markdown.blocks import parse_body
from agent.markdown.links import find_header_links, find_links
from agent.markdown.note import Note
from agent.vault.listing import contents
from agent.vault.note_names import NoteNames
from agent.vault.store import Vault

_KEPT = 50_000
"""Contents of which the links are kept in memory."""


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """The paths of the notes, sorted, and each pair of notes (source, target) where the first links to the second."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class LinkReader:
    """The links of notes, by their content: what has not changed is not read again. Thread-safe."""

    _known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def graph(self, vault: Vault) -> LinkGraph:
        """The graph as it is now; a link to no note is left out, and so is one of a note to itself."""
        with self._lock:
            listed = contents(vault)
            names = NoteNames.of(sorted(listed))
            edges = {
                (source, found)
                for source, targets in self._targets(vault, listed).items()
                for target in targets
                if (found := names.find(source, target)) is not None and found != source
            }
        return LinkGraph(tuple(sorted(listed)), tuple(sorted(edges)))

    def _targets(self, vault: Vault, listed: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        if len(self._known) > _KEPT:
            self._known = {}
        for path, digest in listed.items():
            if digest not in self._known:
                self._known[digest] = _links(vault, path)
        return {path: self._known[digest] for path, digest in listed.items()}


def _links(vault: Vault, path: str) -> tuple[str, ...]:
    try:
        data = vault.glance(path)
    except OSError:  # it is gone, or a link: the next look sees that
        return ()
    note = Note.parse(data)
    found = (*find_header_links(data), *find_links(parse_body(note.body, note.body_line))[0])
    return tuple(dict.fromkeys(each.target for each in found if not each.external and each.target))

"""The notes of a vault and the links between them, as one graph."""

import threading
from collections.abc import Mapping
from dataclasses import field
from functools import cache

from agent.dataclass import dataclass
from agent.markdown import tags
from agent.markdown.blocks import parse_body
from agent.markdown.links import find_header_links, find_links
from agent.markdown.note import Note
from agent.vault.listing import contents
from agent.vault.note_names import NoteNames
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """The paths of the notes, sorted, and each pair of notes (source, target) where the first links to the second.
    `tags` are the tags of the notes that have some, without case, each with its parents."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Parsed:
    """The targets of a note's links, and its tags."""

    targets: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(slots=True)
class LinkReader:
    """The links of notes, by their content: what has not changed is not read again, and the graph of a vault in which
    nothing has changed is not made again. Private notes are in none. Thread-safe."""

    _known: dict[str, _Parsed] = field(default_factory=dict)
    _seen: tuple[Mapping[str, str], list[str]] | None = None
    """The contents of all notes, and those that a pattern keeps from the agent, of which `_graph` was made."""
    _graph: LinkGraph = LinkGraph((), ())
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def graph(self, vault: Vault) -> LinkGraph:
        """The graph as it is now; a link to no note is left out, and so is one of a note to itself."""
        with self._lock:
            found = contents(vault)
            seen = found, vault.private_notes.covered(found)
            if seen != self._seen:  # what a header says is known by the content
                listed = {path: found[path] for path in vault.private_notes.left_of(found)}
                self._graph, self._seen = self._joined(self._parsed(vault, listed)), seen
            return self._graph

    def _joined(self, parsed: Mapping[str, _Parsed]) -> LinkGraph:
        paths = tuple(sorted(parsed))
        names = NoteNames.of(paths)
        edges = {
            (source, found)
            for source, each in parsed.items()
            for target in each.targets
            if (found := names.find(source, target)) is not None and found != source
        }
        tagged = {path: each.tags for path, each in parsed.items() if each.tags}
        return LinkGraph(paths, tuple(sorted(edges)), tagged)

    def _parsed(self, vault: Vault, listed: Mapping[str, str]) -> dict[str, _Parsed]:
        for path, digest in listed.items():
            if digest not in self._known:
                self._known[digest] = _parse(vault, path)
        if len(self._known) > 2 * len(listed):  # most are what notes said once
            self._known = {digest: self._known[digest] for digest in listed.values()}
        return {path: self._known[digest] for path, digest in listed.items()}


@cache
def link_reader(vault: str) -> LinkReader:
    """The reader that a process has for the vault of this id."""
    return LinkReader()


def _parse(vault: Vault, path: str) -> _Parsed:
    try:
        data = vault.glance(path)
    except OSError:  # it is gone, or a link: the next look sees that
        return _Parsed()
    note = Note.parse(data)
    body = parse_body(note.body, note.body_line)
    links, unlinked = find_links(body)
    targets = (each.target for each in (*find_header_links(data), *links) if not each.external and each.target)
    found = (*tags.find_header_tags(note.header), *tags.find_tags(unlinked))
    names = dict.fromkeys(parent for each in found for parent in tags.parents(each.casefold()))
    return _Parsed(tuple(dict.fromkeys(targets)), tuple(names))

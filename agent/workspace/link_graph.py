"""The notes of a vault and the links between them, as one graph.

A part of the graph of links that can be shown: the notes that are wanted, and of too many the most linked. Pure.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cache
from heapq import nlargest

from agent.dataclass import dataclass
from agent.markdown import contents as tags
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


MOST_NOTES, MOST_LINKS = 5_000, 20_000
MOST_CHARACTERS = 600_000
"""The most characters of all paths together: a name may have hundreds."""


@dataclass(frozen=True, slots=True)
class WantedNotes:
    """The notes with `text` in their path, in `folder`, with `tag`, that `is_wanted` accepts; empty: any. With
    `neighbours` also those that are linked with one of them."""

    text: str = ""
    folder: str = ""
    tag: str = ""
    neighbours: bool = False
    is_wanted: Callable[[str], bool] = bool

    @property
    def is_any(self) -> bool:
        """True if nothing is chosen by text, folder or tag."""
        return not (self.text or self.folder or self.tag)


@dataclass(frozen=True, slots=True)
class ViewedNote:
    """A note, how many links it has and gets, and false if it is there as a neighbour only."""

    path: str
    links: int
    is_match: bool = True

    @property
    def title(self) -> str:
        """The name of its file."""
        return self.path.rpartition("/")[2].removesuffix(".md")


@dataclass(frozen=True, slots=True)
class LinkView:
    """Notes, and the links between them as pairs of their numbers; how many of both were left out."""

    notes: tuple[ViewedNote, ...]
    links: tuple[tuple[int, int], ...]
    notes_left: int = 0
    links_left: int = 0


def view_of(graph: LinkGraph, wanted: WantedNotes, most: int = MOST_NOTES) -> LinkView:
    """The wanted part of a graph: at most so many notes, those with the most links of the whole graph, in the order of
    the graph; and the links between them, those of the most linked notes first if there are too many."""
    count = dict.fromkeys(graph.nodes, 0)
    for pair in graph.edges:
        for path in pair:
            count[path] += 1
    matches = {path for path in graph.nodes if _matches(graph, wanted, path)}
    inside = matches | _around(graph, matches, wanted) if wanted.neighbours and not wanted.is_any else matches
    chosen = _most_linked(inside, matches, count, most)
    notes = [ViewedNote(path, count[path], path in matches) for path in graph.nodes if path in chosen]
    numbers = {each.path: number for number, each in enumerate(notes)}
    links = [(numbers[one], numbers[other]) for one, other in graph.edges if one in numbers and other in numbers]
    strongest = links
    if len(links) > MOST_LINKS:
        strongest = sorted(nlargest(MOST_LINKS, links, key=lambda pair: min(notes[number].links for number in pair)))
    return LinkView(tuple(notes), tuple(strongest), len(inside) - len(notes), len(links) - len(strongest))


def _matches(graph: LinkGraph, wanted: WantedNotes, path: str) -> bool:
    folder, tag = wanted.folder.strip("/"), wanted.tag.strip().removeprefix("#").casefold()
    return (
        (not folder or path.startswith(f"{folder}/"))
        and (not tag or tag in graph.tags.get(path, ()))
        and (not wanted.text or wanted.text.casefold() in path.removesuffix(".md").casefold())
        and wanted.is_wanted(path)
    )


def _around(graph: LinkGraph, matches: set[str], wanted: WantedNotes) -> set[str]:
    """The notes that are linked with one of these."""
    pairs = ((one, other) for one, other in graph.edges if (one in matches) != (other in matches))
    return {path for pair in pairs for path in pair if path not in matches and wanted.is_wanted(path)}


def _most_linked(inside: Iterable[str], matches: set[str], count: dict[str, int], most: int) -> set[str]:
    """The notes that are shown: matches first, then the most linked, until there are enough."""
    characters, chosen = 0, set[str]()
    for path in sorted(inside, key=lambda path: (path not in matches, -count[path], path))[:most]:
        characters += len(path)
        if characters > MOST_CHARACTERS:
            break
        chosen.add(path)
    return chosen

"""A part of the graph of links that can be shown: the notes that are wanted, and of too many the most linked. Pure."""

from collections.abc import Callable, Iterable
from heapq import nlargest

from agent.dataclass import dataclass
from agent.vault.link_graph import LinkGraph

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
    shown = _most_linked(inside, matches, count, most)
    notes = [ViewedNote(path, count[path], path in matches) for path in graph.nodes if path in shown]
    numbers = {each.path: number for number, each in enumerate(notes)}
    links = [(numbers[one], numbers[other]) for one, other in graph.edges if one in numbers and other in numbers]
    kept = links
    if len(links) > MOST_LINKS:
        kept = sorted(nlargest(MOST_LINKS, links, key=lambda pair: min(notes[number].links for number in pair)))
    return LinkView(tuple(notes), tuple(kept), len(inside) - len(notes), len(links) - len(kept))


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
    characters, shown = 0, set[str]()
    for path in sorted(inside, key=lambda path: (path not in matches, -count[path], path))[:most]:
        characters += len(path)
        if characters > MOST_CHARACTERS:
            break
        shown.add(path)
    return shown

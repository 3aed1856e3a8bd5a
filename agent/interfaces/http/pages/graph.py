"""The graph: the links of the vault as a picture that can be moved, and as a list for who cannot see it."""

from collections.abc import Mapping
from urllib.parse import urlencode

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from agent.dataclass import dataclass
from agent.interfaces.http.pages.page import Page, PageRequest
from agent.interfaces.http.responses import json_response, problem_response
from agent.interfaces.http.service import Service
from agent.vault.folders import DAILY, OWN_NOTES
from agent.workspace.link_graph import LinkGraph, LinkView, WantedNotes, link_reader, view_of
from agent.workspace.workspace import Workspace

LISTED = 200
"""The most notes of the list."""
_OFFERED = 300
"""The most folders and tags that are offered."""
_LONGEST = 500
"""The most characters of a filter."""
_SCRIPTS = ("vendor/force-graph.min.js", "static/graph.js")
FIELDS = ("text", "folder", "tag", "whose", "near")


@dataclass(frozen=True, slots=True)
class _Offered:
    """A folder or a tag with the number of its notes."""

    name: str
    count: int


class Drawn(msgspec.Struct, frozen=True):
    """A view for the browser: the paths of the notes, the number of links of each, 1 for each that was asked for and 0
    for a neighbour, the numbers of linked notes one after the other, and how many notes and links were left out."""

    paths: tuple[str, ...]
    links: tuple[int, ...]
    matches: tuple[int, ...]
    edges: tuple[int, ...]
    notes_left: int
    links_left: int


def show(request: PageRequest) -> Mapping[str, object]:
    """The picture and its filter; both the picture and the list are loaded when the page is there, since the first
    look reads all notes."""
    form = _fields(request)
    query = urlencode({name: value for name, value in form.items() if value})
    return {**form, "query": query, "folders": _folders(request.workspace)}


def show_notes(request: PageRequest) -> Mapping[str, object]:
    """The notes of the picture as a list, the most linked first, and the tags that there are."""
    graph = _graph(request.workspace)
    view = view_of(graph, _wanted(request.workspace, _fields(request)))
    matches = [each for each in view.notes if each.is_match]
    notes = sorted(matches, key=lambda each: (-each.links, each.path))[:LISTED]
    return {
        "found": notes,
        "all": len(matches) + view.notes_left,
        "drawn": len(view.notes),
        "links": len(view.links),
        "view": view,
        "left": len(matches) - len(notes),
        "tags": _tags(graph),
    }


def _data(service: Service) -> BaseRoute:
    async def endpoint(request: Request) -> Response:
        query = {name: request.query_params.get(name, "") for name in FIELDS}
        try:
            return json_response(await run_in_threadpool(_drawn, service.workspace, query))
        except Exception as error:  # noqa: BLE001  # the script tells the person, whatever has failed
            return problem_response(error, service.workspace.settings.vault.language)

    return Route("/graph/data", endpoint, name="data of the graph")


def _drawn(workspace: Workspace, query: Mapping[str, str]) -> Drawn:
    view: LinkView = view_of(_graph(workspace), _wanted(workspace, query))
    return Drawn(
        tuple(each.path for each in view.notes),
        tuple(each.links for each in view.notes),
        tuple(int(each.is_match) for each in view.notes),
        tuple(number for pair in view.links for number in pair),
        view.notes_left,
        view.links_left,
    )


def _graph(workspace: Workspace) -> LinkGraph:
    return link_reader(workspace.vault.id).graph(workspace.vault)


def _fields(request: PageRequest) -> dict[str, str]:
    return {name: request.field(name)[:_LONGEST] for name in FIELDS}


def _wanted(workspace: Workspace, query: Mapping[str, str]) -> WantedNotes:
    home = workspace.vault.home

    def is_theirs(path: str) -> bool:
        return home.row(path) == OWN_NOTES or home.holds(path, DAILY)

    text, folder, tag = (query[name].strip()[:_LONGEST] for name in ("text", "folder", "tag"))
    near = query["near"] != "no"
    return WantedNotes(text, folder, tag, near, is_theirs if query["whose"] == "own" else bool)


def _folders(workspace: Workspace) -> list[_Offered]:
    """The folders with notes, by name; of too many the fullest."""
    counts: dict[str, int] = {}
    for path in workspace.vault.note_paths():
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            counts[folder] = counts.get(folder, 0) + 1
    return sorted(_fullest(counts), key=lambda each: each.name)


def _tags(graph: LinkGraph) -> list[_Offered]:
    counts: dict[str, int] = {}
    for tags in graph.tags.values():
        for tag in tags:
            counts[tag] = counts.get(tag, 0) + 1
    return _fullest(counts)


def _fullest(counts: Mapping[str, int]) -> list[_Offered]:
    found = (_Offered(name, count) for name, count in counts.items())
    return sorted(found, key=lambda each: (-each.count, each.name))[:_OFFERED]


PAGE = Page("graph", "/graph", show, "r", under="notes", scripts=_SCRIPTS)
NOTES = Page("graph_notes", "/graph/notes", show_notes, under="graph", is_live=False)
STREAMS = (_data,)

"""The links of the vault, as one graph."""

from typing import Annotated

import msgspec

from agent.interfaces.http.operation import Routes
from agent.workspace.link_graph import MOST_NOTES, WantedNotes, link_reader, view_of
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1")
Words = Annotated[str, msgspec.Meta(max_length=3_000)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_NOTES)]


class GraphNode(msgspec.Struct, frozen=True):
    """A note, and how many links it has and gets."""

    path: str
    title: str
    links: int


class Edge(msgspec.Struct, frozen=True):
    """A link from one note to another."""

    source: str
    target: str


class Graph(msgspec.Struct, frozen=True):
    """The notes and the links between them; `left_out` is the number of notes beyond the limit, `links_left_out` that
    of links beyond 20,000."""

    nodes: list[GraphNode]
    edges: list[Edge]
    left_out: int
    links_left_out: int


@ROUTES.get("/graph", "The links of the vault")
def graph(
    workspace: Workspace, folder: Words = "", tag: Words = "", text: Words = "", limit: Limit = MOST_NOTES
) -> Graph:
    """The notes and the links between them."""
    vault = workspace.vault
    found = view_of(link_reader(vault.id).graph(vault), WantedNotes(text, folder, tag), limit)
    nodes = [GraphNode(each.path, each.title, each.links) for each in found.notes]
    edges = [Edge(nodes[one].path, nodes[other].path) for one, other in found.links]
    return Graph(nodes, edges, found.notes_left, found.links_left)

"""The links of the vault, as one graph."""

from functools import cache
from typing import Annotated

import msgspec

from agent.interfaces.http.operation import Call, Operation
from agent.vault.link_graph import LinkReader


class GraphParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The notes in `folder`, or all; those with the most links first, if there are more than `limit`."""

    folder: Annotated[str, msgspec.Meta(max_length=3_000)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000)] = 5_000


class Node(msgspec.Struct, frozen=True):
    """A note, and how many links it has and gets."""

    path: str
    title: str
    links: int


class Edge(msgspec.Struct, frozen=True):
    """A link from one note to another."""

    source: str
    target: str


class Graph(msgspec.Struct, frozen=True):
    """The notes and the links between them; `left_out` is the number of notes beyond the limit."""

    nodes: list[Node]
    edges: list[Edge]
    left_out: int


@cache
def _reader(vault: str) -> LinkReader:
    return LinkReader()


def graph(call: Call[GraphParams, None]) -> Graph:
    """The notes and the links between them."""
    vault, start = call.service.workspace.vault, call.params.folder.strip("/")
    whole = _reader(vault.id).graph(vault)
    count: dict[str, int] = dict.fromkeys(whole.nodes, 0)
    for source, target in whole.edges:
        count[source] += 1
        count[target] += 1
    inside = [path for path in whole.nodes if not start or path.startswith(f"{start}/")]
    shown = set(sorted(inside, key=lambda path: (-count[path], path))[: call.params.limit])
    nodes = [Node(path, path.rpartition("/")[2].removesuffix(".md"), count[path]) for path in inside if path in shown]
    edges = [Edge(source, target) for source, target in whole.edges if source in shown and target in shown]
    return Graph(nodes, edges, len(inside) - len(shown))


OPERATIONS = (Operation("GET", "/api/v1/graph", "graph", "The links of the vault", graph, Graph, GraphParams),)

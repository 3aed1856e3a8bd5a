"""The notes of the vault: read with their version, written only from the version that a client has; and the links
between them, as one graph.
"""

import threading
from collections.abc import Callable
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Annotated, Any

import msgspec

from agent.interfaces.http.operation import (
    ACTOR,
    NEXT,
    NOTE_FORM,
    PATH_FORM,
    IfMatch,
    IfNoneMatch,
    ListPage,
    Routes,
    TypedReply,
    page_of,
)
from agent.interfaces.http.problems import RequestRefused, StaleNote
from agent.markdown.note import Note
from agent.runs.note_changes import NoteChanges, note_changes
from agent.vault.change import Outcome
from agent.vault.store import Vault
from agent.vault.worktree.paths import check_inside
from agent.workspace.link_graph import MOST_NOTES, WantedNotes, link_reader, view_of
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1/notes")
NotePath = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=3_000,
        description="Relative to the vault, with / between its parts.",
        extra_json_schema=dict(NOTE_FORM),
    ),
]
ONE_AT_A_TIME = threading.Lock()
"""Held from the look at a note's version to the write: of two clients with the same version one comes too late."""
Folder = Annotated[str, msgspec.Meta(max_length=3_000, extra_json_schema=dict(PATH_FORM))]
Pattern = Annotated[str, msgspec.Meta(max_length=200)]
"""With * and ?, for the path of a note or its name."""
AppendedText = Annotated[str, msgspec.Meta(min_length=1)]
HeadingName = Annotated[str, msgspec.Meta(max_length=300)]
Text = Annotated[str, msgspec.Meta(description="The whole note, its header included.")]


class NoteList(msgspec.Struct, frozen=True):
    """The paths of the notes, sorted."""

    notes: list[str]
    next_cursor: NEXT


class NoteContent(msgspec.Struct, frozen=True):
    """A note; `problem` says what is wrong with its header. The header `ETag` has its version."""

    path: str
    id: str | None
    title: str
    header: dict[str, Any]
    problem: str | None
    text: Text


class Written(msgspec.Struct, frozen=True):
    """A change that was made. `commit` is null if nothing had to change, or while the change waits because of `queued`.
    `conflicts` are notes with what could not be merged into a version that a person saved meanwhile."""

    path: str
    commit: str | None
    queued: str | None
    conflicts: list[str]


@ROUTES.get("", "The notes")
def list_notes(workspace: Workspace, page: ListPage, folder: Folder = "", pattern: Pattern = "") -> NoteList:
    """The paths of the notes."""
    folder = folder.strip("/")
    start = f"{check_inside(folder)}/" if folder else ""
    fits = _pattern(pattern)
    found = [path for path in workspace.vault.note_paths() if path.startswith(start) and fits(path)]
    return NoteList(*page_of(found, str, page))


def _pattern(pattern: str) -> Callable[[str], bool]:
    plain = pattern.casefold()
    return lambda path: (
        not plain or any(fnmatchcase(name.casefold(), plain) for name in (path, path.rpartition("/")[2]))
    )


@ROUTES.post("/{path:path}/append", "Add lines to a note", 202, 403, 404, 409)
def append_to_note(
    workspace: Workspace, path: NotePath, text: AppendedText, heading: HeadingName = ""
) -> TypedReply[Written]:
    """Add lines to the end of a note, or of the section below `heading` (`## Plan`), which is made if it is missing; no
    version is needed, as nothing of it is changed."""
    if not text.strip():
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "there is nothing to append")
    heading = " ".join(heading.split())
    heading = heading if not heading or heading.startswith("#") else f"## {heading}"
    changes = note_changes(workspace, ACTOR)
    return _written(changes, path, changes.append(path, text, heading))


@ROUTES.post("/{path:path}/move", "Give a note another path", 202, 403, 404, 409)
def move_note(workspace: Workspace, path: NotePath, to: NotePath) -> TypedReply[Written]:
    """Give a note another path; one that is there is never overwritten."""
    changes = note_changes(workspace, ACTOR)
    return _written(changes, to, changes.move(path, to))


@ROUTES.get("/{path:path}", "One note", 404)
def read_note(workspace: Workspace, path: NotePath) -> TypedReply[NoteContent]:
    """A note with its version in `ETag`."""
    data = note_changes(workspace, ACTOR).read(path)
    note = Note.parse(data)
    problem = note.problem.message if note.problem else None
    header = msgspec.to_builtins(dict(note.header), enc_hook=str)
    content = NoteContent(path, note.id, note.title(path), header, problem, note.text)
    return TypedReply(content, {"ETag": etag(workspace.vault, data)})


@ROUTES.put("/{path:path}", "Change or make a note", 201, 202, 404, 409, 412, 428)
def write_note(
    workspace: Workspace, path: NotePath, text: Text, if_match: IfMatch, if_none_match: IfNoneMatch
) -> TypedReply[Written]:
    """Change a note from the version in `If-Match`, or make a new one with `If-None-Match: *`."""
    changes, data = note_changes(workspace, ACTOR), text.encode()
    if if_none_match == "*":
        return _written(changes, path, changes.create(path, data), HTTPStatus.CREATED)
    with ONE_AT_A_TIME:
        outcome = changes.replace(path, _base(changes, path, if_match, text), data)
    return _written(changes, path, outcome)


@ROUTES.delete("/{path:path}", "Delete a note", 202, 404, 409, 412, 428)
def delete_note(workspace: Workspace, path: NotePath, if_match: IfMatch) -> TypedReply[Written]:
    """Delete a note of the version in `If-Match`; undo brings it back."""
    changes = note_changes(workspace, ACTOR)
    with ONE_AT_A_TIME:
        outcome = changes.delete(path, _base(changes, path, if_match, ""))
    return _written(changes, path, outcome)


def etag(vault: Vault, data: bytes) -> str:
    """The version of a note's bytes, as `ETag` has it."""
    return f'"{vault.content_id(data)}"'


def check_version(vault: Vault, path: str, current: bytes | None, if_match: str, sent: str) -> bytes:
    """The bytes of a note that is of the version which the client has; raises `RequestRefused` for another one, with
    both texts."""
    version = None if current is None else etag(vault, current)
    if current is not None and version is not None and if_match in {"*", version.strip('"')}:
        return current
    text = None if current is None else current.decode("utf-8", "replace")
    raise RequestRefused(
        HTTPStatus.PRECONDITION_FAILED,
        "{path} has changed since you read it" if current is not None else "{path} is not there any more",
        hint="merge the two versions in `stale`, then send the result with its etag as If-Match",
        stale=StaleNote(path, version, text, sent),
        path=path,
    )


def _base(changes: NoteChanges, path: str, if_match: str, sent: str) -> bytes:
    """The bytes of the version that the client has; raises `RequestRefused` for one that is not there any more."""
    if not if_match:
        raise RequestRefused(
            HTTPStatus.PRECONDITION_REQUIRED,
            "say which version of {path} you change",
            hint="send If-Match with the ETag of the note as you read it, or If-None-Match: * for a new note",
            path=path,
        )
    current = changes.find(check_inside(path, system=False))
    return check_version(changes.vault, path, current, if_match, sent)


def _written(changes: NoteChanges, path: str, outcome: Outcome, status: int = HTTPStatus.OK) -> TypedReply[Written]:
    now = None if outcome.queued else changes.find(path)
    done = Written(path, outcome.commit, outcome.queued, list(outcome.conflicts))
    headers = {} if now is None else {"ETag": etag(changes.vault, now)}
    return TypedReply(done, headers, HTTPStatus.ACCEPTED if outcome.queued else status)


GRAPH = Routes("/api/v1")
Words = Annotated[str, msgspec.Meta(max_length=3_000)]
GraphLimit = Annotated[int, msgspec.Meta(ge=1, le=MOST_NOTES)]


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


@GRAPH.get("/graph", "The links of the vault")
def graph(
    workspace: Workspace, folder: Words = "", tag: Words = "", text: Words = "", limit: GraphLimit = MOST_NOTES
) -> Graph:
    """The notes and the links between them."""
    vault = workspace.vault
    found = view_of(link_reader(vault.id).graph(vault), WantedNotes(text, folder, tag), limit)
    nodes = [GraphNode(each.path, each.title, each.links) for each in found.notes]
    edges = [Edge(nodes[one].path, nodes[other].path) for one, other in found.links]
    return Graph(nodes, edges, found.notes_left, found.links_left)

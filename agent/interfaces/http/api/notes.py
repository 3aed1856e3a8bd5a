"""The notes of the vault: read with their version, written only from the version that a client has."""

import threading
from collections.abc import Callable
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Annotated, Any

import msgspec

from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.operation import ACTOR, Call, Operation, TypedReply
from agent.interfaces.http.problems import RequestRefused, StaleNote
from agent.markdown.note import Note
from agent.runs.note_changes import NoteChanges, note_changes
from agent.vault.change import Outcome
from agent.vault.store import Vault
from agent.vault.worktree.paths import check_inside

NotePath = Annotated[str, msgspec.Meta(min_length=1, max_length=3_000, description="Relative to the vault, with /.")]
ONE_AT_A_TIME = threading.Lock()
"""Held from the look at a note's version to the write: of two clients with the same version one comes too late."""
Text = Annotated[str, msgspec.Meta(description="The whole note, its header included.")]


class NoteFilter(ListParams, frozen=True, forbid_unknown_fields=True):
    """Which notes to list: those in `folder`, whose path or name fits `pattern` (with * and ?)."""

    folder: Annotated[str, msgspec.Meta(max_length=3_000)] = ""
    pattern: Annotated[str, msgspec.Meta(max_length=200)] = ""


class NoteList(msgspec.Struct, frozen=True):
    """The paths of the notes, sorted."""

    notes: list[str]
    next_cursor: NEXT


class ByNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A note by its path in the vault."""

    path: NotePath


class NoteContent(msgspec.Struct, frozen=True):
    """A note; `problem` says what is wrong with its header. The header `ETag` has its version."""

    path: str
    id: str | None
    title: str
    header: dict[str, Any]
    problem: str | None
    text: Text


class NewText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a note is to say."""

    text: Text


class AppendedLines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Lines for the end of a note, or of the section below `heading` (`## Plan`), which is made if it is missing."""

    text: Annotated[str, msgspec.Meta(min_length=1)]
    heading: Annotated[str, msgspec.Meta(max_length=300)] = ""


class Destination(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The new path of a note."""

    to: NotePath


class Written(msgspec.Struct, frozen=True):
    """A change that was made. `commit` is null if nothing had to change, or while the change waits because of `queued`.
    `conflicts` are notes with what could not be merged into a version that a person saved meanwhile."""

    path: str
    commit: str | None
    queued: str | None
    conflicts: list[str]


def list_notes(call: Call[NoteFilter, None]) -> NoteList:
    """The paths of the notes."""
    folder = call.params.folder.strip("/")
    start = f"{check_inside(folder)}/" if folder else ""
    fits = _pattern(call.params.pattern)
    found = [path for path in _vault(call).note_paths() if path.startswith(start) and fits(path)]
    return NoteList(*page_of(found, str, call.params))


def _pattern(pattern: str) -> Callable[[str], bool]:
    plain = pattern.casefold()
    return lambda path: (
        not plain or any(fnmatchcase(name.casefold(), plain) for name in (path, path.rpartition("/")[2]))
    )


def read_note(call: Call[ByNote, None]) -> TypedReply[NoteContent]:
    """A note with its version in `ETag`."""
    path = call.params.path
    data = _changes(call).read(path)
    note = Note.parse(data)
    problem = note.problem.message if note.problem else None
    header = msgspec.to_builtins(dict(note.header), enc_hook=str)
    content = NoteContent(path, note.id, note.title(path), header, problem, note.text)
    return TypedReply(content, {"ETag": etag(_vault(call), data)})


def write_note(call: Call[ByNote, NewText]) -> TypedReply[Written]:
    """Change a note from the version in `If-Match`, or make a new one with `If-None-Match: *`."""
    path, changes = call.params.path, _changes(call)
    data = call.body.text.encode()
    if call.if_none_match == "*":
        outcome = changes.create(path, data)
        return _written(call, path, outcome, HTTPStatus.CREATED)
    with ONE_AT_A_TIME:
        base = _base(call, changes, call.body.text)
        outcome = changes.replace(path, base, data)
    return _written(call, path, outcome)


def delete_note(call: Call[ByNote, None]) -> TypedReply[Written]:
    """Delete a note of the version in `If-Match`; undo brings it back."""
    path, changes = call.params.path, _changes(call)
    with ONE_AT_A_TIME:
        outcome = changes.delete(path, _base(call, changes, ""))
    return _written(call, path, outcome)


def append_to_note(call: Call[ByNote, AppendedLines]) -> TypedReply[Written]:
    """Add lines to a note; no version is needed, as nothing of it is changed."""
    path, added = call.params.path, call.body
    if not added.text.strip():
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "there is nothing to append")
    heading = " ".join(added.heading.split())
    heading = heading if not heading or heading.startswith("#") else f"## {heading}"
    return _written(call, path, _changes(call).append(path, added.text, heading))


def move_note(call: Call[ByNote, Destination]) -> TypedReply[Written]:
    """Give a note another path; one that is there is never overwritten."""
    return _written(call, call.body.to, _changes(call).move(call.params.path, call.body.to))


def etag(vault: Vault, data: bytes) -> str:
    """The version of a note's bytes, as `ETag` has it."""
    return f'"{vault.content_id(data)}"'


def _base(call: Call[ByNote, NewText] | Call[ByNote, None], changes: NoteChanges, sent: str) -> bytes:
    """The bytes of the version that the client has; raises `RequestRefused` for one that is not there any more."""
    path = call.params.path
    if not call.if_match:
        raise RequestRefused(
            HTTPStatus.PRECONDITION_REQUIRED,
            "say which version of {path} you change",
            hint="send If-Match with the ETag of the note as you read it, or If-None-Match: * for a new note",
            path=path,
        )
    current = changes.find(check_inside(path, system=False))
    if current is not None and call.if_match in {"*", etag(changes.vault, current).strip('"')}:
        return current
    text = None if current is None else current.decode("utf-8", "replace")
    version = None if current is None else etag(changes.vault, current)
    raise RequestRefused(
        HTTPStatus.PRECONDITION_FAILED,
        "{path} has changed since you read it" if current is not None else "{path} is not there any more",
        hint="merge the two versions in `stale`, then send the result with its etag as If-Match",
        stale=StaleNote(path, version, text, sent),
        path=path,
    )


def _written(
    call: Call[ByNote, object], path: str, outcome: Outcome, status: int = HTTPStatus.OK
) -> TypedReply[Written]:
    now = None if outcome.queued else _changes(call).find(path)
    done = Written(path, outcome.commit, outcome.queued, list(outcome.conflicts))
    headers = {} if now is None else {"ETag": etag(_vault(call), now)}
    return TypedReply(done, headers, HTTPStatus.ACCEPTED if outcome.queued else status)


def _changes(call: "Call[ByNote, object]") -> NoteChanges:
    return note_changes(call.service.workspace, ACTOR)


def _vault(call: "Call[msgspec.Struct, object]") -> Vault:
    return call.service.workspace.vault


_PATH = "/api/v1/notes/{path:path}"
OPERATIONS = (
    Operation("GET", "/api/v1/notes", "list_notes", "The notes", list_notes, NoteList, NoteFilter),
    Operation("POST", f"{_PATH}/append", "append_to_note", "Add lines to a note", append_to_note, Written, ByNote,
              AppendedLines, 200, (202, 403, 404, 409)),
    Operation("POST", f"{_PATH}/move", "move_note", "Give a note another path", move_note, Written, ByNote,
              Destination, 200, (202, 403, 404, 409)),
    Operation("GET", _PATH, "read_note", "One note", read_note, NoteContent, ByNote, problems=(404,)),
    Operation("PUT", _PATH, "write_note", "Change or make a note", write_note, Written, ByNote, NewText, 200,
              (201, 202, 404, 409, 412, 428), ("If-Match", "If-None-Match")),
    Operation("DELETE", _PATH, "delete_note", "Delete a note", delete_note, Written, ByNote, None, 200,
              (202, 404, 409, 412, 428), ("If-Match",)),
)  # fmt: skip

"""`/api/profile-files`: the notes about the person, by layer; read, searched, and changed as the person wants them."""

from http import HTTPStatus
from typing import Annotated

import msgspec

from agent.deeds.profile import FileInfo, profile_file, profile_layers, profile_summary, search_in_profile
from agent.errors import BadPath, NoteGone
from agent.interfaces.http.api.notes import ONE_AT_A_TIME, check_version, etag
from agent.interfaces.http.operation import ACTOR, NEXT, IfMatch, ListPage, Routes, TypedReply, page_of
from agent.memory.profile.load import changelog_rows, last_updated, lay_out_profile, load_profile, template_note
from agent.memory.profile.profile_file import CHANGELOG, CORE, TOPICS, note_name, parse_profile
from agent.runs.note_changes import NoteChanges, note_changes
from agent.texts import LANGUAGES
from agent.vault.change import Outcome
from agent.vault.folders import PROFILE
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/profile-files")
_GROUPS = frozenset({"fs", "profile"})
LanguageName = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(LANGUAGES)})$")]
_FORM = rf"^({'|'.join(CORE)}|{TOPICS}[^\s._/\\:*?\"<>|#^\[\]][^\s/\\:*?\"<>|#^\[\]]*)\.md$"
FileName = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=300,
        extra_json_schema={"pattern": _FORM, "examples": ["31-preferences.md", "topics/cello.md"]},
    ),
]
"""The name of a note, such as 31-preferences.md or topics/cello.md."""
Content = Annotated[str, msgspec.Meta(max_length=1_000_000, description="The whole note, its header included.")]


class FileList(msgspec.Struct, frozen=True):
    """The notes, by layer."""

    files: list[FileInfo]
    next_cursor: NEXT


class WholeFile(FileInfo, frozen=True, kw_only=True):
    """A note with all of its text. The header `ETag` has its version."""

    content: str


class FileWritten(msgspec.Struct, frozen=True):
    """A change that was made; `queued` is why it waits, if it does."""

    filename: str
    path: str
    commit: str | None
    queued: str | None
    conflicts: list[str]


class Changelog(msgspec.Struct, frozen=True):
    """The changes that the agent made, the newest first, each with what it rests on."""

    path: str
    changes: list[str]
    next_cursor: NEXT


class LaidOut(msgspec.Struct, frozen=True):
    """The notes that were missing and are there now."""

    created: list[str]


@ROUTES.get("/files", "The notes about the person")
def list_profile_files(workspace: Workspace, page: ListPage) -> FileList:
    """The notes about the person."""
    files, after = page_of(load_profile(workspace.vault), lambda each: each.name, page)
    changed = last_updated(workspace.vault)
    return FileList([profile_file(FileInfo, each, changed) for each in files], after)


@ROUTES.get("/files/{filename:path}", "One of them", 404)
def read_profile_file(workspace: Workspace, filename: FileName) -> TypedReply[WholeFile]:
    """One of them with all of its text."""
    vault = workspace.vault
    name, path = _named(workspace, filename)
    data = _present(_changes(workspace).find(path), name)
    file = parse_profile(path, name, data)
    whole = profile_file(WholeFile, file, last_updated(vault), content=data.decode("utf-8", "replace"))
    return TypedReply(whole, {"ETag": etag(vault, data)})


@ROUTES.put("/files/{filename:path}", "Change one", 202, 404, 409, 412)
def write_profile_file(
    workspace: Workspace, filename: FileName, content: Content, if_match: IfMatch
) -> TypedReply[FileWritten]:
    """Replace the text of a note; with `If-Match` only the version that the client has."""
    name, path = _named(workspace, filename)
    changes = _changes(workspace)
    with ONE_AT_A_TIME:
        outcome = changes.replace(path, _base(changes, name, path, if_match, content), content.encode())
    return _written(name, path, outcome)


@ROUTES.post("/files/{filename:path}", "Make one", 202, 409, status=201)
def make_profile_file(workspace: Workspace, filename: FileName, content: Content = "") -> TypedReply[FileWritten]:
    """Make a note: one of the seventeen, or a topic; without content it says what the template has for it."""
    name, path = _named(workspace, filename)
    data = content.encode() or template_note(name, workspace.settings.vault.language)
    return _written(name, path, _changes(workspace).create(path, data), HTTPStatus.CREATED)


@ROUTES.delete("/files/{filename:path}", "Delete one", 202, 404, 409, 412)
def delete_profile_file(workspace: Workspace, filename: FileName, if_match: IfMatch) -> TypedReply[FileWritten]:
    """Delete a note; undo brings it back."""
    name, path = _named(workspace, filename)
    changes = _changes(workspace)
    with ONE_AT_A_TIME:
        outcome = changes.delete(path, _base(changes, name, path, if_match, ""))
    return _written(name, path, outcome)


ROUTES.post("/search", "Find lines", name="search_profile")(search_in_profile)


ROUTES.get("/summary", "The profile on the whole")(profile_summary)
ROUTES.get("/layers", "The layers")(profile_layers)


@ROUTES.get("/changelog", "What was changed")
def profile_changelog(workspace: Workspace, page: ListPage) -> Changelog:
    """What the agent changed in the profile, and why."""
    vault = workspace.vault
    rows, after = page_of(changelog_rows(vault), str, page)
    return Changelog(vault.home.at(PROFILE + CHANGELOG), rows, after)


@ROUTES.post("/initialize", "Lay out missing notes", 409)
def initialize_profile(workspace: Workspace, language: LanguageName | None = None) -> LaidOut:
    """Lay out the notes that are missing; those that are there stay as they are."""
    return LaidOut(list(lay_out_profile(workspace.vault, language or workspace.settings.vault.language)))


def _named(workspace: Workspace, filename: str) -> tuple[str, str]:
    """The note's name in the profile, and its path in the vault."""
    name = note_name(filename)
    if not name:
        hint = "GET /api/profile-files/files lists the notes; a new one is topics/NAME.md"
        raise BadPath("a profile has no note of the name {name}", hint=hint, name=filename)
    return name, workspace.vault.home.at(PROFILE + name)


def _changes(workspace: Workspace) -> NoteChanges:
    return note_changes(workspace, ACTOR, _GROUPS)


def _present(data: bytes | None, name: str) -> bytes:
    if data is None:
        raise NoteGone("the profile has no note {name}", hint="POST makes it", name=name)
    return data


def _base(changes: NoteChanges, name: str, path: str, if_match: str, sent: str) -> bytes:
    current = _present(changes.find(path), name)
    return check_version(changes.vault, path, current, if_match or "*", sent)


def _written(name: str, path: str, outcome: Outcome, status: int = HTTPStatus.OK) -> TypedReply[FileWritten]:
    done = FileWritten(name, path, outcome.commit, outcome.queued, list(outcome.conflicts))
    return TypedReply(done, status=HTTPStatus.ACCEPTED if outcome.queued else status)

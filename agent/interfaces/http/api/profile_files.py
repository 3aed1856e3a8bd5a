"""`/api/profile-files`: the notes about the person, by layer; read, searched, and changed as the person wants them."""

from http import HTTPStatus
from typing import Annotated, Literal

import msgspec

from agent.errors import BadPath, NoteGone
from agent.interfaces.http.api.notes import ONE_AT_A_TIME, etag
from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.api.typed import typed
from agent.interfaces.http.operation import ACTOR, Call, NoParams, Operation, TypedReply
from agent.interfaces.http.problems import RequestRefused, StaleNote
from agent.memory.profile.catalog import CHANGELOG, note_name
from agent.memory.profile.documents import (
    figures_document,
    file_document,
    layer_document,
    profile_hit_document,
)
from agent.memory.profile.figures import profile_figures
from agent.memory.profile.lay_out import lay_out_profile
from agent.memory.profile.load import changelog_rows, last_updated, layer_figures, load_profile
from agent.memory.profile.profile_file import ProfileFile, parse_profile
from agent.memory.profile.search import search_profile
from agent.memory.profile.summary import whole_summary
from agent.memory.profile.template import template_note
from agent.runs.note_changes import NoteChanges, note_changes
from agent.vault.change import Outcome
from agent.vault.folders import PROFILE

_GROUPS = frozenset({"fs", "profile"})
Content = Annotated[str, msgspec.Meta(max_length=1_000_000, description="The whole note, its header included.")]


class ByFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A note by its name, such as 31-preferences.md or topics/cello.md."""

    filename: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class FileInfo(msgspec.Struct, frozen=True):
    """A note about the person. `filled` counts what it says: fields with a value and all other lines."""

    filename: str
    path: str
    layer: int
    title: str
    summary: str
    confidence: float
    keywords: list[str]
    filled: int
    fields: int
    empty_fields: int
    evidence: list[str]
    last_updated: str | None


class FileList(msgspec.Struct, frozen=True):
    """The notes, by layer."""

    files: list[FileInfo]
    next_cursor: NEXT


class WholeFile(FileInfo, frozen=True, kw_only=True):
    """A note with all of its text. The header `ETag` has its version."""

    content: str


class NewContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the note is to say."""

    content: Content


class FirstContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a new note says; empty: what the template has for it."""

    content: Content = ""


class FileWritten(msgspec.Struct, frozen=True):
    """A change that was made; `queued` is why it waits, if it does."""

    filename: str
    path: str
    commit: str | None
    queued: str | None
    conflicts: list[str]


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to look for."""

    query: Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 10


class ProfileLine(msgspec.Struct, frozen=True):
    """A line that fits."""

    path: str
    title: str
    text: str
    score: float


class ProfileHits(msgspec.Struct, frozen=True):
    """The lines that fit, best first."""

    query: str
    hits: list[ProfileLine]


class ProfileSummary(msgspec.Struct, frozen=True):
    """What the profile says on the whole, and how far it is filled."""

    summary: str
    notes: int
    filled_notes: int
    fields: int
    filled_fields: int
    lines: int
    missing: list[str]
    open_questions: list[str]
    sensitive: str


class ProfileLayer(msgspec.Struct, frozen=True):
    """One layer, and how far it is filled."""

    layer: int
    name: str
    notes: int
    filled_notes: int
    fields: int
    filled_fields: int
    lines: int


class Layers(msgspec.Struct, frozen=True):
    """The layers that have notes, in order."""

    layers: list[ProfileLayer]


class Changelog(msgspec.Struct, frozen=True):
    """The changes that the agent made, the newest first, each with what it rests on."""

    path: str
    changes: list[str]
    next_cursor: NEXT


class LayingOut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The language of the new notes; null: that of the vault."""

    language: Literal["en", "zh"] | None = None


class LaidOut(msgspec.Struct, frozen=True):
    """The notes that were missing and are there now."""

    created: list[str]


def list_files(call: Call[ListParams, None]) -> FileList:
    """The notes about the person."""
    vault = call.service.workspace.vault
    shown, after = page_of(load_profile(vault), lambda each: each.name, call.params)
    changed = last_updated(vault)
    return FileList([_info(each, changed[each.name].isoformat() if each.name in changed else None) for each in shown],
                    after)  # fmt: skip


def read_file(call: Call[ByFile, None]) -> TypedReply[WholeFile]:
    """One of them with all of its text."""
    vault = call.service.workspace.vault
    name, path = _named(call)
    data = _changes(call).find(path)
    if data is None:
        raise _gone(name)
    when = last_updated(vault).get(name)
    info = _info(parse_profile(path, name, data), when.isoformat() if when else None)
    whole = WholeFile(**msgspec.structs.asdict(info), content=data.decode("utf-8", "replace"))
    return TypedReply(whole, {"ETag": etag(vault, data)})


def write_file(call: Call[ByFile, NewContent]) -> TypedReply[FileWritten]:
    """Replace the text of a note; with `If-Match` only the version that the client has."""
    name, path = _named(call)
    changes = _changes(call)
    with ONE_AT_A_TIME:
        base = _base(call, changes, name, path, call.body.content)
        outcome = changes.replace(path, base, call.body.content.encode())
    return _written(name, path, outcome)


def make_file(call: Call[ByFile, FirstContent]) -> TypedReply[FileWritten]:
    """Make a note: one of the seventeen, or a topic."""
    name, path = _named(call)
    language = call.service.workspace.settings.vault.language
    data = call.body.content.encode() or template_note(name, language)
    return _written(name, path, _changes(call).create(path, data), HTTPStatus.CREATED)


def delete_file(call: Call[ByFile, None]) -> TypedReply[FileWritten]:
    """Delete a note; undo brings it back."""
    name, path = _named(call)
    changes = _changes(call)
    with ONE_AT_A_TIME:
        outcome = changes.delete(path, _base(call, changes, name, path, ""))
    return _written(name, path, outcome)


def search_files(call: Call[NoParams, Search]) -> ProfileHits:
    """The lines about something."""
    hits = search_profile(load_profile(call.service.workspace.vault), call.body.query, call.body.limit)
    return ProfileHits(call.body.query, typed([profile_hit_document(each) for each in hits], list[ProfileLine]))


def summary(call: Call[NoParams, None]) -> ProfileSummary:
    """The profile on the whole."""
    workspace = call.service.workspace
    figures = figures_document(profile_figures(workspace.vault), workspace.settings.profile.sensitive)
    return typed({**figures, "summary": whole_summary(load_profile(workspace.vault))}, ProfileSummary)


def layers(call: Call[NoParams, None]) -> Layers:
    """The layers of the profile."""
    workspace = call.service.workspace
    figures = layer_figures(load_profile(workspace.vault))
    return Layers(
        typed([layer_document(each, workspace.settings.vault.language) for each in figures], list[ProfileLayer])
    )


def changelog(call: Call[ListParams, None]) -> Changelog:
    """What the agent changed in the profile, and why."""
    vault = call.service.workspace.vault
    shown, after = page_of(changelog_rows(vault), str, call.params)
    return Changelog(vault.home.at(PROFILE + CHANGELOG), shown, after)


def initialize(call: Call[NoParams, LayingOut]) -> LaidOut:
    """Lay out the notes that are missing; those that are there stay as they are."""
    workspace = call.service.workspace
    language = call.body.language or workspace.settings.vault.language
    return LaidOut(list(lay_out_profile(workspace.vault, language)))


def _named(call: "Call[ByFile, object]") -> tuple[str, str]:
    """The note's name in the profile, and its path in the vault."""
    name = note_name(call.params.filename)
    if not name:
        hint = "GET /api/profile-files/files lists the notes; a new one is topics/NAME.md"
        raise BadPath("a profile has no note of the name {name}", hint=hint, name=call.params.filename)
    return name, call.service.workspace.vault.home.at(PROFILE + name)


def _changes(call: "Call[ByFile, object]") -> NoteChanges:
    return note_changes(call.service.workspace, ACTOR, _GROUPS)


def _base(call: "Call[ByFile, object]", changes: NoteChanges, name: str, path: str, sent: str) -> bytes:
    current = changes.find(path)
    if current is None:
        raise _gone(name)
    version = etag(changes.vault, current)
    if call.if_match in {"", "*", version.strip('"')}:
        return current
    raise RequestRefused(
        HTTPStatus.PRECONDITION_FAILED,
        "{path} has changed since you read it",
        hint="merge the two versions in `stale`, then send the result with its etag as If-Match",
        stale=StaleNote(path, version, current.decode("utf-8", "replace"), sent),
        path=path,
    )


def _gone(name: str) -> NoteGone:
    return NoteGone("the profile has no note {name}", hint="POST makes it", name=name)


def _written(name: str, path: str, outcome: Outcome, status: int = HTTPStatus.OK) -> TypedReply[FileWritten]:
    done = FileWritten(name, path, outcome.commit, outcome.queued, list(outcome.conflicts))
    return TypedReply(done, status=HTTPStatus.ACCEPTED if outcome.queued else status)


def _info(file: ProfileFile, changed: str | None) -> FileInfo:
    more = {"filename": file.name, "keywords": list(file.keywords), "last_updated": changed}
    return typed({**file_document(file), **more}, FileInfo)


_P = "/api/profile-files"
_F = f"{_P}/files/{{filename:path}}"
OPERATIONS = (
    Operation("GET", f"{_P}/files", "list_profile_files", "The notes about the person", list_files, FileList,
              ListParams),
    Operation("GET", _F, "read_profile_file", "One of them", read_file, WholeFile, ByFile, problems=(404,)),
    Operation("PUT", _F, "write_profile_file", "Change one", write_file, FileWritten, ByFile, NewContent, 200,
              (202, 404, 409, 412), ("If-Match",)),
    Operation("POST", _F, "make_profile_file", "Make one", make_file, FileWritten, ByFile, FirstContent, 201,
              (202, 409)),
    Operation("DELETE", _F, "delete_profile_file", "Delete one", delete_file, FileWritten, ByFile, None, 200,
              (202, 404, 409, 412), ("If-Match",)),
    Operation("POST", f"{_P}/search", "search_profile", "Find lines", search_files, ProfileHits, NoParams, Search),
    Operation("GET", f"{_P}/summary", "profile_summary", "The profile on the whole", summary, ProfileSummary, NoParams),
    Operation("GET", f"{_P}/layers", "profile_layers", "The layers", layers, Layers, NoParams),
    Operation("GET", f"{_P}/changelog", "profile_changelog", "What was changed", changelog, Changelog, ListParams),
    Operation("POST", f"{_P}/initialize", "initialize_profile", "Lay out missing notes", initialize, LaidOut, NoParams,
              LayingOut, 200, (409,)),
)  # fmt: skip

"""Notes: folders and a search, one note with its links and properties, and its history with restore."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from markupsafe import Markup

from agent.dataclass import dataclass
from agent.errors import NoteGone, UserError
from agent.index.hit import SearchResult
from agent.interfaces.http.pages.markdown import html_of, line_html
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.markdown.note import Note
from agent.markdown.values import Value, is_list
from agent.memory.recall.eligibility import is_unfilled
from agent.vault.change import Stamp
from agent.vault.file_changes import Kind
from agent.vault.history.commits import Commit, resolve
from agent.vault.history.find import commits
from agent.vault.note_names import NoteNames, linking_notes
from agent.vault.pictures import picture_paths
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note
from agent.workspace.person_first import MORE, person_first

_HITS, _VERSIONS, _LISTED = 20, 50, 500
RESTORE = "restore"
"""The tool of a commit that brings back an earlier version of a note."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder in a list: its path with a slash at its end, and how many notes are in it."""

    path: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class NoteVersion:
    """A commit that changed a note, and the note's path in it; the path is empty where the commit deleted it."""

    commit: Commit
    path: str


def show(request: PageRequest) -> Mapping[str, object]:
    """A search's hits, or the folders and notes of one folder."""
    query, folder = request.field("q"), request.field("folder").strip("/")
    if query:
        found = _search(request, query)
        shown = {"q": query, "hits": found.hits, "is_near": found.is_near, "degraded": found.degraded or ""}
        return {**shown, "folder": "", "folders": (), "notes": (), "left": 0}
    start = f"{folder}/" if folder else ""
    inside = [path for path in request.workspace.vault.note_paths(folder) if path.startswith(start)]
    counts: dict[str, int] = {}
    notes: list[str] = []
    for path in inside:
        name, slash, _ = path.removeprefix(start).partition("/")
        if slash:
            counts[name] = counts.get(name, 0) + 1
        else:
            notes.append(path)
    folders = [_Folder(f"{start}{name}", name, count) for name, count in sorted(counts.items())]
    return {
        "q": "",
        "hits": (),
        "is_near": False,
        "degraded": "",
        "folder": folder,
        "parents": _parents(folder),
        "folders": folders,
        "notes": notes[:_LISTED],
        "left": max(0, len(notes) - _LISTED),
    }


def _search(request: PageRequest, query: str) -> SearchResult:
    home = request.workspace.vault.home
    with request.service.index.held() as index:
        found = index.search(query, _HITS + MORE, explain=True)
    kept = tuple(hit for hit in found.hits if not is_unfilled(hit, home))
    return person_first(replace(found, hits=kept), _HITS, home)


def _parents(folder: str) -> list[tuple[str, str]]:
    """The folders above, each with its name and path."""
    parts = folder.split("/") if folder else []
    return [(name, "/".join(parts[: number + 1])) for number, name in enumerate(parts)]


def show_note(request: PageRequest) -> Mapping[str, object]:
    """One note, as it is or (`at`) as a commit has it."""
    vault = request.workspace.vault
    names = NoteNames.of(vault.note_paths())
    path, at = request.named["path"], request.field("at")
    if at:
        data = vault.read_at(resolve(vault, at), path)
    else:
        path = _there(vault, names, path)
        data = vault.read(path)
    if data is None:
        raise NoteGone("{path} is gone", hint="vault-agent log shows what was moved or deleted", path=path)
    note = Note.parse(data)
    return {
        "path": path,
        "at": at,
        "title": note.title(path),
        "has_heading": note.body.lstrip().startswith("# "),
        "html": html_of(request, path, note.body, _with_pictures(vault, note, names)),
        "properties": [(key, _value(path, value, names)) for key, value in note.header.items()],
        "problem": note.problem,
        "parents": _parents(str(PurePosixPath(path).parent).removeprefix(".")),
    }


def _with_pictures(vault: Vault, note: Note, names: NoteNames) -> NoteNames:
    """The names with those of the pictures, for a note that may show one."""
    if "![" not in note.body:
        return names
    return NoteNames.of([*names.paths.values(), *picture_paths(vault)])


def _there(vault: Vault, names: NoteNames, path: str) -> str:
    """The path of the note that an address means: exactly, or as a link would."""
    if path.casefold() in names.paths and names.paths[path.casefold()] == path:
        return path
    found = names.find("", path)
    if found is not None:
        return found
    if is_note(path) and vault.read(path) is not None:  # one that git ignores
        return path
    if not is_note(path) and PurePosixPath(path).suffix:
        raise UserError("{path} is no note", hint="open it with the program that made it", path=path)
    hint = "vault-agent search WORDS finds its path; vault-agent log shows what was moved or deleted"
    raise NoteGone("no note has the path or id {name}", hint=hint, name=path)


def _value(path: str, value: Value, names: NoteNames) -> list[Markup]:
    """A property as lines of HTML, with its links."""
    items = value if is_list(value) else (value,)
    return [line_html(path, "" if each is None else str(each), names) for each in items]


def show_backlinks(request: PageRequest) -> Mapping[str, object]:
    """The notes that link to a note: the part of its page that takes long in a large vault, and is loaded after it."""
    vault, path = request.workspace.vault, request.named["path"]
    return {"path": path, "links": linking_notes(vault, path, NoteNames.of(vault.note_paths()))}


def show_history(request: PageRequest) -> Mapping[str, object]:
    """The versions of a note, the newest first."""
    path = request.named["path"]
    found = list(versions_of(request.workspace.vault, path))
    if not found:
        raise NoteGone("{path} is in no commit", hint="an edit is committed after a quiet moment", path=path)
    return {"path": path, "versions": found, "is_cut": len(found) == _VERSIONS}


def versions_of(vault: Vault, path: str) -> Iterator[NoteVersion]:
    """The versions of a note, the newest first, under whatever name it had."""
    name = path
    for commit in commits(vault, path=path, limit=_VERSIONS):
        change = next((each for each in commit.files if each.path == name), None)
        if change is None:
            continue
        yield NoteVersion(commit, "" if change.kind is Kind.DELETED else change.path)
        if change.kind is Kind.RENAMED and change.old_path:
            name = change.old_path


def restore(request: PageRequest) -> Done:
    """Write a note as it was in a commit; the present text stays in the history."""
    vault = request.workspace.vault
    path, former, commit = request.needed("path"), request.needed("former"), resolve(vault, request.needed("commit"))
    data, now = vault.read_at(commit, former), vault.read(path)
    if data is None:
        hint = "vault-agent log shows what was moved or deleted"
        raise NoteGone("{path} is not in that commit", hint=hint, path=former)
    if data == now:
        return Done(request.text("restored_same"))
    with vault.transaction(f"restore: {path}", Stamp("human", tool=RESTORE), body=f"As in {commit[:10]}.") as change:
        change.write(path, now, data)
    return Done(request.text("undo_waits" if change.outcome.queued else "restored"), "")


PAGE = Page("notes", "/notes", show, "o")
NOTE = Page("note", "/notes/{path:path}", show_note)
BACKLINKS = Page("backlinks", "/backlinks/{path:path}", show_backlinks, is_live=False)
HISTORY = Page("history", "/history/{path:path}", show_history)
DEEDS = (Deed("/notes/restore", restore),)

"""Notes: folders and a search, one note with its links and properties, and its history with restore."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from markupsafe import Markup

from agent.dataclass import dataclass
from agent.deeds.note_edits import BoxOnPage, edit_note, may_edit, text_in_form, tick_box
from agent.deeds.restoring import VERSIONS, restore_note, versions_of
from agent.errors import NoteGone, UserError
from agent.index.query import SearchResult
from agent.interfaces.http.pages.frame import note_address, note_name
from agent.interfaces.http.pages.markdown import html_of, line_html
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value, is_list
from agent.runs.find_notes import find_notes, words_of_near_hits
from agent.texts import Sentence
from agent.vault.folders import DAILY, SESSIONS
from agent.vault.history.commits import resolve
from agent.vault.note_names import NoteNames, linking_notes
from agent.vault.pictures import picture_paths
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note
from agent.workspace.catch_up import daemon_lag
from agent.workspace.workspace import load_daemon_state

_HITS, _LISTED = 20, 500


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder in a list: its path with a slash at its end, and how many notes are in it."""

    path: str
    name: str
    count: int


def show(request: PageRequest) -> Mapping[str, object]:
    """A search's hits, or the folders and notes of one folder."""
    query, folder = request.field("q"), request.field("folder").strip("/")
    if query:
        found, near = _search(request, query)
        values = {"q": query, "hits": found.hits, "near": near or "", "degraded": found.degraded or ""}
        return {**values, "folder": "", "folders": (), "notes": (), "left": 0}
    start = f"{folder}/" if folder else ""
    inside = [path for path in request.own_vault.note_paths(folder) if path.startswith(start)]
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
        "near": "",
        "degraded": "",
        "folder": folder,
        "parents": _parents(folder),
        "folders": folders,
        "notes": notes[:_LISTED],
        "left": max(0, len(notes) - _LISTED),
    }


def _search(request: PageRequest, query: str) -> tuple[SearchResult, Sentence | None]:
    """The hits, and what is said above those that only are near."""
    daemon = load_daemon_state(request.workspace)
    with request.service.index.held() as index:
        found, _ = find_notes(index, query, _HITS, explain=True)
        return found, words_of_near_hits(index, found, daemon_lag(daemon) if daemon is not None else None)


def _parents(folder: str) -> list[tuple[str, str]]:
    """The folders above, each with its name and path."""
    parts = folder.split("/") if folder else []
    return [(name, "/".join(parts[: number + 1])) for number, name in enumerate(parts)]


def show_note(request: PageRequest) -> Mapping[str, object]:
    """One note, as it is or (`at`) as a commit has it."""
    vault = request.own_vault
    names = NoteNames.of(vault.note_paths())
    path, at = request.named["path"], request.field("at")
    if at:
        data = vault.read_at(resolve(vault, at), path)
    else:
        path = _there(vault, names, path)
        data = vault.read(path)
    if data is None:
        raise NoteGone("{path} is gone", hint="vault-agent log shows what was moved or deleted", path=path)
    note, is_open = Note.parse(data), not at and may_edit(vault, path)
    return {
        "path": path,
        "at": at,
        "title": note.title(path),
        "has_heading": note.body.lstrip().startswith("# "),
        "html": html_of(request, path, note.body, _with_pictures(vault, note, names), boxes=is_open),
        "may_edit": is_open,
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
    vault, path = request.own_vault, request.named["path"]
    found = linking_notes(vault, path, NoteNames.of(vault.note_paths()))
    own_first = sorted(found.items(), key=lambda each: vault.home.holds(each[0], SESSIONS, DAILY))
    return {"path": path, "links": dict(own_first)}


def show_history(request: PageRequest) -> Mapping[str, object]:
    """The versions of a note, the newest first."""
    path = request.named["path"]
    found = list(versions_of(request.own_vault, path))
    if not found:
        raise NoteGone("{path} is in no commit", hint="an edit is committed after a quiet moment", path=path)
    return {"path": path, "versions": found, "is_cut": len(found) == VERSIONS}


def show_edit(request: PageRequest) -> Mapping[str, object]:
    """One note as it is written, in a form."""
    vault, path = request.own_vault, request.named["path"]
    base, source = text_in_form(vault, path)
    return {"path": path, "title": Note.parse(source.encode()).title(path), "base": base, "source": source}


def save(request: PageRequest) -> Done:
    """Write a note as the person has changed it, from the version that they have seen."""
    path = request.needed("path")
    done = edit_note(request.own_vault, path, request.needed("base"), request.values.get("text", ""))
    key = "job_same" if done is None else "later" if done.queued else "job_saved"
    return Done(request.text(key, name=note_name(path)), note_address(path))


def tick(request: PageRequest) -> Done:
    """Tick a box, or take the tick out: `box` has how many boxes above say the same, what is wanted, and the text."""
    above, wanted, text = (*request.needed("box").split(" ", 2), "")[:3]
    box = BoxOnPage(text, int(above) if above.isdecimal() else 0)
    done = tick_box(request.own_vault, request.needed("path"), box, done=wanted == "x")
    key = "later" if done is not None and done.queued else "ticked" if wanted == "x" else "unticked"
    return Done(request.text(key, name=text))


def restore(request: PageRequest) -> Done:
    """Write a note as it was in a commit; the present text stays in the history."""
    path, former = request.needed("path"), request.needed("former")
    done = restore_note(request.own_vault, path, former, request.needed("commit"))
    if done is None:
        return Done(request.text("restored_same"))
    return Done(request.text("undo_waits" if done.queued else "restored"), "")


PAGE = Page("notes", "/notes", show, "o")
NOTE = Page("note", "/notes/{path:path}", show_note, under="notes")
BACKLINKS = Page("backlinks", "/backlinks/{path:path}", show_backlinks, under="notes", is_live=False)
EDIT = Page("edit", "/edit/{path:path}", show_edit, under="notes", is_live=False)
HISTORY = Page("history", "/history/{path:path}", show_history, under="notes")
DEEDS = (Deed("/notes/restore", restore), Deed("/notes/save", save, refused="refused.html"), Deed("/notes/tick", tick))

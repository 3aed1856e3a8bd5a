"""Profile: what the notes about the person say, layer by layer, and what the agent changed in them."""

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote

from agent.dataclass import dataclass
from agent.deeds.restoring import edit_profile_note
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.memory.profile.figures import profile_figures
from agent.memory.profile.lay_out import lay_out_profile
from agent.memory.profile.load import (
    LayerFigures,
    changelog_rows,
    find_profile_note,
    last_updated,
    layer_figures,
    load_profile,
)
from agent.memory.profile.profile_file import CHANGELOG, ProfileFile
from agent.memory.profile.summary import whole_summary
from agent.texts import text
from agent.vault.folders import PROFILE

_CHANGES = 30
VIEWS = ("rendered", "source")


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer with its notes, each with the time of its last change."""

    name: str
    figures: LayerFigures
    notes: list[tuple[ProfileFile, datetime | None]]


def show(request: PageRequest) -> Mapping[str, object]:
    """The profile on the whole, its notes, and its changes."""
    vault = request.workspace.vault
    files, changed, rows = load_profile(vault), last_updated(vault), changelog_rows(vault)
    layers = [
        _Layer(
            text(f"profile.layer_{each.layer}", request.language),
            each,
            [(file, changed.get(file.name)) for file in files if file.layer == each.layer],
        )
        for each in layer_figures(files)
    ]
    return {
        "figures": profile_figures(vault),
        "summary": whole_summary(files).splitlines(),
        "layers": layers,
        "changes": rows[:_CHANGES],
        "left": max(len(rows) - _CHANGES, 0),
        "changelog": vault.home.at(PROFILE + CHANGELOG),
    }


def show_note(request: PageRequest) -> Mapping[str, object]:
    """One note, rendered or as it is written."""
    vault = request.workspace.vault
    file = find_profile_note(load_profile(vault), request.named["name"])
    view = request.field("view")
    return {
        "file": file,
        "layer": text(f"profile.layer_{file.layer}", request.language),
        "view": view if view in VIEWS else VIEWS[0],
        "views": VIEWS,
        "changed": last_updated(vault).get(file.name),
        "source": (vault.own_version(file.path) or b"").decode("utf-8", "replace"),
    }


def show_edit(request: PageRequest) -> Mapping[str, object]:
    """One note as it is written, in a form."""
    vault = request.workspace.vault
    file = find_profile_note(load_profile(vault), request.named["name"])
    data = vault.read(file.path) or b""
    return {"file": file, "base": vault.content_id(data), "source": data.decode("utf-8", "replace")}


def save(request: PageRequest) -> Done:
    """Write a note as the person has changed it; raises `StaleForm` if it was changed elsewhere since they opened it,
    `BadNote` if its header could not be read any more."""
    vault = request.workspace.vault
    file = find_profile_note(load_profile(vault), request.needed("name"))
    said = request.given.get("text", "").replace("\r\n", "\n").rstrip("\n") + "\n"
    done = edit_profile_note(vault, file.path, file.name, request.needed("base"), said)
    if done is None:
        return Done(request.text("job_same"), f"/profile/{quote(file.name)}")
    return Done(request.text("later" if done.queued else "job_saved", name=file.path), f"/profile/{quote(file.name)}")


def lay_out(request: PageRequest) -> Done:
    """Lay out the notes that are missing; those that are there stay as they are."""
    workspace = request.workspace
    made = lay_out_profile(workspace.vault, workspace.settings.vault.language)
    return Done(request.text("laid_out", count=len(made)))


PAGE = Page("profile", "/profile", show, "p", under="memory")
NOTE = Page("profile_note", "/profile/{name:path}", show_note, under="profile")
EDIT = Page("profile_edit", "/profile-edit/{name:path}", show_edit, under="profile", is_live=False)
DEEDS = (Deed("/profile/lay-out", lay_out), Deed("/profile/save", save, refused="job_refused.html"))

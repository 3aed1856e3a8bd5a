"""Profile: what the notes about the person say, layer by layer, and what the agent changed in them."""

from collections.abc import Mapping
from datetime import datetime

from agent.dataclass import dataclass
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.memory.profile.load import (
    LayerFigures,
    changelog_rows,
    last_updated,
    lay_out_profile,
    layer_figures,
    load_profile,
    profile_figures,
)
from agent.memory.profile.profile_file import CHANGELOG, ProfileFile, whole_summary
from agent.texts import text
from agent.vault.folders import PROFILE

_CHANGES = 30


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


def lay_out(request: PageRequest) -> Done:
    """Lay out the notes that are missing; those that are there stay as they are."""
    workspace = request.workspace
    made = lay_out_profile(workspace.vault, workspace.settings.vault.language)
    return Done(request.text("laid_out", count=len(made)))


PAGE = Page("profile", "/profile", show, "p", under="memory")
DEEDS = (Deed("/profile/lay-out", lay_out),)

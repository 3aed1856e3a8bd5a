"""Settings: the value of each and where it comes from. Secrets show where they are kept, never what they are."""

from collections.abc import Mapping

from agent.config.directories import directories
from agent.config.load import SettingOrigin
from agent.config.settings import keys
from agent.config.values import format_value
from agent.dataclass import dataclass
from agent.interfaces.http.pages.page import Page, PageRequest


@dataclass(frozen=True, slots=True)
class _Row:
    """A setting, its value as a person writes it (empty: none), and where it comes from."""

    key: str
    value: str
    origin: SettingOrigin


def show(request: PageRequest) -> Mapping[str, object]:
    """The settings by section: those that somebody has set, or (`all`) all of them."""
    loaded, has_all = request.workspace.loaded, request.field("all") == "yes"
    rows = [_Row(key, format_value(loaded.values[key]), loaded.origin(key)) for key in keys()]
    sections: dict[str, list[_Row]] = {}
    for row in rows:
        if has_all or row.origin.layer != "default":
            sections.setdefault(row.key.partition(".")[0], []).append(row)
    return {
        "sections": sections,
        "has_all": has_all,
        "defaults": sum(row.origin.layer == "default" for row in rows),
        "file": str(directories().settings_file),
        "warnings": loaded.warnings,
    }


PAGE = Page("settings", "/settings", show, "e")

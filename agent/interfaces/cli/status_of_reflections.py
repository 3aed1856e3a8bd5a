"""That a model's reflections cannot be read, as `status` shows it."""

from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, cast

from agent.interfaces.cli.language import counted, row
from agent.vault.layout import UNREAD_REFLECTIONS
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:  # most vaults have none
    from agent.growth.reflections.unread import UnreadReflections


def unread_reflections(workspace: Workspace) -> "UnreadReflections | None":
    """The trouble, if the last answer of the model could not be read; None without one."""
    if not (workspace.vault.private_folder / UNREAD_REFLECTIONS).exists():
        return None
    module = import_module("agent.growth.reflections.unread")
    return cast("UnreadReflections | None", module.load_unread(workspace.vault))


def format_unread_reflections(found: "UnreadReflections | None") -> list[str]:
    """A line about the trouble; none without one."""
    if found is None:
        return []
    since = datetime.fromisoformat(found.since)
    one = "an answer of the model cannot be read, of {since:%Y-%m-%d %H:%M}: {note}"
    more = "{count} answers of the model cannot be read, since {since:%Y-%m-%d %H:%M}; the first: {note}"
    return [row("reflect", counted(found.count, one, more, since=since, note=found.note))]

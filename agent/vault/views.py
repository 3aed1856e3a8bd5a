"""Tables for Obsidian, each of which comes into the vault in the commit of the first note that it lists.

A table that the person deletes stays deleted, as long as its folder has notes.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from agent.config.resources import resource
from agent.texts import Language
from agent.vault.change import Append, Create, Request
from agent.vault.folders import VIEW, AgentFolder
from agent.vault.template import placed_view, read_template
from agent.vault.worktree.paths import is_note


def first_views(root: Path, home: AgentFolder, language: Language, requests: Iterable[Request]) -> Iterator[Create]:
    """The tables that come with these requests, in a vault at `root`."""
    asked = tuple(requests)
    fresh = (each.path for each in asked if isinstance(each, Create | Append) and is_note(each.path))
    rows = dict.fromkeys(home.row(path).path for path in fresh if not (root / path).exists())
    folders = [row for row in rows if row.endswith("/") and not _has_notes(root / home.at(row))]
    if not folders:
        return
    laid = {each.path for each in asked if isinstance(each, Create)}
    views = read_template(resource("vault_template"), language)
    for folder in folders:
        name = folder.rstrip("/") + VIEW
        if name in views and home.at(name) not in laid and not (root / home.at(name)).exists():
            yield Create(home.at(name), placed_view(views[name], home))


def _has_notes(folder: Path) -> bool:
    return next(folder.rglob("*.md"), None) is not None

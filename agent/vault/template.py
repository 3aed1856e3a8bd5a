"""The vault template as files: what is laid at first, and what a folder has room for.

A template file never replaces anything: no file of its name in any spelling of case, no folder, link or other
repository. The caller finds the template on disk and writes the files.

Tables for Obsidian, each of which comes into the vault in the commit of the first note that it lists.

A table that the person deletes stays deleted, as long as its folder has notes.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config.directories import VAULT_FILE
from agent.config.resources import resource
from agent.dataclass import dataclass
from agent.texts import ENGLISH, Language, Sentence
from agent.vault.change import Append, Create, Request
from agent.vault.folders import VIEW, AgentFolder
from agent.vault.worktree.paths import is_note

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_DOT = "dot-"
"""Prefix for names that begin with a dot in the vault: packaging tools drop such names."""


@dataclass(frozen=True, slots=True)
class Left:
    """A path that was skipped, relative to the vault, and the reason."""

    path: str
    why: str


def read_template(folder: "Traversable", language: str) -> dict[str, bytes]:
    """The template's files in one language, or in English if there are none in it: path in the vault to bytes, sorted
    by path."""
    written = language if (folder / language).is_dir() else ENGLISH
    files = {path: data for part in ("common", written) for path, data in _walk(folder / part, "")}
    if written != language:
        files[VAULT_FILE] = files[VAULT_FILE].replace(b"language: en\n", f"language: {language}\n".encode())
    return dict(sorted(files.items()))


def laid_first(files: Mapping[str, bytes], home: AgentFolder) -> dict[str, bytes]:
    """What a new vault is given, by its path there: the few notes at the top of the template in the agent's folder, its
    settings at the root. All else comes with its first use."""
    first = (path for path in files if "/" not in path and not path.startswith(".") and not path.endswith(VIEW))
    return {path if path == VAULT_FILE else home.at(path): files[path] for path in first}


def placed_view(data: bytes, home: AgentFolder) -> bytes:
    """A view that looks into the agent's folder, wherever that lies."""
    return data.replace(b'inFolder("', f'inFolder("{home.path}'.encode())


def _walk(folder: "Traversable", above: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        name = "." + item.name.removeprefix(_DOT) if item.name.startswith(_DOT) else item.name
        if item.is_dir():
            yield from _walk(item, f"{above}{name}/")
        elif item.is_file():
            yield above + name, item.read_bytes()


def room(root: Path, files: Mapping[str, bytes], modules: Iterable[str] = ()) -> tuple[dict[str, bytes], list[Left]]:
    """The template files that can be written under `root`, and those that are skipped, with the reason.

    `modules` are folders that are submodules of the repository. A file that already exists with the same bytes is in
    neither.
    """
    lay: dict[str, bytes] = {}
    left: list[Left] = []
    closed = set(modules)
    for path, data in files.items():
        why = _obstacle(root, path, data, closed)
        if why is None:
            lay[path] = data
        elif why:
            left.append(Left(path, why))
    return lay, left


def _obstacle(root: Path, path: str, data: bytes, modules: set[str]) -> str | None:
    """The reason why the file cannot be written; empty if it exists already, None if there is room."""
    *parts, name = path.split("/")
    here = root
    for number, part in enumerate(parts, 1):
        if "/".join(parts[:number]) in modules:
            return Sentence("{path} is a submodule", path=part)
        folder = _entry(here, part)
        if folder is None:
            return None
        why = _closed(folder, part)
        if why:
            return why
        here = folder
    found = _entry(here, name)
    if found is None:
        return None
    if found.name != name:
        return Sentence("{path} is there", path=found.name)
    if found.is_symlink() or not found.is_file():
        return "something else has this name"
    return "" if _holds(found, data) else "yours is kept"


def _closed(folder: Path, name: str) -> str:
    """The reason why nothing can be written in a folder of this name; empty if it can."""
    if folder.name != name:
        return Sentence("{path} is there, which is the same name where case does not count", path=folder.name)
    if folder.is_symlink():
        return Sentence("{path} is a link", path=name)
    if not folder.is_dir():
        return Sentence("{path} is a file", path=name)
    return Sentence("{path} is a repository of its own", path=name) if os.path.lexists(folder / ".git") else ""


def _entry(folder: Path, name: str) -> Path | None:
    """The folder's entry of this name, or one that differs only in case; None if there is neither."""
    exact = folder / name
    if os.path.lexists(exact):
        return exact
    wanted = name.casefold()
    return next((item for item in folder.iterdir() if item.name.casefold() == wanted), None)


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


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

"""Finds an object by its id, by the end of its id as in lists, or by a path as people type it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from agent.errors import BadPath, UserError
from agent.vault.find import find_note
from agent.vault.store import Vault

SHORT_ID = 6
"""The number of characters of an id's end that lists show; with fewer, nothing is found."""


def named_note(vault: Vault, text: str) -> str:
    """The path of the note that a person names by a path, as `path_in_vault` has it, or by an id.

    Raises what `find_note` and `path_in_vault` raise.
    """
    return find_note(vault, path_in_vault(text, vault.place.root) if text.strip() else text)


class HasId(Protocol):
    """An object with an id."""

    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=HasId)


def short_id(named: HasId) -> str:
    """The end of an id, as in the lists."""
    return named.id[-SHORT_ID:].lower()


@dataclass(frozen=True, slots=True)
class NotFound:
    """The sentences about a `{name}` that no object has, and that several have; and what lists the objects."""

    none: str
    several: str
    hint: str


def find_by_id(name: str, among: Iterable[T], otherwise: NotFound) -> T:
    """The object whose id is `name`, or ends in it, ignoring case; raises `UserError` unless it is exactly one."""
    end = name.casefold()
    found = [each for each in among if each.id == name or (len(name) >= SHORT_ID and each.id.casefold().endswith(end))]
    if len(found) != 1:
        raise UserError(otherwise.several if found else otherwise.none, hint=otherwise.hint, name=name)
    return found[0]


def path_in_vault(text: str, root: Path) -> str:
    """A note's or folder's path relative to the vault at `root`; raises `BadPath` for one outside.

    A relative path starts at the working folder if that is in the vault and the path, or that with `.md`, exists there,
    else at the vault's root. The note need not exist any more.
    """
    here = Path.cwd()
    absolute = Path(os.path.abspath(text))  # noqa: PTH100 - a link in the vault is named, not followed
    is_there = here.resolve().is_relative_to(root.resolve()) and (absolute.exists() or Path(f"{absolute}.md").exists())
    if not Path(text).is_absolute() and not is_there:
        absolute = Path(os.path.normpath(root / text))
    for base in (root, root.resolve()):
        if absolute.is_relative_to(base):
            found = absolute.relative_to(base).as_posix()
            return "" if found == "." else found
    raise BadPath("{text} is not inside the vault {root}", hint="give it relative to the vault", text=text, root=root)

"""Data files that ship with the code, and the words and patterns of languages among them."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent.errors import Permanent

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


_ADDED = re.compile(r"understanding\.[\w-]+\.yaml")
Name = Literal["vault_template", "skills", "configs", "hooks"]


def resource(name: Name) -> "Traversable":
    """The folder `name`, readable with `iterdir`, `/`, `read_bytes`; raises `Permanent` when it is missing."""
    package = Path(__file__).parents[1]
    return _first_folder(name, package / "_data" / name, package.parent / name)


def _first_folder(name: str, installed: "Traversable", checkout: "Traversable") -> "Traversable":
    for folder in (installed, checkout):
        if folder.is_dir():
            return folder
    raise Permanent(
        "the installation is incomplete: {name} is neither at {installed} nor at {checkout}",
        hint="install vault-agent again",
        name=name,
        installed=installed,
        checkout=checkout,
    )


@cache
def pattern(name: str) -> re.Pattern[str]:
    """The lines of a list as one case-insensitive pattern."""
    return re.compile("|".join(_entries(name)), re.IGNORECASE)


@cache
def patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """The lines of a list, each as a case-insensitive pattern."""
    return tuple(re.compile(line, re.IGNORECASE) for line in _entries(name))


def first_match(name: str, text: str) -> re.Match[str] | None:
    """Where the first of the lines of a list is found in a text."""
    return next((found for each in patterns(name) if (found := each.search(text)) is not None), None)


@cache
def words(name: str) -> frozenset[str]:
    """The words of a list, separated by blanks."""
    return frozenset(word for line in _entries(name) for word in line.split())


@cache
def characters(name: str) -> frozenset[str]:
    """The single characters of a list."""
    return frozenset("".join(_entries(name)))


@cache
def number_words() -> Mapping[str, str]:
    """Words for numbers, each with its digits."""
    found = _load()["number_words"]
    assert isinstance(found, Mapping)
    return found


def _entries(name: str) -> Sequence[str]:
    found = _load()[name]
    assert not isinstance(found, Mapping)
    return found


@cache
def _load() -> Mapping[str, Sequence[str] | Mapping[str, str]]:
    """The lists of `understanding.yaml`, each with the lines that `understanding.LANGUAGE.yaml` adds to it."""
    import yaml  # most commands that have these words at hand need none of them

    folder = resource("configs")
    names = sorted(each.name for each in folder.iterdir() if _ADDED.fullmatch(each.name))
    found: dict[str, Sequence[str] | Mapping[str, str]] = {}
    for name in ("understanding.yaml", *names):
        for key, lines in yaml.load((folder / name).read_text("utf-8"), yaml.CSafeLoader).items():
            found[key] = [*found.get(key, ()), *lines] if isinstance(lines, list) else lines
    return found

"""Data files that ship with the code: the vault template, skills, default settings and git hooks.

An installed package has them in `agent/_data`; a checkout has them as folders next to the package.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent.errors import Permanent

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

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

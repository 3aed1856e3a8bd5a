"""Creation of a vault with this machine's settings, and the git hooks that are offered with it."""

import shutil
import sys
from pathlib import Path

from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.load import load_settings
from agent.config.resources import resource
from agent.texts import Language
from agent.vault.hooks import NAMES
from agent.vault.initialise import Initialised, initialise
from agent.vault.template import read_template
from agent.workspace.workspace import options

_PROGRAM = "vault-agent"


def make_vault(path: Path, language: Language | None, *, restore: bool = False) -> tuple[Initialised, Language]:
    """Make the folder a vault with this machine's settings; returns the result and the language."""
    loaded = load_settings(path if path.is_dir() else None)
    language = language or loaded.settings.vault.language
    template = read_template(resource("vault_template"), language)
    state = directories().state
    return initialise(path, template, state, SystemClock(), options(loaded.settings), restore=restore), language


def hook_scripts() -> dict[str, bytes]:
    """The package's git hooks, by name."""
    return {name: (resource("hooks") / name).read_bytes() for name in NAMES}


def hook_program() -> Path | None:
    """The full path of the program, for hooks that an editor starts with a short PATH; None if it is not found."""
    beside = Path(sys.executable).parent / _PROGRAM
    if beside.is_file():
        return beside
    found = shutil.which(_PROGRAM)
    return Path(found).absolute() if found else None

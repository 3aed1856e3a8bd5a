"""The vault's index in the database that several machines share, as the settings name it."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config.private import make_folder, replace
from agent.config.program_parts import command_to_add
from agent.config.secrets import reveal
from agent.errors import ConfigError, MissingKey
from agent.lazy import later
from agent.vault.history.first_commit import first_commit
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.database.connection import SharedDatabase
    from agent.index.postgres_place import PostgresPlace
else:  # an extra
    SharedDatabase = later("agent.database.connection", "SharedDatabase")
    PostgresPlace = later("agent.index.postgres_place", "PostgresPlace")

_FIRST_COMMIT = "first-commit"
"""The file in the vault's cache with the id of its first commit, for which git looks through the whole history, and the
commit at which it was that: another one comes with a history that is joined or rewritten."""


def shared_database(workspace: Workspace) -> "SharedDatabase":
    """The database of the settings; raises `ConfigError` when it is not named, or its driver is not installed."""
    if find_spec("psycopg") is None:
        raise ConfigError(
            "psycopg is not installed, which a shared database needs",
            hint="install it: {command}",
            command=command_to_add("postgres"),
        )
    settings = workspace.settings.database
    try:
        url = reveal(settings.url)
    except MissingKey as error:
        raise ConfigError(
            "the shared database has no address: {problem}",
            hint="vault-agent config set database.url --prompt",
            problem=error.message,
        ) from error
    return SharedDatabase(url, settings.vault or _name(workspace))


def shared_place(workspace: Workspace, folder: Path) -> "PostgresPlace":
    """The index of the vault in the shared database; raises `ConfigError`."""
    machine = workspace.settings.machine.name or os.uname().nodename.partition(".")[0]
    return PostgresPlace(shared_database(workspace), machine, folder)


def _name(workspace: Workspace) -> str:
    """The id of the vault's first commit; raises `ConfigError` without one."""
    cache, head = workspace.cache / _FIRST_COMMIT, workspace.vault.head or ""
    try:
        known, _, until = cache.read_text("ascii").partition(" ")
    except (OSError, ValueError):
        known = until = ""
    found = first_commit(workspace.vault, known, until)
    if not found:
        raise ConfigError(
            "the vault has no commit yet, so that it has no name in the shared database",
            hint="commit its notes first, or name it: vault-agent config set database.vault NAME",
        )
    if (known, until) != (found, head):
        make_folder(cache.parent)
        replace(cache, f"{found} {head}")
    return found

"""Installs this program's git hooks in a repository, unless a hook of that name exists or git would not run it.

This program's own git calls run no hook; the hooks are for the git commands of a person. The scripts are in `hooks/`.
"""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from agent.errors import AgentError, BadPath
from agent.texts import Sentence
from agent.vault.health.trust import every_scope
from agent.vault.initialise import common
from agent.vault.store import Vault
from agent.vault.template import Left

NAMES = ("pre-commit", "post-merge", "post-checkout")
_PROGRAM = b"program='vault-agent'"


def install(vault: Vault, scripts: Mapping[str, bytes], program: Path | None) -> tuple[list[str], list[Left]]:
    """Write the scripts (name to bytes) into the hook folder; returns the installed names, and the skipped paths.

    `program` is the full path of vault-agent for the scripts; without it the hooks look for vault-agent on the PATH.
    """
    elsewhere = every_scope(vault.git, "core.hooksPath")
    if elsewhere:
        why = Sentence(
            "core.hooksPath in {file} makes git look in {folder}; copy it there yourself",
            file=elsewhere[-1].where,
            folder=elsewhere[-1].value,
        )
        return [], [Left(name, why) for name in scripts]
    installed: list[str] = []
    left: list[Left] = []
    folder = common(vault)
    for name, script in scripts.items():
        data = _adapted(script, program, vault.place.prefix)
        path = f"hooks/{name}"
        try:
            present = folder.read(path)
            if present is None:
                token = vault.clock.new_id()
                folder.stage(path, f"vault-agent-hook.{token}", data, 0o755)
                folder.publish(path, f"vault-agent-hook.{token}")
                installed.append(name)
            elif present not in {data, script}:
                left.append(Left(name, "yours is kept"))
        except BadPath as error:
            left.append(Left(name, error.message))
        except (AgentError, OSError) as error:
            left.append(Left(name, str(error)))
    return installed, left


def _adapted(script: bytes, program: Path | None, prefix: str) -> bytes:
    """The script with the program's full path, and with a `cd` to the vault if that is not the repository's root."""
    name = b"program=" + os.fsencode(shlex.quote(str(program))) if program else _PROGRAM
    move = b"\ncd " + os.fsencode(shlex.quote(f"./{prefix}")) + b" || exit 0" if prefix else b""
    return script.replace(_PROGRAM, name + move, 1)


def remove(vault: Vault, scripts: Mapping[str, bytes], program: Path | None) -> None:
    """Take out the hooks that `install` wrote, and that nobody has changed."""
    for name in ours(vault, scripts, program):
        (common(vault).root / "hooks" / name).unlink(missing_ok=True)


def ours(vault: Vault, scripts: Mapping[str, bytes], program: Path | None) -> set[str]:
    """The names of the repository's hooks that equal the script, or what `install` would write for it."""
    folder = common(vault)
    found: set[str] = set()
    for name, script in scripts.items():
        try:
            present = folder.read(f"hooks/{name}")
        except (AgentError, OSError):
            continue
        if present is not None and present in {script, _adapted(script, program, vault.place.prefix)}:
            found.add(name)
    return found

"""Installs our git hooks in a repository: only where no hook of that name exists, and never where git would not look.

Our own git calls run no hook at all; these are for the git that a person calls. What they do is in `hooks/`.
"""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from agent.errors import AgentError, BadPath
from agent.vault.health.trust import every_scope
from agent.vault.initialise import common
from agent.vault.store import Vault
from agent.vault.template import Left

NAMES = ("pre-commit", "post-merge", "post-checkout")
_PROGRAM = b"program='vault-agent'"


def install(vault: Vault, scripts: Mapping[str, bytes], program: Path | None) -> tuple[list[str], list[Left]]:
    """Put the scripts (name to bytes) into the repository's hook folder: the names installed, and those left and why.

    `program` is written in as the full path of vault-agent; without one the hooks look for it on the PATH.
    """
    elsewhere = every_scope(vault.git, "core.hooksPath")
    if elsewhere:
        why = f"core.hooksPath in {elsewhere[-1].where} makes git look in {elsewhere[-1].value}; copy it there yourself"
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
    """The script with the program's full path, and in the vault's folder where that is not the repository's."""
    name = b"program=" + os.fsencode(shlex.quote(str(program))) if program else _PROGRAM
    move = b"\ncd " + os.fsencode(shlex.quote(f"./{prefix}")) + b" || exit 0" if prefix else b""
    return script.replace(_PROGRAM, name + move, 1)


def ours(vault: Vault, scripts: Mapping[str, bytes], program: Path | None) -> set[str]:
    """The names of hooks in the repository that are exactly what `install` would put there."""
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

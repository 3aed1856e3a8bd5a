"""The commits that added the lines of a note."""

import re

from agent.vault.store import Vault

_ROW = re.compile(rb"([0-9a-f]{40,64}) \d+ \d+")


def blame(vault: Vault, path: str, revision: str = "HEAD", *, any_space: bool = False) -> list[tuple[str, str]]:
    """The lines of a note in a commit (by default the last one), without line ends, each with the id of the commit that
    added it.

    Empty if the commit has no such note. `any_space`: a commit that changed only the space in a line, or gave the last
    line its end, did not add it.
    """
    loose = ["-w"] if any_space else []
    command = ["blame", *loose, "--porcelain", "--no-progress", revision, "--", vault.place.prefix + path]
    out = vault.git.run(*command, ok=(0, 128), drivers_off=True)
    rows: list[tuple[str, str]] = []
    commit = ""
    for line in out.split(b"\n"):
        if match := _ROW.match(line):
            commit = match[1].decode()
        elif line.startswith(b"\t"):
            rows.append((line[1:].rstrip(b"\r").decode("utf-8", "surrogateescape"), commit))
    return rows


def added_lines(vault: Vault, path: str) -> tuple[str, ...]:
    """All lines that any commit has added to a note, each once, without line ends."""
    added = (line[1:] for line in _patches(vault, path, "--format=") if line.startswith("+"))
    return tuple(dict.fromkeys(line for line in added if not line.startswith("++ ")))


def removed_lines(vault: Vault, path: str) -> dict[str, str]:
    """The lines that a commit has removed from a note, without line ends, each with the last commit that did."""
    found: dict[str, str] = {}
    commit = ""
    for line in _patches(vault, path, "--format=%x00%H"):
        if line.startswith("\0"):
            commit = line[1:]
        elif line.startswith("-") and not line.startswith("--- "):
            found.setdefault(line[1:], commit)
    return found


def _patches(vault: Vault, path: str, form: str) -> list[str]:
    """The lines of the patches of all commits of a note, newest first, each below its commit in this form."""
    command = ["log", form, "-p", "-U0", "--full-history", "--no-ext-diff", "--no-textconv", "--no-color", "-m"]
    out = vault.git.run(*command, "HEAD", "--", vault.place.prefix + path, ok=(0, 128), drivers_off=True)
    return out.decode("utf-8", "replace").splitlines()

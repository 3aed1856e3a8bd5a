"""The commits that added the lines of a note, and the lines that were in it earlier."""

import re
from collections.abc import Mapping

from agent.dataclass import dataclass
from agent.vault.store import Vault

_ROW = re.compile(rb"([0-9a-f]{40,64}) \d+ \d+")


@dataclass(frozen=True, slots=True)
class LineHistory:
    """The lines that any commit has `added` to a note, each once, and those `removed` from it, each with the last
    commit that did; all without line ends."""

    added: tuple[str, ...]
    removed: Mapping[str, str]


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


def line_history(vault: Vault, path: str) -> LineHistory:
    """The lines that the commits of a note have added and removed, by one run of git over their patches."""
    command = ["log", "--format=%x00%H", "-p", "-U0", "--full-history", "--no-ext-diff", "--no-textconv", "--no-color"]
    out = vault.git.run(*command, "-m", "HEAD", "--", vault.place.prefix + path, ok=(0, 128), drivers_off=True)
    added, removed = dict[str, None](), dict[str, str]()
    commit = ""
    for line in out.decode("utf-8", "replace").splitlines():
        if line.startswith("\0"):
            commit = line[1:]
        elif line.startswith("+") and not line.startswith("+++ "):
            added.setdefault(line[1:])
        elif line.startswith("-") and not line.startswith("--- "):
            removed.setdefault(line[1:], commit)
    return LineHistory(tuple(added), removed)

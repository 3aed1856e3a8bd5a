"""The authors of lines and notes, from the history: a person, or memory's own upkeep.

What a person has written, corrected or brought back is theirs: upkeep of memory leaves it alone. In doubt a line is
theirs.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from agent.vault.history.commits import commits, read_message
from agent.vault.plumbing.file_changes import Kind
from agent.vault.store import Vault
from agent.vault.write.survey import dirty

LIFECYCLE, DAILY, CAPTURE = "lifecycle", "daily", "capture"
FORGET = "forget"
TOOLS = frozenset({LIFECYCLE, DAILY, CAPTURE})
"""The `Vault-Tool` of commits in which memory tends itself."""

_BLAMED = re.compile(rb"([0-9a-f]{40,64}) \d+ \d+")


@dataclass(frozen=True, slots=True)
class AuthoredLine:
    """One line of a note with its ending; `own`: memory's upkeep has written it, and nobody since."""

    text: str
    own: bool


def touched_by_people(vault: Vault, folder: str) -> frozenset[str]:
    """The notes of a folder that a person has corrected, renamed or brought back, or is at work on."""
    found: set[str] = set()
    for commit in commits(vault, actor="human", path=folder):
        if commit.tool == FORGET:
            continue  # a person's wish, but not their words
        kinds = {Kind.EDITED, Kind.RENAMED} if not commit.undoes else set(Kind) - {Kind.DELETED}
        found.update(change.path for change in commit.files if change.kind in kinds)
    return frozenset(found) | {item.path for item in dirty(vault.git, vault.place)}


def blamed_lines(vault: Vault, path: str, data: bytes) -> tuple[AuthoredLine, ...]:
    """The lines of a note whose bytes now are `data`, each with whether it is memory's own."""
    now = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    blamed = _blamed(vault, path)
    own = [False] * len(now)
    matcher = SequenceMatcher(None, [text for text, _ in blamed], [text.rstrip("\r\n") for text in now], autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            own[block.b + step] = blamed[block.a + step][1]
    return tuple(AuthoredLine(text, is_own) for text, is_own in zip(now, own, strict=True))


def lines_ever_in(vault: Vault, path: str) -> tuple[str, ...]:
    """Every line that a commit has ever brought into a note, each once, without their endings."""
    command = ["log", "--format=", "-p", "-U0", "--full-history", "--no-ext-diff", "--no-textconv", "--no-color", "-m"]
    out = vault.git.run(*command, "HEAD", "--", vault.place.prefix + path, ok=(0, 128), drivers_off=True)
    added = (line[1:] for line in out.decode("utf-8", "replace").splitlines() if line.startswith("+"))
    return tuple(dict.fromkeys(line for line in added if not line.startswith("++ ")))


def _blamed(vault: Vault, path: str) -> list[tuple[str, bool]]:
    """The lines of the note in the last commit, without endings, and whether memory's upkeep brought them in."""
    command = ["blame", "--porcelain", "--no-progress", "HEAD", "--", vault.place.prefix + path]
    out = vault.git.run(*command, ok=(0, 128), drivers_off=True)
    rows: list[tuple[str, str]] = []
    commit = ""
    for line in out.split(b"\n"):
        if match := _BLAMED.match(line):
            commit = match[1].decode()
        elif line.startswith(b"\t"):
            rows.append((line[1:].rstrip(b"\r").decode("utf-8", "surrogateescape"), commit))
    own = _ours(vault, {commit for _, commit in rows})
    return [(text, commit in own) for text, commit in rows]


def _ours(vault: Vault, ids: Iterable[str]) -> set[str]:
    named = sorted(ids)
    found = zip(named, vault.git.objects(named), strict=True) if named else ()
    ours = [name for name, item in found if item is not None and _is_ours(item.data)]
    return vault.provenance.made_here(ours) if ours else set()


def _is_ours(commit: bytes) -> bool:
    message = commit.partition(b"\n\n")[2].decode("utf-8", "replace")
    said = dict(read_message(message)[2])
    return said.get("vault-actor", "human") != "human" and said.get("vault-tool") in TOOLS

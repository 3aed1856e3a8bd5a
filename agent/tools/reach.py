"""Which notes tools may change: most of them freely, some after a person's yes, some never.

Judged by name alone, as the most forgiving file system would read it (no case, compatibility characters folded, nothing
invisible), so that no spelling of `approvals/` is a way around it. What a path really leads to (links) is the vault's
business, and so are the names that no writer may use at all.
"""

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum

from agent.errors import ToolRetry
from agent.vault.worktree.paths import check


class Reach(IntEnum):
    """How close a note lies to what steers the agent; a higher one is stricter."""

    OPEN = 0
    REMEMBERED = 1
    """Comes back into later runs by itself: asks once a run has read untrusted text."""
    STEERING = 2
    """Says what the agent does, or is a request to it: always asks."""
    CLOSED = 3
    """Written by the person and by the program itself, never by a tool."""


_FOLDERS = {
    "approvals": Reach.CLOSED,  # else the model could say yes to itself
    "questions": Reach.CLOSED,  # and answer itself
    "sessions": Reach.CLOSED,  # what was said is not rewritten
    "reflections": Reach.CLOSED,
    "archive/forgotten": Reach.CLOSED,  # a note here keeps a memory from ever being written again
    "jobs/history": Reach.CLOSED,
    "skills/history": Reach.CLOSED,
    "skills/deprecated": Reach.CLOSED,
    "skills/mutations": Reach.CLOSED,
    "tasks/done": Reach.CLOSED,
    "skills": Reach.STEERING,
    "rules": Reach.STEERING,
    "jobs": Reach.STEERING,
    "tasks": Reach.STEERING,
    "prompts": Reach.STEERING,
    "inbox": Reach.STEERING,  # a note here starts a run as if the person had asked for it
    "entries": Reach.REMEMBERED,
    "profile": Reach.REMEMBERED,
}
"""By folder, or by folder and subfolder where a subfolder is stricter than what it lies in."""
_ANYWHERE = dict.fromkeys(("agent.md", "agents.md", "claude.md", "gemini.md", "skill.md"), Reach.STEERING)
"""Names that this agent, or another one that works in the same folder, takes instructions from."""
_AT_THE_ROOT = {"memory.md": Reach.REMEMBERED}
_ENDINGS = (".md", ".txt", ".csv", ".canvas", ".base")
"""Files that people read and no program runs."""


def reach(path: str) -> Reach:
    """How a tool may change the file at `path`."""
    names = [_folded(name) for name in path.split("/")]
    if any(name.startswith(".") for name in names):
        return Reach.CLOSED
    first = _long(names[0], [*_FOLDERS, *_AT_THE_ROOT])
    found = [_ANYWHERE.get(names[-1], Reach.OPEN), _FOLDERS.get(first, Reach.OPEN)]
    if len(names) == 1:
        found.append(_AT_THE_ROOT.get(first, Reach.OPEN))
    else:
        inside = [folder.removeprefix(f"{first}/") for folder in _FOLDERS if folder.startswith(f"{first}/")]
        found.append(_FOLDERS.get(f"{first}/{_long(names[1], inside)}", Reach.OPEN))
    return max(found)


def check_writable(path: str) -> str:
    """Return `path` if a tool may ever write there; raises `BadPath` or `ToolRetry` with a text for the model."""
    check(path)
    if reach(path) is Reach.CLOSED:
        raise ToolRetry(f"{path} is not for tools to change: only the person and the program itself write there")
    return path


def check_text(path: str) -> str:
    """Return `path` if it names a file that holds text; raises `ToolRetry`."""
    if not path.endswith(_ENDINGS):
        raise ToolRetry(f"{path} is no note: its name must end in {', '.join(_ENDINGS)}")
    return path


def check_readable(path: str) -> str:
    """Return `path` if a tool may read it; raises `BadPath` or `ToolRetry` with a text for the model."""
    check(path)
    if any(_folded(name).startswith(".") for name in path.split("/")):
        raise ToolRetry(f"{path} is hidden, and not for tools to read")
    return path


def _folded(name: str) -> str:
    visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")
    plain = unicodedata.normalize("NFKC", visible.casefold()).strip(" ")
    return plain.partition(":")[0].rstrip(". ") or plain


def _long(name: str, known: Sequence[str]) -> str:
    """The one of the `known` names that a short name of old file systems (`APPROV~1`) may stand for."""
    short = re.fullmatch(r"(.{2,6})~[0-9]{1,3}(\..*)?", name)
    if short is None:
        return name
    return next((each for each in known if each.replace(".", "").startswith(short[1])), name)

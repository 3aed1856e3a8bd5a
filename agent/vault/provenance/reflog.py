"""git's reflogs: its own record of commits on this machine, which is never cloned or pulled.

A step whose message begins with "commit" was made by a person's git here; one with `REFLOG_MARK` by this program. All
other moves of a branch (pull, merge, checkout, rebase, cherry-pick, am, reset, clone) may bring text from elsewhere.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from agent.dataclass import dataclass
from agent.git.identities import REFLOG_MARK

_STEP = re.compile(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t\n]*(?:\t([^\n]*))?")
_PERSON = re.compile(r"commit(?: \((?:initial|amend|merge)\))?: |revert: |(?:merge|pull)\b.*: Merge made by ")
_EARLIER = re.compile(r"[a-z]+\([^()]*\): ")
"""This program's messages before `REFLOG_MARK` was introduced; git itself has none of this form."""
_REPLAY = re.compile(r"[^:]*rebase[^:]*\((?:pick|continue|reword|edit|squash|fixup)\): |cherry-pick: ")
_CLONE = re.compile(r"clone: from (.+)")


class Maker(StrEnum):
    """The maker of the commit that a step of the reflog leads to."""

    PROGRAM = "program"
    PERSON = "person"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ReflogStep:
    """One move of a branch or of HEAD, with git's message."""

    old: str
    new: str
    message: str

    @property
    def maker(self) -> Maker:
        """The maker of the commit `new`, as far as this step shows."""
        if self.message.startswith(REFLOG_MARK):
            return Maker.PROGRAM
        return Maker.PERSON if _PERSON.match(self.message) else Maker.UNKNOWN

    @property
    def earlier_maker(self) -> Maker:
        """The maker, in a reflog that an earlier version of this program has begun."""
        return Maker.PROGRAM if _EARLIER.match(self.message) else self.maker

    @property
    def is_replay(self) -> bool:
        """True if this step made an existing commit again, on top of another one."""
        return _REPLAY.match(self.message) is not None

    @property
    def cloned_from(self) -> str:
        """The address that this step cloned; empty for any other step."""
        found = _CLONE.match(self.message)
        return found[1] if found else ""


def parse_steps(data: bytes) -> list[ReflogStep]:
    """The steps in a reflog's bytes, oldest first; other lines are skipped."""
    found = (_STEP.fullmatch(line) for line in data.split(b"\n"))
    return [
        ReflogStep(each[1].decode(), each[2].decode(), (each[3] or b"").decode("utf-8", "replace"))
        for each in found
        if each
    ]


def other_reflogs(gitdir: Path, common: Path) -> Iterator[Path]:
    """The reflogs, other than HEAD's, that may have this machine's own commits: local branches and other work trees."""
    if common != gitdir:
        yield common / "logs" / "HEAD"
    yield from sorted(common.glob("worktrees/*/logs/HEAD"))
    yield from sorted(path for path in (common / "logs" / "refs" / "heads").rglob("*") if path.is_file())


def makers(
    logs: Iterable[Iterable[ReflogStep]], parents: Mapping[str, Sequence[str]], *, first_time: bool
) -> dict[str, Maker]:
    """The maker of each commit according to these reflogs; commits that are not in them are left out.

    One step of this program may add several commits, with the person's saves first. The commits in between are found by
    their `parents`.
    """
    found: dict[str, Maker] = {}
    for steps in logs:
        for step in steps:
            maker = step.earlier_maker if first_time else step.maker
            if maker is Maker.UNKNOWN:
                continue
            found.setdefault(step.new, maker)
            below = parents.get(step.new, ())
            while maker is Maker.PROGRAM and below and below[0] != step.old and below[0] in parents:
                found.setdefault(below[0], maker)
                below = parents[below[0]]
    return found


def read_reflog(path: Path) -> bytes:
    """A reflog's bytes; empty if git has no such log."""
    try:
        return path.read_bytes()
    except OSError:
        return b""

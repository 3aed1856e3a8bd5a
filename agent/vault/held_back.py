"""The record of files that came from elsewhere and are held back: the last commit has them, and the disk does not.

To leave them out of the commit would delete them for everybody at the next push. So the index has them with git's mark
for what a sparse checkout leaves out, by which no git takes them for deleted, and the record says the same to this
program, also where another program has lost the marks. It is beside the index, in the repository's own folder. An entry
is about one version at a path: as soon as the last commit has another one there, it says nothing any more.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

from agent.config import durable
from agent.dataclass import dataclass

_FILE = "vault-agent/held-back.json"


class HoldReason(StrEnum):
    """Why a file is held back."""

    ACTS = "acts"
    """It can steer an agent, or another program; a yes brings it to the disk."""
    PRIVATE = "private"
    """The person keeps its path out of git."""
    NAME = "name"
    """It has a name that cannot be here."""
    LINK = "link"
    """It is a link or another repository, which sync does not bring to the disk."""


class HoldState(StrEnum):
    """What the person has said about a file that is held back."""

    WAITS = "waits"
    ACCEPTED = "accepted"
    """It is being brought to the disk, or will be at the next start."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class HeldFile:
    """One version of a file that is held back: its path in the repository, its entry there, and the blob that is on
    disk in its place (empty: none, or what git must not know of).

    An `oid` that is empty stands for the removal of a file. `arrival` is the commit with which it came: what came
    together is asked about together.
    """

    path: str
    oid: str
    mode: str
    reason: HoldReason
    arrival: str
    before: str = ""
    state: HoldState = HoldState.WAITS

    @property
    def is_held(self) -> bool:
        """True unless the person has accepted it."""
        return self.state is not HoldState.ACCEPTED


@dataclass(frozen=True, slots=True)
class HeldBack:
    """The held files of one repository, by path and blob."""

    files: Mapping[tuple[str, str], HeldFile]

    def get(self, path: str, oid: str) -> HeldFile | None:
        """The version of a file, if it is held back."""
        found = self.files.get((path, oid))
        return found if found is not None and found.is_held else None

    def has(self, path: bytes, oid: str) -> bool:
        """True if this version of a file is held back; `path` as git has it."""
        return self.get(path.decode("utf-8", "surrogateescape"), oid) is not None

    @property
    def paths(self) -> frozenset[bytes]:
        """The paths of all files of the record, as git has them; also of those that are being brought to the disk."""
        return frozenset(path.encode("utf-8", "surrogateescape") for path, _ in self.files)

    def is_about(self, path: str) -> bool:
        """True if any version at this path is held back."""
        return any(each.path == path and each.is_held for each in self.files.values())

    def is_accepted(self, path: str) -> bool:
        """True if a version at this path is being brought to the disk."""
        return any(each.path == path and not each.is_held for each in self.files.values())

    @property
    def private(self) -> frozenset[str]:
        """The paths that the person keeps out of git, and others do not."""
        return frozenset(each.path for each in self.of(HoldReason.PRIVATE))

    def of(self, reason: HoldReason) -> tuple[HeldFile, ...]:
        """The files that are held back for a reason, by path."""
        found = (each for each in self.files.values() if each.reason is reason and each.is_held)
        return tuple(sorted(found, key=lambda each: each.path))


NOTHING = HeldBack({})


def load_held_back(gitdir: Path) -> HeldBack:
    """The record of a repository; mostly there is none. An entry that is damaged is left out."""
    try:
        rows = json.loads((gitdir / _FILE).read_text("utf-8"))
        found = [_parsed(row) for row in rows]
    except FileNotFoundError:
        return NOTHING
    except (OSError, ValueError, TypeError):
        return NOTHING
    return HeldBack({(each.path, each.oid): each for each in found if each is not None})


def save_held_back(gitdir: Path, files: Iterable[HeldFile]) -> None:
    """Replace the record; durable when this returns. Call this with the vault's writer lock only."""
    rows = [asdict(each) for each in files]
    if rows:
        (gitdir / _FILE).parent.mkdir(exist_ok=True)
        durable.replace(gitdir / _FILE, json.dumps(rows, indent=1))
    else:
        (gitdir / _FILE).unlink(missing_ok=True)


def add_held_back(gitdir: Path, files: Collection[HeldFile]) -> None:
    """Add these to the record."""
    if files:
        known = {**load_held_back(gitdir).files, **{(each.path, each.oid): each for each in files}}
        save_held_back(gitdir, known.values())


def _parsed(row: Mapping[str, str]) -> HeldFile | None:
    try:
        reason, state = HoldReason(row["reason"]), HoldState(row["state"])
        return HeldFile(row["path"], row["oid"], row["mode"], reason, row["arrival"], row["before"], state)
    except (KeyError, ValueError, TypeError):
        return None

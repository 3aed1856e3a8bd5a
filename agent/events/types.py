"""What has happened, as frozen values: plain data, so that every floor can read them.

What changed inside a note is carried and not known here: `Change` stands for whatever the publisher tells changes with
(`markdown.changes.Change`, for the watcher). Who hears of an event is the bus's business, what follows from it is the
reactions'.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

Change = TypeVar("Change", covariant=True)


class Origin(StrEnum):
    """Whose doing a change was: by hand here, by this program, or brought by git from where others write."""

    HUMAN = "human"
    OWN = "own"
    ARRIVED = "arrived"


@dataclass(frozen=True, slots=True)
class NoteCreated(Generic[Change]):
    """A note is there that was not. `changes` are those from an empty note to this one."""

    path: str
    hash: str
    origin: Origin
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteEdited(Generic[Change]):
    """A note says something else. `before` and `hash` are the content hashes of the two versions.

    `changes` is empty when only blanks changed, and when `compared` is false: the older version was not to be had.
    """

    path: str
    before: str
    hash: str
    origin: Origin
    changes: tuple[Change, ...] = ()
    compared: bool = True


@dataclass(frozen=True, slots=True)
class NoteMoved(Generic[Change]):
    """A note has another path. It may have been edited on the way, then `before` and `hash` differ."""

    path: str
    source: str
    before: str
    hash: str
    origin: Origin
    changes: tuple[Change, ...] = ()
    compared: bool = True


@dataclass(frozen=True, slots=True)
class NoteDeleted:
    """A note is gone. `before` is the hash of what it held."""

    path: str
    before: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class FileChanged:
    """A file that is not a note appeared, changed or went away (`present` is false)."""

    path: str
    present: bool
    origin: Origin


NoteEvent: TypeAlias = NoteCreated[Change] | NoteEdited[Change] | NoteMoved[Change] | NoteDeleted
"""Every way in which a note can change."""

VaultEvent: TypeAlias = NoteEvent[Change] | FileChanged
"""Every way in which the vault's files can change."""


@dataclass(frozen=True, slots=True)
class FilesChanged(Generic[Change]):
    """One look at the vault has found these changes, at `now` on the monotonic clock."""

    events: tuple[VaultEvent[Change], ...]
    now: float


@dataclass(frozen=True, slots=True)
class EditsCommitted:
    """The person's own edits of the files at `paths` are in the history now, as `commit`."""

    commit: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScanFinished:
    """The vault was compared with what is known of it: `files` looked at, `suspects` that may have changed."""

    reason: str
    files: int
    suspects: int


@dataclass(frozen=True, slots=True)
class Tick:
    """The daemon takes a turn, at `now` on the monotonic clock."""

    now: float


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The daemon's turn is over, with how it sees the vault: whether the system gives `hints`, how many `files` are
    known, how many paths are `waiting` to be looked at, why all files were looked at last (None: never yet), how many
    looks have failed in a row, and what is not seen, in a line (empty: all is)."""

    hints: bool
    files: int
    waiting: int
    last_scan: str | None
    failures: int
    problem: str


@dataclass(frozen=True, slots=True)
class IndexUpdated:
    """The index has taken up changes: how many notes it took in, dropped and could not read."""

    indexed: int
    removed: int
    failed: int


@dataclass(frozen=True, slots=True)
class DaemonStarted:
    """The daemon watches the vault at `root` and accepts work."""

    root: str


@dataclass(frozen=True, slots=True)
class DaemonStopped:
    """The daemon has finished what it had begun; `reason` says why it stopped."""

    reason: str

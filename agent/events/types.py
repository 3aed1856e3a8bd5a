"""Events of the vault and the daemon, as frozen values: plain data, so that every layer can import them.

`Change` is a type variable for a change inside a note (`markdown.changes.NoteChange`, for the watcher), so that this
module imports no parser. `bus` delivers the events.
"""

from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

from agent.dataclass import dataclass

Change = TypeVar("Change", covariant=True)


class Origin(StrEnum):
    """The origin of a change: a person on this machine, this program, or git."""

    HUMAN = "human"
    OWN = "own"
    PULLED = "pulled"
    """Git has brought it, and it counts as the person's own, such as from their other machine."""
    ARRIVED = "arrived"
    """Git has brought it, and the person has not looked at it."""


@dataclass(frozen=True, slots=True)
class NoteCreated(Generic[Change]):
    """A note was created. `changes` are relative to an empty note."""

    path: str
    hash: str
    origin: Origin
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteEdited(Generic[Change]):
    """A note's content changed. `before` and `hash` are the content hashes of the two versions.

    `changes` is empty when only blanks changed, or when `compared` is false: the older version was not available.
    """

    path: str
    before: str
    hash: str
    origin: Origin
    changes: tuple[Change, ...] = ()
    compared: bool = True


@dataclass(frozen=True, slots=True)
class NoteMoved(Generic[Change]):
    """A note was moved from `source` to `path`. If it was also edited, `before` and `hash` differ."""

    path: str
    source: str
    before: str
    hash: str
    origin: Origin
    changes: tuple[Change, ...] = ()
    compared: bool = True


@dataclass(frozen=True, slots=True)
class NoteDeleted:
    """A note was deleted. `before` is the hash of its last content."""

    path: str
    before: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class FileChanged:
    """A file that is not a note was created, changed or deleted (`present` is false)."""

    path: str
    present: bool
    origin: Origin


NoteEvent: TypeAlias = NoteCreated[Change] | NoteEdited[Change] | NoteMoved[Change] | NoteDeleted
"""All events of a note."""

VaultEvent: TypeAlias = NoteEvent[Change] | FileChanged
"""All events of the vault's files."""


@dataclass(frozen=True, slots=True)
class FilesChanged(Generic[Change]):
    """One poll of the vault has found these changes, at `now` on the monotonic clock.

    Changes made before the daemon started are not among them: the start takes them into the index, and `EditsCommitted`
    names those that a person made. `private` are those of notes that the person keeps from the agent: they are only
    committed, and taken out of the index.
    """

    events: tuple[VaultEvent[Change], ...]
    now: float
    private: tuple[VaultEvent[Change], ...] = ()


@dataclass(frozen=True, slots=True)
class EditsCommitted:
    """The person's own edits of the files at `paths` were committed as `commit`, also those of before the start."""

    commit: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemoteSynced:
    """A remote has this vault's commit; the files that were received and sent."""

    remote: str
    received: tuple[str, ...]
    sent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EditsStopped:
    """So many notes, at `paths`, were deleted or emptied by hand that it is committed only with the person's yes."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScanFinished:
    """A scan has compared the vault with its known state: `files` found, `suspects` that may have changed."""

    reason: str
    files: int
    suspects: int


@dataclass(frozen=True, slots=True)
class Tick:
    """The daemon begins a turn, at `now` on the monotonic clock."""

    now: float


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The daemon has ended a turn. The state of its watcher: `hints` is true if the system gives hints; the number of
    known `files` and of paths `waiting` for a check; the reason of the last full scan (None: no scan yet); the number
    of consecutive `failures`; and the `problem` of detecting changes in one line (empty: none)."""

    hints: bool
    files: int
    waiting: int
    last_scan: str | None
    failures: int
    problem: str


@dataclass(frozen=True, slots=True)
class IndexUpdated:
    """The index was updated: the numbers of notes indexed, removed and failed to parse."""

    indexed: int
    removed: int
    failed: int


@dataclass(frozen=True, slots=True)
class DaemonStarted:
    """The daemon has started: it watches the vault at `root` and accepts requests."""

    root: str


@dataclass(frozen=True, slots=True)
class DaemonStopped:
    """The daemon has finished its work and stopped; `reason` is the cause."""

    reason: str


@dataclass(frozen=True, slots=True)
class CalendarChanged:
    """The events in the calendars of these names are others than at the last look."""

    calendars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A run of a job is over, or waits for its person; `outcome` is a word from `schedule.history`."""

    job: str
    outcome: str


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The agent went from one state to another, such as from awake to working, at a time and for a reason.

    When it falls asleep, `woken` is when it had woken up, and `done` what it did since, each in a few words.
    """

    before: str
    after: str
    reason: str
    at: datetime
    woken: datetime | None = None
    done: tuple[str, ...] = ()

"""The values of a transaction: `Request`s from callers, the `Change`s on disk that they become, and the `Outcome`.

A queue keeps requests; a `Change` is a request resolved against the present note; an `Applied` records the bytes that
were really replaced.
"""

from dataclasses import dataclass
from enum import StrEnum


class Collision(StrEnum):
    """The reaction when a person's save meets ours: stop, merge three ways, or append our text to theirs."""

    REFUSE = "refuse"
    MERGE = "merge"
    APPEND = "append"


@dataclass(frozen=True, slots=True)
class Create:
    """A new note; never overwrites."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Edit:
    """`base` was read, `data` is wanted; merged three ways when the note has moved on."""

    path: str
    base: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class Append:
    """Text for the end of a note, which is made if it is missing."""

    path: str
    text: bytes


@dataclass(frozen=True, slots=True)
class Move:
    """A note gets another path; never overwrites."""

    path: str
    to: str


@dataclass(frozen=True, slots=True)
class Delete:
    """A note goes, if it is still what was read (`base`; None: whatever it is)."""

    path: str
    base: bytes | None = None


Request = Create | Edit | Append | Move | Delete


@dataclass(frozen=True, slots=True)
class Change:
    """One file from `before` to `after` (None: no file), to be written under `temporary` first.

    `copy` is the path of the conflict copy, should there have to be one; `source` is where a moved note comes from.
    """

    path: str
    before: bytes | None
    after: bytes | None
    temporary: str
    collision: Collision
    mode: int | None = None
    copy: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """A change as it happened; `temporary` as in the `Change`.

    `found` is the last that a person had there (None: nothing), `after` what is there now, `leftovers` the temporary
    files beside it with the bytes they must still hold, `conflict` our version where it could not be merged in.
    """

    path: str
    temporary: str
    found: bytes | None
    after: bytes | None
    leftovers: tuple[tuple[str, bytes], ...] = ()
    conflict: bytes | None = None
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Stamp:
    """The trailers of a commit: the actor, and on whose behalf. `call` names one tool call within its run."""

    actor: str = "agent"
    run: str = ""
    tool: str = ""
    session: str = ""
    call: str = ""
    undoes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a transaction: a commit, or a place in the queue with the reason for waiting.

    `human` is the commit, just before ours, that recorded what a person had saved in the same notes. `fresh`: a
    person's burst of edits was still going on, so nothing was committed yet. `open` and `unread` are files left for
    later: those that another program keeps open, and files and folders that cannot be read.
    """

    commit: str | None = None
    human: str | None = None
    paths: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    queued: str | None = None
    fresh: bool = False
    open: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

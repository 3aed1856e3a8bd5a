"""The values of a transaction: `Request` from a caller, `Change` on disk, `Applied` and `Outcome` as results.

A queue stores requests. A `Change` is a request resolved against the current note. An `Applied` records the bytes that
were really replaced.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from agent.dataclass import dataclass
from agent.git.objects import TreeEntry


class Collision(StrEnum):
    """The reaction when a person's save collides with this program's change: stop, merge three ways, or append."""

    REFUSE = "refuse"
    MERGE = "merge"
    APPEND = "append"


@dataclass(frozen=True, slots=True)
class Create:
    """A request to create a note; an existing one is never overwritten."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Edit:
    """A request to change `base`, as it was read, into `data`; merged three ways if the note has changed since."""

    path: str
    base: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class Append:
    """A request to add text at the end of a note, or of the section below the heading `section` (`## Title`), which is
    added if it is missing. A missing note is created and begins with `head`. `is_block`: the text is Markdown by
    itself, and no row of what the note ends with. `marked`: the section is the one between the program's marks."""

    path: str
    text: bytes
    head: bytes = b""
    section: bytes = b""
    is_block: bool = False
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """A request to give a note another path; an existing note is never overwritten."""

    path: str
    to: str


@dataclass(frozen=True, slots=True)
class Delete:
    """A request to delete a note if its bytes are still `base` (None: any bytes)."""

    path: str
    base: bytes | None = None


Request = Create | Edit | Append | Move | Delete


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one file from `before` to `after` (None: no file), first written under the name `temporary`.

    `copy` is the path for a conflict copy, if one is needed; `source` is the old path of a moved note.
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
    """A change that was brought to disk; `temporary` as in the `Change`.

    `found`: the last bytes that a person had there (None: no file). `after`: the bytes there now. `leftovers`: the
    temporary files beside it, each with the bytes it must still hold. `conflict`: the agent's version, if it could not
    be merged in.
    """

    path: str
    temporary: str
    found: bytes | None
    after: bytes | None
    leftovers: tuple[tuple[str, bytes], ...] = ()
    conflict: bytes | None = None
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A finished commit to which the branch moves once its files are in place; `seen` is HEAD's commit before.

    `entries` are the new index entries (None: no file) of the files that differ, by git's path. `is_own`: this program
    has made the commit, here, on top of `seen`; what was made elsewhere must never count as its own.
    `progress` is told how many files are in place, and of how many.
    """

    commit: str
    seen: str
    entries: Mapping[bytes, TreeEntry | None]
    is_own: bool = False
    progress: Callable[[int, int], object] = field(default=lambda done, of: None, compare=False, repr=False)


EVENING = "evening"
"""The `tool` of a commit with what nobody has asked for, which has waited for the evening."""
FORGET = "forget"
"""The `tool` of a commit with which a text is forgotten."""
CAPTURE = "capture"
"""The `tool` of a commit with which the program records a run, and adds it to logs (`Folder.logs`)."""


LEAVE = "inbox_leave"
"""The `tool` of a commit with which a program leaves a request for the agent, in a note of its own."""
HTTP = "http"
"""The actor of what programs change through the API, and the channel on which they ask."""
CLIENT = "mcp:"
"""Begins the name of a program that works in the vault for its person: its actor, and the channel on which it asks."""


def actor_of(job: str, channel: str = "") -> str:
    """The actor of what a run does, by the job that it belongs to (empty for a run that a person asked for) and the
    channel on which it was asked for."""
    if job:
        return f"job:{job}"
    return channel if channel.startswith(CLIENT) else "agent"


@dataclass(frozen=True, slots=True)
class Stamp:
    """The trailers of a commit: the actor, and the run, tool, session and tool call that it acts for."""

    actor: str = "agent"
    run: str = ""
    tool: str = ""
    session: str = ""
    call: str = ""
    undoes: tuple[str, ...] = ()
    untrusted: str = ""
    """The id of the rows that say which lines of this commit are a stranger's (`provenance.foreign_record`)."""
    typed: bool = False
    """No trailer: a person has typed or ticked this in a page, so it counts as an edit of theirs in an editor does."""

    @property
    def talk(self) -> str:
        """The run, with those that it delegated to, that is one commit; without one the session."""
        return self.run.partition(".")[0] or self.session

    @property
    def is_work(self) -> bool:
        """True for what a call of a tool does in a conversation: it is committed with that."""
        return bool(self.call and self.session)


def parse_stamp(fields: Mapping[str, Any]) -> Stamp:
    """The stamp that was stored as these fields; raises `LookupError` and `TypeError`."""
    return Stamp(**{**fields, "undoes": tuple(fields["undoes"])})


@dataclass(frozen=True, slots=True)
class ToolWork:
    """What a call of a tool has changed in a run: the note, the tool, and the id of the call."""

    path: str
    tool: str
    call: str

    @property
    def trailer(self) -> str:
        """The work as the value of a commit's trailer `Vault-Call`."""
        path = _ODD.sub(lambda odd: f"%{ord(odd[0]):04x}", self.path)
        return f"{'_'.join(self.call.split())} {self.tool} {path}"

    def is_of(self, call: str) -> bool:
        """True if the call with this id has done it."""
        return self.call == "_".join(call.split())


def parse_work(trailer: str) -> ToolWork:
    """The work that a trailer names; of a commit of one call it is the id alone."""
    call, tool, path = (*trailer.split(" ", 2), "", "")[:3]
    return ToolWork(_ESCAPED.sub(lambda odd: chr(int(odd[1], 16)), path), tool, call)


_ODD = re.compile("[\x00-\x1f\x7f%\ud800-\udfff]")
_ESCAPED = re.compile("%([0-9a-f]{4})")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a transaction: a commit, or a place in the queue with the reason for waiting.

    `human`: the commit, just before the agent's, of what a person had saved in the same notes. `fresh`: nothing was
    committed, because a person's burst of edits has not ended. `open` and `unread`: files left for later, because
    another program keeps them open or because they (or their folders) cannot be read. `left_out`: the reason by path
    of the new files and drafts that are not committed by themselves.
    """

    commit: str | None = None
    human: str | None = None
    paths: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    queued: str | None = None
    fresh: bool = False
    open: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


_NOT_THERE = "0"


class Kind(StrEnum):
    """The kind of a file's change."""

    CREATED = "created"
    EDITED = "edited"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file in a commit; paths are relative to the vault, `old_path` is set for a rename.

    `before` and `after` are git's entries (None: no file; an id of zeros: the content is only in the working tree).
    """

    kind: Kind
    path: str
    old_path: str | None = None
    before: TreeEntry | None = None
    after: TreeEntry | None = None


def parse_raw(fields: Sequence[str], position: int, prefix: str) -> tuple[tuple[FileChange, ...], int]:
    """The records of `--raw -z` from `position` on, without files outside the vault, and the position after them."""
    files: list[FileChange] = []
    while position < len(fields) and fields[position].lstrip("\n").startswith(":"):
        old_mode, mode, old_id, new_id, status = fields[position].lstrip("\n")[1:].split(" ")
        count = 2 if status[0] in "RC" else 1
        paths = fields[position + 1 : position + 1 + count]
        names = [path.removeprefix(prefix) if path.startswith(prefix) else None for path in paths]
        position += 1 + count
        before = TreeEntry(old_mode, old_id) if old_mode.strip(_NOT_THERE) else None
        after = TreeEntry(mode, new_id) if mode.strip(_NOT_THERE) else None
        if status[0] != "U":
            files += _change(names[0], names[-1], before, after)
    return tuple(files), position


def parse_raw_lists(fields: Sequence[str], prefix: str) -> Iterator[tuple[FileChange, ...]]:
    """The changes in each list that `git diff-tree --stdin --always -z` prints, one list for each commit."""
    position = 0
    while position < len(fields) and fields[position]:
        found, position = parse_raw(fields, position + 1, prefix)
        yield found


def _change(
    old: str | None, new: str | None, before: TreeEntry | None, after: TreeEntry | None
) -> Iterator[FileChange]:
    """One record as a change inside the vault: a file moved in counts as created, a file moved out as deleted."""
    if old is not None and new is not None and old != new:
        yield FileChange(Kind.RENAMED, new, old, before, after)
    elif new is not None:
        inside = before if old is not None else None
        kind = Kind.CREATED if inside is None else Kind.EDITED if after is not None else Kind.DELETED
        yield FileChange(kind, new, None, inside, after)
    elif old is not None:
        yield FileChange(Kind.DELETED, old, None, before, None)

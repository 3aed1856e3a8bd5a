"""What people did to the files by hand, and the commit that records it in their name.

Everything that git sees as changed and not staged belongs to it; what a person has staged is theirs to commit, and so
is what a git filter would rewrite. One commit holds a whole burst, so that a rename stays a rename.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from agent.config.masking import KnownSecrets
from agent.errors import Retryable
from agent.vault.plumbing.commit import Edits, Layer, Plan, Tip
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.lock import index_lock
from agent.vault.plumbing.objects import Entry, Pack, blob_id
from agent.vault.plumbing.people import person
from agent.vault.plumbing.repository import Place
from agent.vault.write.brake import is_emptied
from agent.vault.write.change import Outcome, Stamp
from agent.vault.write.journal import PERSON, Planned, Record
from agent.vault.write.message import compose, one_line
from agent.vault.write.paths import is_note, is_temporary
from agent.vault.write.secrets import without_secrets
from agent.vault.write.writer import Writer

_LISTED = 40


class Kind(StrEnum):
    """How a file differs from HEAD."""

    EDITED = "edited"
    CREATED = "created"
    DELETED = "deleted"
    STAGED = "staged"
    UNMERGED = "unmerged"


@dataclass(frozen=True, slots=True)
class Dirty:
    """One changed file; `oid` is HEAD's blob (empty for a new file)."""

    path: str
    kind: Kind
    oid: str = ""


def dirty(git: Git, place: Place, paths: Collection[str] = ()) -> list[Dirty]:
    """Every file of the vault, or of these, that differs from HEAD, without taking a lock or running a filter."""
    command = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"]
    only = [place.prefix + path for path in paths] or [place.prefix.rstrip("/")]
    pathspec = ["--", *only] if only != [""] else []
    out = git.run(*command, *pathspec, drivers_off=True).decode("utf-8", "surrogateescape")
    found = [item for line in out.split("\0") if (item := _parse(line)) is not None]
    return [
        Dirty(item.path.removeprefix(place.prefix), item.kind, item.oid)
        for item in found
        if item.path.startswith(place.prefix) and not item.path.endswith("/") and not is_temporary(item.path)
    ]


def _parse(line: str) -> Dirty | None:
    """One record of git status; submodules are not ours."""
    if line.startswith("? "):
        return Dirty(line[2:], Kind.CREATED)
    if line.startswith("u "):
        return Dirty(line.split(" ", 10)[10], Kind.UNMERGED)
    if not line.startswith("1 "):
        return None
    _, states, submodule, _, _, _, head, _, path = line.split(" ", 8)
    if submodule.startswith("S"):
        return None
    if states[0] != ".":
        return Dirty(path, Kind.STAGED, head)
    return Dirty(path, Kind.DELETED if states[1] == "D" else Kind.EDITED, head)


def filtered(git: Git, place: Place, paths: Sequence[str]) -> set[str]:
    """Those of the paths that a git filter (such as LFS) would rewrite: git has to add them itself."""
    if not paths:
        return set()
    asked = b"".join((place.prefix + path).encode("utf-8", "surrogateescape") + b"\0" for path in paths)
    out = git.run("check-attr", "-z", "--stdin", "filter", stdin=asked).decode("utf-8", "surrogateescape").split("\0")
    return {
        path.removeprefix(place.prefix)
        for path, value in zip(out[0::3], out[2::3], strict=False)
        if value not in {"unspecified", "unset"}
    }


def commit(writer: Writer, *, confirmed: bool = False, quiet: bool = False, subject: str = "") -> Outcome:
    """Commit a person's unstaged edits in their name; called under the writer lock.

    `quiet` waits for the end of a burst: nothing happens while a file is younger than the quiet interval. Raises
    `MassChange` when too many notes would vanish and nobody said yes, and `LockHeld` when git's index is locked.
    """
    reason = writer.waiting_reason()
    if reason:
        return Outcome(queued=reason)
    changed = [item for item in dirty(writer.git, writer.place) if item.kind not in {Kind.STAGED, Kind.UNMERGED}]
    aside = filtered(writer.git, writer.place, [item.path for item in changed if item.kind is not Kind.DELETED])
    mine = [item for item in changed if item.path not in aside]
    if not mine:
        return Outcome()
    if quiet and _is_fresh(writer, mine):
        return Outcome(fresh=True)
    contents = _Contents(writer)
    if not confirmed:
        _brake(writer, mine, contents)
    token = writer.clock.new_id()
    place = writer.place
    who = person(writer.git)
    recorded: list[Dirty] = []

    def plan(tip: Tip, pack: Pack) -> Plan:
        edits = contents.edits(mine, tip, pack)
        recorded[:] = [item for item in mine if place_bytes(place, item.path) in edits]
        writer.journal.open(Record(token, "", "", Stamp("human"), _planned(recorded, edits, place)))
        known = writer.options.known
        said = subject or _subject(recorded, edits, place)
        message = compose(said, Stamp("human"), _body(recorded, known), known=known)
        return Plan((Layer(edits, who, message),), edits)

    def before_ref(commit: str) -> None:
        writer.journal.reached_ref(token, commit)

    writer.journal.open(Record(token, "", "", Stamp("human"), ()))  # so that locks left by a crash are known as ours
    try:
        with index_lock(place.gitdir, place.worktree, token, writer.clock, writer.options.lock_seconds):
            paths = [place_bytes(place, item.path) for item in mine]
            made = writer.committer.commit(paths, plan, token, read_staged=False, refresh=True, before_ref=before_ref)
    except Exception:  # an interrupt is like a crash: `recover` goes on from what it finds
        with suppress(OSError):
            writer.journal.close(token, None)
        raise
    with suppress(OSError):
        writer.journal.close(token, None)
    return Outcome(human=made[0], paths=tuple(item.path for item in recorded) if made[0] else ())


def _planned(items: Sequence[Dirty], edits: Edits, place: Place) -> tuple[Planned, ...]:
    """What the index is about to hold: after a crash before the commit, `recover` takes it out again."""
    pairs = [(item, edits[place_bytes(place, item.path)]) for item in items]
    return tuple(Planned(item.path, None, entry.oid if entry else None, "", PERSON) for item, entry in pairs)


def place_bytes(place: Place, path: str) -> bytes:
    """A vault path as git has it."""
    return (place.prefix + path).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class _Contents:
    """The files as they are now, read when they are needed and not kept."""

    writer: Writer

    def edits(self, items: Sequence[Dirty], tip: Tip, pack: Pack) -> Edits:
        """What to record; a file that another program keeps open waits for the next time."""
        edits: Edits = {}
        for item in items:
            path = place_bytes(self.writer.place, item.path)
            try:
                found = self.writer.files.read_any(item.path)
            except Retryable:
                continue
            if found is not None:
                edits[path] = Entry(found[0], pack.add("blob", found[1]))
            elif tip.entry(path) is not None:
                edits[path] = None
        return edits


def _is_fresh(writer: Writer, items: Sequence[Dirty]) -> bool:
    """Whether the burst may still be going on: a file, or the folder a file left, changed a moment ago.

    By the time of the change itself, which no program can set: a file dated in the future is not fresh for ever.
    """
    quiet, now = writer.options.quiet_seconds, writer.clock.now().timestamp()
    for item in items:
        path = writer.place.root / item.path
        try:
            status = (path if item.kind is not Kind.DELETED else path.parent).lstat()
        except OSError:
            continue
        if abs(now - status.st_ctime) < quiet:
            return True
    return False


def _brake(writer: Writer, items: Sequence[Dirty], contents: _Contents) -> None:
    deleted = {item.path: item.oid for item in items if item.kind is Kind.DELETED and is_note(item.path)}
    limit = writer.options.brake
    empty = [item for item in items if item.kind is Kind.EDITED and is_note(item.path) and _is_empty_now(writer, item)]
    before = writer.git.objects([item.oid for item in empty]) if len(deleted) + len(empty) > limit.notes else []
    emptied = {
        item.path for item, blob in zip(empty, before, strict=False) if blob is None or is_emptied(blob.data, b"")
    }
    if len(deleted) + len(emptied) <= limit.notes:
        return
    kept = Counter[str]()
    for item in items:
        found = writer.files.read_any(item.path) if item.kind is Kind.CREATED else None
        if found is not None:
            kept[blob_id(found[1], max(map(len, deleted.values()), default=40))] += 1
    gone = set[str]()
    for path, oid in deleted.items():
        if kept[oid]:
            kept[oid] -= 1
        else:
            gone.add(path)
    limit.check(gone | emptied, 0, writer.count_notes(), "committing what changed on disk")


def _is_empty_now(writer: Writer, item: Dirty) -> bool:
    found = writer.files.read_any(item.path)
    return found is not None and len(found[1]) < 65536 and is_emptied(b"something", found[1])


def _subject(items: Sequence[Dirty], edits: Edits, place: Place) -> str:
    renames = _renames(items, edits, place)
    if len(renames) == 1 and len(items) == 2:
        ((old, new),) = renames.items()
        return f"human(notes): rename {old} → {new}"
    if len(items) == 1:
        verb = {Kind.EDITED: "edit", Kind.CREATED: "create", Kind.DELETED: "delete"}[items[0].kind]
        return f"human(notes): {verb} {items[0].path}"
    moved = {*renames, *renames.values()}
    counts = [(kind.value, sum(1 for i in items if i.kind is kind and i.path not in moved)) for kind in Kind]
    counts.append(("renamed", len(renames)))
    return "human(notes): " + ", ".join(f"{count} {name}" for name, count in counts if count)


def _renames(items: Sequence[Dirty], edits: Edits, place: Place) -> dict[str, str]:
    """Old to new path of files that moved with their content unchanged."""
    arrived = {
        entry.oid: item.path
        for item in items
        if item.kind is Kind.CREATED and (entry := edits.get(place_bytes(place, item.path))) is not None
    }
    return {item.path: arrived[item.oid] for item in items if item.kind is Kind.DELETED and item.oid in arrived}


def _body(items: Sequence[Dirty], known: KnownSecrets) -> str:
    lines = [one_line(without_secrets(f"- {item.kind}: {item.path}", known)) for item in items[:_LISTED]]
    more = len(items) - _LISTED
    return "\n".join([*lines, *([f"- and {more} more"] if more > 0 else [])])

"""The mass-change brake: asks a person before one run deletes or empties more notes than allowed.

Small steps add up: a run with all its sub-runs is compared with the notes before it, however many commits it makes.
`loss` decides which notes count as lost.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from agent.dataclass import dataclass
from agent.vault.change import Change, Stamp
from agent.vault.options import Brake
from agent.vault.plumbing.git import Git
from agent.vault.worktree.paths import is_note
from agent.vault.write.loss import Rewrite, lost_notes, removes_text

_AT_ONCE = 200
"""Maximum number of files in memory at once."""
_MISSING = b"(not here)"
_ASK = "need a person's yes, who can allow more with the setting brake.notes, so nothing was changed"
"""For the model of a run, too, which tells it to the person."""
_ALLOW = "to allow more: vault-agent config set brake.notes with a higher number, then ask again"
_DAY = timedelta(days=1)
"""Time in which changes without a run add up with those of the same actor, tool and session."""
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that commits have changed: its blobs before the first and after the last of them, empty for no file."""

    path: str
    before: str
    after: str


def check_changes(
    brake: Brake, git: Git, prefix: str, changes: Sequence[Change], stamp: Stamp, now: datetime,
    count_notes: Callable[[], int],
) -> None:  # fmt: skip
    """Raise `MassChange` if these changes, with the earlier ones of their series, lose too many notes."""
    rewrites = [Rewrite(change.path, change.before, change.after) for change in changes]
    if not any(map(removes_text, rewrites)):
        return
    earlier = touched_by(git, prefix, stamp, now)
    touched = {each.path for each in earlier if each.before} | {each.path for each in rewrites if each.before}
    if sum(map(is_note, touched)) > brake.notes:
        check_series(brake, git, earlier, rewrites, count_notes, stamp)


def touched_by(git: Git, prefix: str, stamp: Stamp, now: datetime) -> tuple[Touched, ...]:
    """The files that earlier commits of the same series changed; none for a person, who confirms each change.

    The series of a run is the run with its sub-runs; without a run, the last day's commits of the same actor, tool and
    session.
    """
    if stamp.actor == "human":
        return ()
    if stamp.run:
        run = stamp.run.partition(".")[0]
        chosen, since = [f"--grep=^Vault-Run: {_exactly(run)}([.].*)?$"], _made(run)
    else:
        named = [("Vault-Actor", stamp.actor), ("Vault-Tool", stamp.tool), ("Vault-Session", stamp.session)]
        chosen = ["--all-match", *(f"--grep=^{name}: {_exactly(value)}$" for name, value in named if value)]
        since = now
    # One day more, for clocks that differ. Without a limit the whole history takes 0.1 s at 10,000 commits.
    chosen += [f"--since={(since - _DAY).isoformat()}"] if since else []
    command = ["log", "-z", "--extended-regexp", *chosen, "--raw", "--no-abbrev", "--no-renames", "--format="]
    rows = list(_rows(git.run(*command, "--end-of-options", "HEAD", ok=(0, 128)), prefix))
    first: dict[str, Touched] = {}
    for row in reversed(rows):  # oldest first
        known = first.get(row.path)
        first[row.path] = Touched(row.path, known.before if known else row.before, row.after)
    return tuple(first.values())


def lost_between(git: Git, prefix: str, before: str, after: str, most: int = 0) -> frozenset[str]:
    """The notes that are lost between two trees or commits, for example by a pull; input for `Brake.check`.

    Empty, without reading any note, if at most `most` notes differ.
    """
    touched = tuple(_rows(git.differing(before, after), prefix))
    if sum(1 for each in touched if each.before and is_note(each.path)) <= most:
        return frozenset()
    return lost_notes(lambda: rewrites(git, touched))


def rewrites(git: Git, touched: Sequence[Touched]) -> Iterator[Rewrite]:
    """The contents of these files before and after; a missing blob counts as deleted text."""
    for start in range(0, len(touched), _AT_ONCE):
        part = touched[start : start + _AT_ONCE]
        wanted = [oid for each in part for oid in (each.before, each.after) if oid]
        found = git.objects(wanted) if wanted else []
        blobs = {oid: each.data if each else None for oid, each in zip(wanted, found, strict=True)}
        for each in part:
            before = blobs.get(each.before)
            yield Rewrite(each.path, _MISSING if each.before and before is None else before, blobs.get(each.after))


def check_series(
    brake: Brake,
    git: Git,
    earlier: Sequence[Touched],
    changes: Sequence[Rewrite],
    count_notes: Callable[[], int],
    stamp: Stamp,
) -> None:
    """Raise `MassChange` if these changes lose notes, and together with the earlier ones of their series too many."""
    began = {each.path: each for each in earlier}
    here = {each.path: each for each in changes}

    def together() -> Iterator[Rewrite]:
        for rewrite in rewrites(git, earlier):
            now = here.get(rewrite.path)
            yield Rewrite(rewrite.path, rewrite.before, now.after) if now else rewrite
        yield from (each for each in changes if each.path not in began)

    lost = lost_notes(together)
    if len(lost) > brake.notes and lost - lost_notes(lambda: rewrites(git, earlier)):
        if stamp.actor == "human":
            brake.check(lost, 0, count_notes(), "this command")
        else:
            brake.check(lost, 0, count_notes(), "this run" if stamp.run else "this change", _ASK, _ALLOW)


def _rows(out: bytes, prefix: str) -> Iterator[Touched]:
    """The files below `prefix` in git's raw output with NUL between fields."""
    fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
    for field in fields:
        if not field.startswith(":"):
            continue
        _, _, before, after, _ = field.split(" ", 4)
        path = next(fields)
        if path.startswith(prefix):
            yield Touched(path.removeprefix(prefix), before.strip("0") and before, after.strip("0") and after)


def _made(run: str) -> datetime | None:
    """The creation time of a run, from the milliseconds in its id (ULID); None for another kind of id."""
    if not _ULID.fullmatch(run):
        return None
    milliseconds = 0
    for sign in run[:10]:
        milliseconds = milliseconds * 32 + _DIGITS.index(sign)
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)


def _exactly(text: str) -> str:
    """A pattern that matches exactly this text."""
    return re.sub(r"([.\[\]{}()*+?^$|\\])", r"\\\1", text)

"""The mass-change brake: finds notes that lose most of their text, asks a person before a run empties many."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias, TypeVar

from agent.dataclass import dataclass
from agent.git.runner import Git
from agent.markdown.note import Note
from agent.vault.change import Change, Stamp
from agent.vault.options import Brake
from agent.vault.worktree.paths import is_note
from agent.vault.write.held_notes import HeldNote

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_]+")
"""A word, or one character of a script without spaces between words."""

_Piece: TypeAlias = str | tuple[str, str]
"""A word, or two neighbouring words."""
_Part = TypeVar("_Part", str, _Piece)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A file before and after a change (None: no file)."""

    path: str
    before: bytes | None
    after: bytes | None


Rewrites: TypeAlias = Callable[[], Iterable[Rewrite]]
"""All files of a change, read again at each call, because they may be too many for memory."""


def lost_notes(rewrites: Rewrites) -> frozenset[str]:
    """The paths of the notes that a change loses.

    A note is lost if more than half of its lines with text are gone, or more than half of its text by characters: a
    heading that stays does not make up for the paragraph below it. Frontmatter counts only if a note with nothing else
    is deleted. A note without text cannot be lost.
    """
    damaged = [each for rewrite in rewrites() if (each := _measure(rewrite)) is not None and each.is_lost([])]
    if not damaged:
        return frozenset()
    lines, pieces = Counter[str](), Counter[_Piece]()
    for rewrite in rewrites():
        added = _added(rewrite, _lines)
        lines.update(added)
        if added:
            pieces.update(_added(rewrite, _pieces))
    found = [_same(each.gone, lines, pieces) for each in damaged]  # exact matches first, for all files
    for each, same in zip(damaged, found, strict=True):
        same += _found(list((Counter(each.gone) - Counter(same)).elements()), pieces)
    return frozenset(each.path for each, same in zip(damaged, found, strict=True) if each.is_lost(same))


def removes_text(rewrite: Rewrite) -> bool:
    """True if an exact line of a note is missing after the change: a quick check before anything is measured."""
    if rewrite.before is None or not is_note(rewrite.path):
        return False
    return bool(Counter(rewrite.before.splitlines()) - Counter((rewrite.after or b"").splitlines()))


@dataclass(frozen=True, slots=True)
class _Damage:
    """The missing part of a note: `gone` lines, out of `lines` with `size` characters."""

    path: str
    lines: int
    size: int
    gone: tuple[str, ...]

    def is_lost(self, found: Sequence[str]) -> bool:
        """True if most of the note is gone, given the lines of it that were `found` elsewhere."""
        lines = len(self.gone) - len(found)
        size = sum(map(len, self.gone)) - sum(map(len, found))
        return 2 * lines > self.lines or 2 * size > self.size


def _measure(rewrite: Rewrite) -> _Damage | None:
    """The damage to a note; None if there is none, and for files that are not notes."""
    if rewrite.before is None or not is_note(rewrite.path):
        return None
    lines = _lines(_body(rewrite.before))
    if not lines and rewrite.after is None:
        lines = _lines(_decoded(rewrite.before))
    after = "" if rewrite.after is None else _body(rewrite.after)
    left = Counter(_lines(after))
    changed = []
    for line in lines:
        if left[line]:
            left[line] -= 1
        else:
            changed.append(line)
    if not changed:
        return None
    rest = Counter(_pieces("\n".join(left.elements())))
    found = Counter(_found(changed, rest))
    gone = []
    for line in changed:
        if found[line]:
            found[line] -= 1
        else:
            gone.append(line)
    return _Damage(rewrite.path, len(lines), sum(map(len, lines)), tuple(gone)) if gone else None


def _found(lines: Iterable[str], pool: Counter[_Piece]) -> list[str]:
    """The lines of which at least half the pieces are in `pool`; the pieces of each are removed from it."""
    if not pool:
        return []
    found = []
    for line in lines:
        wanted = Counter(_of_line(line))
        there = wanted & pool
        if 2 * there.total() >= wanted.total():
            pool.subtract(there)
            found.append(line)
    return found


def _same(gone: Iterable[str], lines: Counter[str], pieces: Counter[_Piece]) -> list[str]:
    """The lines that are among `lines`; each is removed there, and its pieces from `pieces`."""
    found = []
    for line in gone:
        if lines[line] > 0:
            lines[line] -= 1
            pieces.subtract(_of_line(line))
            found.append(line)
    return found


def _added(rewrite: Rewrite, parts: Callable[[str], Iterable[_Part]]) -> Counter[_Part]:
    """The parts of a file's text that a change adds."""
    if rewrite.after is None:
        return Counter()
    after = Counter(parts(_decoded(rewrite.after)))
    return after if rewrite.before is None else after - Counter(parts(_decoded(rewrite.before)))


def _pieces(text: str) -> Iterator[_Piece]:
    """All words and pairs of words, across line ends, and a substitute for each line without words."""
    words = _words(text)
    yield from words
    yield from zip(words, words[1:], strict=False)
    yield from (line for line in _lines(text) if not _WORD.search(line))


def _of_line(line: str) -> Sequence[_Piece]:
    """The pieces that identify a line: its pairs of words, or everything if it has no pair."""
    words = _words(line)
    return list(zip(words, words[1:], strict=False)) or words or [line]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _lines(text: str) -> list[str]:
    """The lines with text, without surrounding white space."""
    return [line for each in text.splitlines() if (line := each.strip())]


def _body(data: bytes) -> str:
    return Note.parse(data).body


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


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
    """A file that was changed: its blobs before the first change and after the last, empty for no file. While the last
    is not committed, `text` is what it has left (None: no file, or a blob that git has)."""

    path: str
    before: str
    after: str
    text: bytes | None = None


def check_changes(
    brake: Brake, git: Git, prefix: str, changes: Sequence[Change], stamp: Stamp, now: datetime,
    count_notes: Callable[[], int], held: Callable[[], Sequence[HeldNote]] = list,
) -> None:  # fmt: skip
    """Raise `MassChange` if these changes, with the earlier ones of their series, lose too many notes; `held` are those
    that are not committed yet."""
    rewrites = [Rewrite(change.path, change.before, change.after) for change in changes]
    if not any(map(removes_text, rewrites)):
        return
    earlier = _with_held(touched_by(git, prefix, stamp, now), held(), stamp)
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


def _with_held(earlier: Sequence[Touched], held: Sequence[HeldNote], stamp: Stamp) -> tuple[Touched, ...]:
    """The same with what the run of the stamp has written and not committed yet."""
    found, run = {each.path: each for each in earlier}, stamp.run.partition(".")[0]
    for note in held if run else ():
        if note.stamp.run.partition(".")[0] == run:
            known = found.get(note.path)
            found[note.path] = Touched(note.path, known.before if known else note.base, "", note.data)
    return tuple(found.values())


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
            after = blobs.get(each.after) if each.text is None else each.text
            yield Rewrite(each.path, _MISSING if each.before and before is None else before, after)


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

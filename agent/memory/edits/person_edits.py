"""The person's changes by hand of lines that the agent had written, and the lessons in them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.memory.blame import AuthoredLine
from agent.memory.edits.lesson import EditLesson, lessons_in
from agent.memory.forgetting.tombstones import load_tombstones
from agent.vault.change import CAPTURE, FileChange, Kind
from agent.vault.folders import DAILY, INBOX, PROFILE, RESEARCH, AgentFolder, WriteRule
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit, blame
from agent.vault.history.find import commits
from agent.vault.history.versions import versions
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note

WITHIN = timedelta(days=1)
"""How long after the agent wrote a line a change of it counts."""
LOOKED_BACK = timedelta(days=45)
"""How far back edits are looked for that nothing was learned from yet: two of one kind within this time are a habit."""
_READ = frozenset({DAILY, INBOX, PROFILE, RESEARCH})
_LONGEST = 200_000
"""Bytes of a note that is compared."""
_WORKING = frozenset({"procedure", "inbox"})
"""The tools of commits with the agent's words that belong to no run; other such commits are the program's records."""


@dataclass(frozen=True, slots=True)
class PersonEdit:
    """One edit of a note: its lines before, with what the agent had just written as its own, and after; the day, and
    the commit with which it was over. Without the note's header."""

    path: str
    day: date
    commit: str
    before: tuple[AuthoredLine, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Span:
    """The commits of one edit: the version before it, the path that the note had then, and the first and last commit
    of the person."""

    parent: str
    old_path: str
    path: str
    first: Commit
    last: Commit


def person_edits(
    vault: Vault, now: datetime, seen: str, is_foreign: Callable[[str, bytes], bool]
) -> tuple[tuple[PersonEdit, ...], str]:
    """The edits since the commit `seen` (empty: of the last days), and the commit up to which was looked.

    A note with text by others than the person, before or after, is left out.
    """
    found = commits(vault, since=now - LOOKED_BACK - WITHIN)
    if not found:
        return (), seen
    known = next((at for at, each in enumerate(found) if each.id == seen), len(found))
    new = [each for each in found[:known] if each.when >= now - LOOKED_BACK]
    written = {each.id: each for each in found if _is_agents(each)}
    if not new or not written:
        return (), found[0].id
    others = vault.provenance.made_by_others([each.id for each in new if each.actor == HUMAN])
    earliest = min(each.when for each in written.values())
    spans = [each for each in _spans(vault.home, new, others) if each.last.when >= earliest]
    edits = (_edit(vault, each, written, is_foreign) for each in spans)
    return tuple(each for each in edits if each is not None), found[0].id


def _spans(home: AgentFolder, new: Sequence[Commit], others: set[str]) -> Iterator[_Span]:
    """The edits of each note, in the order in which they were over; `new` has the newest commit first."""
    open_spans: dict[str, _Span] = {}
    for commit in reversed(new):
        is_person = _is_by_hand(commit) and commit.id not in others
        for change in commit.files:
            span = open_spans.pop(change.old_path or change.path, None)
            if is_person and change.kind in {Kind.EDITED, Kind.RENAMED} and _is_read(home, change):
                begun = span or _Span(commit.parents[0], change.old_path or change.path, change.path, commit, commit)
                open_spans[change.path] = _Span(begun.parent, begun.old_path, change.path, begun.first, commit)
            elif span is not None:
                yield span
    yield from open_spans.values()


def _is_by_hand(commit: Commit) -> bool:
    is_plain = commit.actor == HUMAN and not (commit.tool or commit.run or commit.undoes or commit.claims)
    return is_plain and len(commit.parents) == 1


def _is_agents(commit: Commit) -> bool:
    """True for a commit with words of the agent: of a run, or of a procedure without one."""
    is_own = commit.actor == "agent" or bool(commit.job)
    return is_own and bool(commit.run or commit.tool in _WORKING)


def _is_record(commit: Commit, path: str) -> bool:
    """True if this note was written as a run was recorded, and not by a tool in it."""
    return commit.tool == CAPTURE and all(each.path != path for each in commit.work)


def _is_read(home: AgentFolder, change: FileChange) -> bool:
    """True for notes with the agent's words for its person: not its memories and records, nor what steers it."""
    row = home.row(change.path)
    return is_note(change.path) and (row.write is WriteRule.FREE or row.path in _READ)


def _edit(
    vault: Vault, span: _Span, written: Mapping[str, Commit], is_foreign: Callable[[str, bytes], bool]
) -> PersonEdit | None:
    """The edit with its lines; None if nothing that the agent had just written was there.

    Of a day's note, what was written as a run was recorded is its log.
    """
    is_log = vault.home.row(span.old_path).logs
    fresh = {
        id
        for id, each in written.items()
        if timedelta() <= span.first.when - each.when <= WITHIN and not (is_log and _is_record(each, span.old_path))
    }
    blamed = blame(vault, span.old_path, span.parent)
    if fresh.isdisjoint(commit for _, commit in blamed):
        return None
    before, after = versions(vault, [(span.parent, span.old_path), (span.last.id, span.path)])
    if before is None or after is None or max(len(before.data), len(after.data)) > _LONGEST:
        return None
    if is_foreign(span.old_path, before.data) or is_foreign(span.path, after.data):
        return None
    lines = tuple(AuthoredLine(text, commit in fresh) for text, commit in blamed)
    day = in_clock_zone(span.last.when, vault.clock.now()).date()
    rows = after.data.decode("utf-8", "surrogateescape").splitlines()
    return PersonEdit(span.path, day, span.last.id, lines[_header(before.data) :], tuple(rows[_header(after.data) :]))


def _header(data: bytes) -> int:
    """The number of lines before the body."""
    return max(Note.parse(data).body_line - 1, 0)


_MOST = 12
"""The most lessons of one edit: who rewrites a whole note does not teach a hundred things."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A lesson with the edit that it comes from: the note, the day, and the commit with which the edit was over."""

    lesson: EditLesson
    path: str
    day: date
    commit: str = ""


def lessons_since(
    vault: Vault, now: datetime, last: str, is_foreign: Callable[[str, bytes], bool]
) -> tuple[tuple[Seen, ...], str]:
    """The lessons of the edits since the commit `last` (empty: of the last weeks), and the commit up to which was
    looked."""
    edits, up_to = person_edits(vault, now, last, is_foreign)
    found = [
        Seen(lesson, edit.path, edit.day, edit.commit)
        for edit in edits
        for lesson in lessons_in(edit.before, edit.after)[:_MOST]
    ]
    return tuple(_without_secrets(vault, found) if found else ()), up_to


def _without_secrets(vault: Vault, found: list[Seen]) -> list[Seen]:
    """The lessons without those that would quote a secret, or something that the person wanted to be forgotten."""
    stones = load_tombstones(vault)

    def may_be_quoted(lesson: EditLesson) -> bool:
        texts = (lesson.before, lesson.after, lesson.topic, lesson.value)
        return all(vault.masked(each) == each and not stones.is_forgotten(each) for each in texts)

    return [each for each in found if may_be_quoted(each.lesson)]

"""The work on the lessons of a vault: what it needs, and what it writes."""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import datetime

from agent.dataclass import dataclass
from agent.events.bus import ignore_event
from agent.events.growth import LessonChanged
from agent.growth.lessons.lesson import Lesson, LessonState
from agent.growth.lessons.lesson_log import LogRow, append_rows, load_log
from agent.growth.lessons.lesson_note import format_row, note_head
from agent.growth.lessons.reflection import Reflection
from agent.growth.patterns.likeness import Vectors
from agent.markdown.list_row import with_row
from agent.runs.status import growth_account
from agent.texts import Language, Sentence
from agent.vault.change import Create, Edit, Request, Stamp
from agent.vault.folders import LESSONS_NOTE
from agent.vault.store import Vault

TOOL = "lessons"
"""The tool of a commit with which the program changes lessons."""
ACTOR = f"job:{growth_account('lessons')}"
"""Who changes lessons, as a commit names it: `undo --job growth/lessons` takes it all back."""
PROBATION = 10


def no_vectors() -> Vectors | None:
    """No vectors: meaning is then told by words."""
    return None


@dataclass(frozen=True, slots=True)
class KnownSkill:
    """A skill that runs may use: its name, and all that it says."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LessonWork:
    """The dependencies and settings of the work on the lessons of one vault.

    `reflections` loads those from which lessons may come, `skills` those that may be used; `vectors` compare meanings.
    `probation` is the length of that, in uses. `corrections`: what the person does after a run, and their next words,
    are an opinion of it.
    """

    vault: Vault
    language: Language = "en"
    reflections: Callable[[], Sequence[Reflection]] = tuple
    skills: Callable[[], Sequence[KnownSkill]] = tuple
    vectors: Callable[[], Vectors | None] = no_vectors
    probation: int = PROBATION
    corrections: bool = True
    actor: str = ACTOR
    tell: Callable[[object], object] = ignore_event

    @property
    def now(self) -> datetime:
        """The present time, in whole seconds, as notes have it."""
        return self.vault.clock.now().replace(microsecond=0)

    @property
    def path(self) -> str:
        """The path of the note of lessons."""
        return self.vault.home.at(LESSONS_NOTE)

    def is_whole(self, lesson: Lesson) -> bool:
        """True if the row of a lesson stands in the note as the person and the program left it."""
        return bool(lesson.row) and lesson.row.encode() in (self.vault.read(self.path) or b"").splitlines()


@dataclass(slots=True)
class LessonChanges:
    """Rows for the log, and for the note of lessons, that become one commit."""

    rows: list[LogRow] = field(default_factory=list)
    lines: list[tuple[str | None, str | None]] = field(default_factory=list)
    """The rows of the note before and after; None: not there."""
    more: list[Request] = field(default_factory=list)
    """Further requests of the same transaction."""

    def change(self, work: LessonWork, lesson: Lesson, state: LessonState) -> None:
        """Give a lesson another state; its words stay as they are."""
        self.lines.append((lesson.row, format_row(replace(lesson, state=state), work.language)))

    def requests(self, work: LessonWork) -> list[Request]:
        """All of it as requests of one transaction."""
        before = work.vault.read(work.path)
        after = before if before is not None else note_head(work.language).encode()
        for old, new in self.lines:
            after = with_row(after, old, new)
        found = list(self.more)
        if self.lines and after != before:
            found.append(Create(work.path, after) if before is None else Edit(work.path, before, after))
        rows = _in_order(work, self.rows)
        return [*found, append_rows(work.vault.home, rows, work.language)] if rows else found

    def write(self, work: LessonWork, subject: str, stamp: Stamp | None = None) -> None:
        """Write it in one commit, and tell of it; nothing if nothing changes."""
        if requests := self.requests(work):
            with work.vault.transaction(subject, stamp or Stamp(work.actor, tool=TOOL), masked=True) as change:
                change.requests += requests
        for row in self.rows:
            work.tell(LessonChanged(row.target, row.event, row.by))


def _in_order(work: LessonWork, rows: Sequence[LogRow]) -> list[LogRow]:
    """The rows, none before an earlier one about the same: a clock may have been set back."""
    last = {row.key: row.at for row in load_log(work.vault).rows}
    found = list[LogRow]()
    for row in rows:
        found.append(replace(row, at=max(row.at, last.get(row.key, row.at))))
        last[row.key] = found[-1].at
    return found


def subject_of(rows: Sequence[LogRow]) -> str:
    """The subject of a commit with these rows."""
    first = rows[0]
    if len(rows) == 1:
        return f"lessons({first.event}): {first.words[:60]}"
    more = "lessons({event}): {name} and {count} more"
    return Sentence(more, event=first.event, name=first.words[:60], count=len(rows) - 1)

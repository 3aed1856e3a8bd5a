"""`lessons/log.md`: what became of each lesson and of each variant of a skill, by whom and why, as rows that are only
ever added.

It is the audit for people, and the program's memory of what the note alone does not say: what a lesson rests on, that
the person decided a state, and what they refused or deleted, so that it never comes back.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.growth.lessons.lesson import Lesson, lesson_target
from agent.markdown.appending import format_head, format_row, timed_rows
from agent.markdown.inertness.active import inert_line
from agent.markdown.note import Note
from agent.markdown.title import clipped, clipped_between_links
from agent.texts import Language, text
from agent.vault.change import Append
from agent.vault.folders import LESSON_LOG, SKILLS, AgentFolder
from agent.vault.store import Vault

LessonEvent: TypeAlias = Literal[
    "proposed", "refused", "probation", "urgent", "active", "deprecated", "deleted", "supported", "changed",
    "contradicted", "withheld", "merged", "gate", "trial", "kept", "settled", "discarded", "inconclusive", "stopped",
    "rolled_back", "nothing", "replaced",
]  # fmt: skip
"""`probation`, `active`, `deprecated`: the state of a lesson from now on; `urgent`: as `probation`, at once, because it
only restricts. `supported`: more evidence, `changed`: other words; `replaced`: the earlier ones, which have a mark
of their own. `contradicted`: reflections say the opposite.
From `trial` on: of variants of skills; `nothing`: the model had no proposal that can be tried. `withheld`, `merged` and
`gate` stand in the logs of earlier versions only."""
By: TypeAlias = Literal["agent", "person"]
_COLUMNS = 5
_TARGET = re.compile(r"\[\[([^\]|]+)[^\]]*\]\] ?")
_COLON = re.compile(r"\s*：\s*")
_LINK = re.compile(r"\[\[[^\]]+\]\]")
_BEFORE = re.compile(r"[(（]v(\d+)[)）]")
_LONGEST = 320
_MOST_PASSES = 9
"""What is cut or escaped anew may end a part that was safe before."""
STATES = frozenset(("probation", "urgent", "active", "deprecated"))


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row: what happened to what the link `target` names (empty: nothing yet), with these `words`: the sentence of
    a lesson, or the name of a skill."""

    at: datetime
    target: str
    words: str
    event: LessonEvent
    by: By
    why: str

    @property
    def row(self) -> str:
        """The row of the table, without a line end."""
        link = f"[[{self.target}]] " if self.target else ""
        why = clipped_between_links(inert_line(" ".join(self.why.split())), _LONGEST).replace("|", "/")
        return format_row(self.at, (f"{link}{logged_words(self.words)}".strip(), self.event, self.by, why))

    @property
    def key(self) -> str:
        """The mark of the lesson; the name of the skill."""
        return self.target.rpartition("#^l-")[2] if "#^l-" in self.target else self.words

    @property
    def is_of_skill(self) -> bool:
        """True for a row about a variant or a skill."""
        return SKILLS in self.target

    @property
    def version(self) -> int:
        """The version that other words were, as `changed` says it; 1 otherwise."""
        found = _BEFORE.search(self.why)
        return int(found[1]) if found else 1


@dataclass(frozen=True, slots=True)
class LessonLog:
    """All rows, in the order of their times."""

    rows: tuple[LogRow, ...] = ()

    def last_state(self, key: str) -> LogRow | None:
        """The row that gave a lesson its present state; None before it has one."""
        return next((each for each in reversed(self.rows) if each.key == key and each.event in STATES), None)

    def of(self, key: str, *events: LessonEvent) -> tuple[LogRow, ...]:
        """The rows of a lesson or a skill, all or those with one of these events."""
        return tuple(each for each in self.rows if each.key == key and (not events or each.event in events))

    def evidence(self, key: str) -> tuple[str, ...]:
        """The links that a lesson rests on."""
        found = (link for each in self.of(key, "supported", "urgent") for link in _LINK.findall(each.why))
        return tuple(dict.fromkeys(found))

    def version(self, key: str) -> int:
        """The number of a lesson's wording, from 1."""
        changes = self.of(key, "changed")
        return max((each.version for each in changes), default=0) + len(changes) + (not changes)

    @property
    def unwanted(self) -> tuple[str, ...]:
        """The sentences of the lessons that the person has refused, or deleted and not brought back."""
        last = {each.key: each.event for each in self.rows if each.event in STATES or each.event == "deleted"}
        gone = (each for each in self.rows if each.event == "refused" or each.event == last.get(each.key) == "deleted")
        rows = (each for each in gone if not each.is_of_skill)
        return tuple(dict.fromkeys(each.words for each in rows))

    @property
    def keys(self) -> tuple[str, ...]:
        """The marks of the lessons that have or had a row in the note."""
        return tuple(dict.fromkeys(each.key for each in self.rows if "#^l-" in each.target))


def logged_words(sentence: str) -> str:
    """The words of a lesson as they stand in the log: on one line, inert, not too long, and with one kind of colon.

    They are the same words when they are read and written again: a change that is none would be logged at each look.
    """
    words = sentence
    for _ in range(_MOST_PASSES):
        before, words = words, clipped(_COLON.sub(": ", inert_line(words)).replace("|", "/"), _LONGEST).strip()
        if words == before:
            break
    return words


def log_row(lesson: Lesson, at: datetime, event: LessonEvent, by: By, why: str) -> LogRow:
    """The row about a lesson with its present words."""
    return LogRow(at, lesson_target(lesson.path, lesson.key), logged_words(lesson.sentence), event, by, why)


def append_rows(home: AgentFolder, rows: Sequence[LogRow], language: Language) -> Append:
    """The request that adds rows to the log, which it begins if it is missing."""
    table = format_head(text("lessons.log_columns", language), _COLUMNS)
    head = Note.compose({"type": "lesson_log"}, f"# {text('lessons.log', language)}\n\n{table}").data
    lines = "".join(f"{each.row}\n" for each in rows)
    return Append(home.at(LESSON_LOG), lines.encode("utf-8", "replace"), head)


def load_log(vault: Vault) -> LessonLog:
    """The log, without rows that arrived from where others write."""
    data = vault.own_version_of(LESSON_LOG)
    return LessonLog(parse_rows(data)) if data is not None else LessonLog()


def parse_rows(data: bytes) -> tuple[LogRow, ...]:
    """The rows that can be parsed, by time; rows that a merge has doubled count once."""
    found = (_parse_row(at, cells) for at, cells in timed_rows(data))
    return tuple(sorted((row for row in found if row is not None), key=lambda row: row.at))


def _parse_row(at: datetime, cells: Sequence[str]) -> LogRow | None:
    if len(cells) != _COLUMNS - 1 or cells[1] not in get_args(LessonEvent) or cells[2] not in get_args(By):
        return None
    link = _TARGET.match(cells[0])
    words = _COLON.sub(": ", cells[0][link.end() :].strip() if link else cells[0])
    return LogRow(at, link[1] if link else "", words, cast(LessonEvent, cells[1]), cast(By, cells[2]), cells[3])

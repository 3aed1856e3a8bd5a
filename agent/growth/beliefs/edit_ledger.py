"""The signals from edits, and where they are kept: the messages of the commits that wrote beliefs down.

An edit can be found in the history for some weeks only, as the agent's text around it changes; so the commit that makes
something of it names it, in one row of its message. What was undone does not count. Lines of earlier versions become
such rows, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import PurePosixPath

from agent.growth.beliefs.blocks import quoted
from agent.growth.beliefs.sign import Sign, SignKind, of_lesson, without_separator
from agent.growth.beliefs.stated import shown_by
from agent.memory.edits.lesson import Lesson, LessonKind
from agent.memory.edits.lessons_note import LessonLine
from agent.memory.edits.person_edits import Seen
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.task_kind import kind_of_note
from agent.vault.folders import AgentFolder
from agent.vault.history.commits import Commit

_SEEN = re.compile(r"^Seen up to ([0-9a-f]{40,64})$", re.MULTILINE)
_SEPARATOR = " · "
_FIELDS = 7
_KINDS: dict[str, LessonKind] = {"style": "style", "correction": "correction", "preference": "preference"}


def ledger_body(seen: Sequence[Seen], up_to: str) -> str:
    """The message of a commit: one row for each lesson with its note, its commit and what was changed."""
    rows = [
        "- "
        + _SEPARATOR.join(
            (
                each.lesson.kind,
                without_separator(each.lesson.topic),
                without_separator(each.lesson.value),
                each.day.isoformat(),
                without_separator(each.path),
                each.commit[:12] or "-",
                without_separator(change_shown(each.lesson)) or "-",
            )
        )
        for each in seen
    ]
    return "\n".join([*rows, *([""] if rows else []), *([f"Seen up to {up_to}"] if up_to else [])])


def seen_up_to(made: Iterable[Commit]) -> str:
    """The commit up to which edits were looked at, by the newest of these commits that says so; empty if none does."""
    found = (_SEEN.search(each.body) for each in made)
    return next((match[1] for match in found if match), "")


def signals_in_ledger(made: Iterable[Commit], undone: frozenset[str], home: AgentFolder) -> Iterator[Sign]:
    """The signals that the messages of these commits name, without those that were undone."""
    for commit in made:
        for row in commit.body.splitlines() if commit.id not in undone else ():
            fields = row.removeprefix("- ").split(_SEPARATOR)
            if row.startswith("- ") and len(fields) == _FIELDS and fields[0] in _KINDS:
                lesson = Lesson(_KINDS[fields[0]], fields[1], fields[2])
                try:
                    day = date.fromisoformat(fields[3])
                except ValueError:
                    continue
                yield from _signals(lesson, fields[4], day, fields[6].removeprefix("-").strip(), home)


def signals_of_edits(seen: Iterable[Seen], home: AgentFolder) -> Iterator[Sign]:
    """The signals of edits that no commit names yet."""
    for each in seen:
        yield from _signals(each.lesson, each.path, each.day, change_shown(each.lesson), home)


def seen_in_lines(lines: Iterable[LessonLine]) -> Iterator[Seen]:
    """What lines of earlier versions have counted, one for each time."""
    for each in lines:
        for _ in range(each.count):
            yield Seen(each.lesson, f"{each.note}.md", each.day)


def change_shown(lesson: Lesson) -> str:
    """What was changed, as short quotations; empty if that is not known."""
    before, after = quoted(lesson.before), quoted(lesson.after)
    return " ".join(filter(None, (before, "→" if before and after else "", after)))


def _signals(lesson: Lesson, path: str, day: date, shown: str, home: AgentFolder) -> Iterator[Sign]:
    evidence = Evidence(PurePosixPath(path).with_suffix("").as_posix(), day=day.isoformat())
    is_wish = lesson.kind == "preference" and lesson.value == "with"
    wished = shown_by(lesson.after or lesson.topic) if is_wish else ()
    kind: SignKind = "stated" if is_wish else "edited"  # a wish in a note is a statement
    tasks = frozenset() if is_wish else frozenset((kind_of_note(home.name_of(path)),))
    for dimension, value in wished or (of_lesson(lesson),):
        yield Sign(kind, dimension, value, day, evidence, shown, tasks)

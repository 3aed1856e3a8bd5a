"""The agenda of a day, for jobs that ask for it: what is due, what the notes say about the day, what waits for a yes.

Only lines of the person's own notes: what arrived from others has to be read with tools, which say so.
"""

import re
from collections.abc import Iterator
from datetime import date

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.index.dates import MONTHS
from agent.markdown.blocks import parse_body
from agent.markdown.tasks import TaskDates, find_tasks, without_created
from agent.memory import daily
from agent.runs.decisions import approvals
from agent.schedule.aims import load_aims
from agent.schedule.task_notes import load_tasks
from agent.texts import text
from agent.vault.find import notes_with_line
from agent.vault.store import Vault
from agent.vault.task_lines import open_tasks, own_notes, own_words
from agent.workspace.workspace import Workspace

_NOTES, _LONGEST = 200, 200
"""The most notes that are read, and the most characters of a line."""
_MOST = {"due": 30, "day": 12, "waits": 12}
"""The most lines of each kind; how many are left out is said."""


@dataclass(frozen=True, slots=True)
class _DueLine:
    """A task as a line, and the day on which it was to be seen; `is_deadline`: it is due on that day."""

    day: date
    is_deadline: bool
    line: str


def asks_for_agenda(task: str) -> bool:
    """True for a task about the person's day: a briefing, what is due, appointments."""
    return pattern("agenda").search(task) is not None


def agenda_of(workspace: Workspace, today: date) -> str:
    """The agenda as lists with links; empty if there is nothing."""
    vault, language = workspace.vault, workspace.settings.vault.language
    waiting = (f"[[{each.path.removesuffix('.md')}]]" for each in approvals(workspace).pending())
    due = list(dict.fromkeys(each.line for each in _due(vault, today)))
    named = (each for each in _of_day(vault, today) if each not in due)
    shown: list[str] = []
    for key, lines in (("due", due), ("day", named), ("waits", waiting)):
        rows = list(dict.fromkeys(lines))
        if rows:
            shown += [text(f"agenda.{key}", language, day=today), *(f"- {row}" for row in rows[: _MOST[key]])]
            left = len(rows) - _MOST[key]
            shown += [*([f"- {text('agenda.more', language, count=left)}"] if left > 0 else []), ""]
    return "\n".join(shown).strip()


def aims_of(workspace: Workspace) -> str:
    """What the person works towards, for whoever words a day; empty if nothing of it is to be spoken of."""
    aims, language = load_aims(workspace.vault), workspace.settings.vault.language
    if not aims.may_be_spoken_of:
        return ""
    given = (("focus", aims.focus), ("drives", aims.drives), ("sources", aims.sources))
    rows = (f"- {text(f'agenda.{key}', language)}: {'; '.join(words)}" for key, words in given if words)
    return "\n".join((text("agenda.aims", language), *map(daily.inert, rows)))


def _due(vault: Vault, today: date) -> list[_DueLine]:
    """The open tasks whose day has come: what is overdue first, the nearest first; where there are too many, the
    nearest are there."""
    found = [*_due_boxes(vault, today), *_due_tasks(vault, today)]
    nearest = sorted(found, key=lambda each: (today - each.day, not each.is_deadline))
    kept, rest = nearest[: _MOST["due"]], nearest[_MOST["due"] :]
    return [*sorted(kept, key=lambda each: each.day == today), *rest]


def _due_boxes(vault: Vault, today: date) -> Iterator[_DueLine]:
    """The boxes whose day has come; where too many notes have some, those of the notes with the nearest day."""

    def is_due(_: str, dates: TaskDates) -> bool:
        return dates.has_come(today)

    for box in open_tasks(vault, is_due, lambda dates: (today - min(dates.day or today, today)).days):
        day = min(box.day, today)
        yield _DueLine(day, box.dates.due == day, _line(vault, box.path, box.text))


def _due_tasks(vault: Vault, today: date) -> Iterator[_DueLine]:
    for task in load_tasks(vault, done=False).waiting:
        if task.due is not None and task.due.date() <= today:
            yield _DueLine(task.due.date(), True, _line(vault, task.path, task.title))


def _of_day(vault: Vault, today: date) -> Iterator[str]:
    """The lines that name the day, and what the person wrote in its note; no box that is ticked."""
    named = _naming(today)
    path = vault.home.day_note(today)
    own = [path] if vault.read(path) is not None else []
    found = re.compile(named, re.IGNORECASE)
    for each in dict.fromkeys([*own, *own_notes(vault, notes_with_line(vault, named))[:_NOTES]]):
        note = own_words(vault, each)
        body = parse_body(note.body, note.body_line)
        boxes = {box.line: box for box in find_tasks(body)}
        for at, (line, kind) in enumerate(zip(body.lines, body.kinds, strict=True), body.first):
            box, plain = boxes.get(at), line.strip()
            if each == path and plain.startswith("## "):
                break
            is_said = plain and not plain.startswith(("#", ">", "%%")) and kind not in {"code", "fence", "comment"}
            words = without_created(line) if box else line
            if is_said and (box is None or box.is_open) and (each == path or found.search(words)):
                yield _line(vault, each, box.text if box else plain.removeprefix("- "))


def _naming(today: date) -> str:
    """A pattern, for git and here, of the usual ways to write a day."""
    month = MONTHS[today.month - 1]
    names = f"({month}|{month.capitalize()}|{month[:3].capitalize()})"
    return (
        f"{today.isoformat()}|(^|[^0-9]){today.day}(st|nd|rd|th)? (of )?{names}($|[^a-z])"
        f"|{names} {today.day}($|[^0-9])|(^|[^0-9]){today.month}月{today.day}[日号]"
    )


def _line(vault: Vault, path: str, words: str) -> str:
    day = vault.home.day_of(path)
    link = daily.link_to(day, vault.home) if day else f"[[{path.removesuffix('.md')}]]"
    return f"{daily.inert(daily.cut(' '.join(words.split()), _LONGEST))} ({link})"

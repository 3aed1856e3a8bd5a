"""The agenda of a day, for jobs that ask for it: what is due, what the notes say about the day, what waits for a yes.

Only lines of the person's own notes: what arrived from others has to be read with tools, which say so.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date

from agent.index.dates import MONTHS
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.markdown.tasks import find_tasks
from agent.memory import daily
from agent.memory.understanding.vocabulary import pattern
from agent.runs.decisions import approvals
from agent.schedule.task_notes import load_tasks
from agent.texts import text
from agent.vault.find import notes_with_line
from agent.vault.folders import DAILY, OWN_NOTES, is_template
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_OPEN = r"^[>[:space:]]*[-*+][[:space:]]+\[ \].*[0-9]{4}-[0-9]{2}-[0-9]{2}"
_NOTES, _MOST, _LONGEST = 200, 12, 200
"""The most notes that are read, the most lines of each kind, and the most characters of a line."""


def asks_for_agenda(task: str) -> bool:
    """True for a task about the person's day: a briefing, what is due, appointments."""
    return pattern("agenda").search(task) is not None


def agenda_of(workspace: Workspace, today: date) -> str:
    """The agenda as lists with links; empty if there is nothing."""
    vault, language = workspace.vault, workspace.settings.vault.language
    waiting = (f"[[{each.path.removesuffix('.md')}]]" for each in approvals(workspace).pending())
    parts = [("due", _due(vault, today)), ("day", _of_day(vault, today)), ("waits", waiting)]
    shown: list[str] = []
    for key, lines in parts:
        rows = list(dict.fromkeys(lines))[:_MOST]
        shown += [text(f"agenda.{key}", language, day=today), *(f"- {row}" for row in rows), ""] if rows else []
    return "\n".join(shown).strip()


def _due(vault: Vault, today: date) -> Iterator[str]:
    """The open tasks whose day has come."""
    for path in _own(vault, notes_with_line(vault, _OPEN)):
        note = _note(vault, path)
        for box in find_tasks(parse_body(note.body, note.body_line)):
            days = _days_in(box.text)
            if box.state == " " and days and max(days) <= today:
                yield _line(vault, path, box.text)
    for task in load_tasks(vault, done=False).waiting:
        if task.due is not None and task.due.date() <= today:
            yield _line(vault, task.path, task.title)


def _of_day(vault: Vault, today: date) -> Iterator[str]:
    """The lines that name the day, and what the person wrote in its note; no box that is ticked."""
    named = _naming(today)
    path = vault.home.at(daily.path_of(today))
    own = [path] if vault.read(path) is not None else []
    found = re.compile(named, re.IGNORECASE)
    for each in dict.fromkeys([*own, *_own(vault, notes_with_line(vault, named))]):
        note = _note(vault, each)
        body = parse_body(note.body, note.body_line)
        open_ones = {box.line: box for box in find_tasks(body)}
        for at, (line, kind) in enumerate(zip(body.lines, body.kinds, strict=True), body.first):
            box, plain = open_ones.get(at), line.strip()
            if each == path and plain.startswith("## "):
                break
            is_said = plain and not plain.startswith(("#", ">", "%%")) and kind not in {"code", "fence", "comment"}
            if is_said and (box is None or box.state == " ") and (each == path or found.search(line)):
                yield _line(vault, each, box.text if box else plain.removeprefix("- "))


def _naming(today: date) -> str:
    """A pattern, for git and here, of the usual ways to write a day."""
    month = MONTHS[today.month - 1]
    names = f"({month}|{month.capitalize()}|{month[:3].capitalize()})"
    return (
        f"{today.isoformat()}|(^|[^0-9]){today.day}(st|nd|rd|th)? (of )?{names}($|[^a-z])"
        f"|{names} {today.day}($|[^0-9])|(^|[^0-9]){today.month}月{today.day}[日号]"
    )


def _own(vault: Vault, paths: Iterable[str]) -> list[str]:
    home = vault.home
    found = (each for each in paths if home.row(each) == OWN_NOTES or home.holds(each, DAILY))
    return sorted(each for each in found if not is_template(each))[:_NOTES]


def _note(vault: Vault, path: str) -> Note:
    """The person's own version of a note; an empty one for what they have marked as from elsewhere."""
    note = Note.parse(vault.own_version(path) or b"")
    return Note.parse(b"") if note.header.get("untrusted") or note.header.get("sender_id") else note


def _days_in(words: str) -> list[date]:
    return [day for each in words.replace("📅", " ").split() if (day := _parsed(each.strip("()[],.，。"))) is not None]


def _parsed(word: str) -> date | None:
    try:
        return date.fromisoformat(word)
    except ValueError:
        return None


def _line(vault: Vault, path: str, words: str) -> str:
    day = daily.day_of(vault.home.name_of(path))
    link = daily.link_to(day) if day else f"[[{path.removesuffix('.md')}]]"
    return f"{daily.inert(daily.cut(' '.join(words.split()), _LONGEST))} ({link})"

"""The person's open tasks: the unticked boxes in their own notes, with the days that their programs give them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta

from agent.dataclass import dataclass
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.markdown.tasks import TaskDates, find_tasks, parse_task_dates, without_created
from agent.times.named_days import NamedDay, parse_days
from agent.vault.find import lines_in_notes
from agent.vault.folders import DAILY, OWN_NOTES, is_template
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note

_OPEN = r"^[>[:space:]]*([-*+]|[0-9]+[.)])[[:space:]]+\[[ /!]\]"
_NOTES = 200
"""The most notes that are read."""
_LATE = timedelta(days=60)
"""How long ago a day may be that the words of a task name: of an older one it tells a story."""


@dataclass(frozen=True, slots=True)
class TaskLine:
    """An open task in the note at `path`, without its box; `line` is its number in the person's own version of the
    note, from 1; `tags` are those of the note."""

    path: str
    line: int
    text: str
    dates: TaskDates
    tags: tuple[str, ...] = ()

    @property
    def day(self) -> date:
        """The day on which its person wants to see it; the last of all days if it has none."""
        return self.dates.day or date.max


def open_tasks(
    vault: Vault,
    today: date,
    wanted: Callable[[str, TaskDates], bool],
    rank: Callable[[TaskDates], int],
    folder: str = "",
) -> Iterator[TaskLine]:
    """The open tasks in a folder (empty: anywhere) that are `wanted`, by text and dates, the notes of the lowest `rank`
    first; where too many notes have some, those are left out that come last. A day in words
    is the next one, or one of the weeks before `today`."""
    ranks: dict[str, int] = {}
    for path, line in lines_in_notes(vault, _OPEN):
        dates = _dates_of(line, today)
        if path.startswith(folder) and wanted(line, dates):
            ranks[path] = min(ranks.get(path, rank(dates)), rank(dates))
    for path in sorted(own_notes(vault, ranks), key=lambda path: ranks[path])[:_NOTES]:
        note = own_words(vault, path)
        for box in find_tasks(parse_body(note.body, note.body_line)):
            dates = _dates_of(box.text, today)
            if box.is_open and wanted(box.text, dates):
                yield TaskLine(path, box.line, box.text, dates, note.strings("tags"))


def _dates_of(text: str, today: date) -> TaskDates:
    """The dates of a task: by the signs of programs, else the days that its words name (`by 4 December`)."""
    found = parse_task_dates(text)
    if found.day is not None or found.is_closed:
        return found
    named = (_meant(each, today) for each in parse_days(without_created(text)) if each.day)
    return replace(found, named=tuple(sorted(filter(None, named))))


def _meant(named: NamedDay, today: date) -> date | None:
    """The day of this name that a task means; None for one of another time."""
    years = (named.year,) if named.year else (today.year - 1, today.year, today.year + 1)
    for year in years:
        with suppress(ValueError):
            day = date(year, named.month, named.day)
            if day >= today - _LATE:
                return day
    return None


def own_notes(vault: Vault, paths: Iterable[str]) -> list[str]:
    """The person's own notes of these, sorted; no templates, and no other files: what stands in a page or a table was
    written by others, or by a program."""
    home = vault.home
    notes = filter(is_note, paths)
    found = (each for each in notes if home.row(each) == OWN_NOTES or home.holds(each, DAILY))
    return sorted(each for each in found if not is_template(each))


def own_words(vault: Vault, path: str) -> Note:
    """The person's own version of a note; an empty one for what they have marked as from elsewhere."""
    note = Note.parse(vault.own_version(path) or b"")
    return Note.parse(b"") if note.header.get("untrusted") or note.header.get("sender_id") else note

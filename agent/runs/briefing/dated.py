"""What the notes say of a day and of the week behind it: tasks with their days, lines that name a day, birthdays.

Only the person's own words count, and what they have stated; a line is found however they write the day.

A line of a briefing: the person's words, and the note in which they stand.
"""

import re
from calendar import monthrange
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, time, timedelta
from typing import TypeAlias

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.markdown.blocks import parse_body
from agent.markdown.tasks import TaskBox, TaskDates, find_tasks, parse_task_dates, plain_task_words, without_created
from agent.memory.blame import person_lines
from agent.memory.store import load_entries
from agent.memory.understanding.statements import sentences_in
from agent.runs.owner import is_stated_by_owner
from agent.schedule.task_notes import load_tasks
from agent.texts import Language, text
from agent.times.named_days import day_of_text, names_day, parse_days, without_days, written_day
from agent.times.plain import plain_text
from agent.times.runs import Finder, TimeRun
from agent.times.units import ClockTime, Deadline, NoSuchTime, OneDay, PartOfDay, Unit, hour_of
from agent.tools.text_origin import text_origin_of
from agent.vault.find import lines_in_notes, notes_with_line
from agent.vault.folders import DAILY, ENTRIES, OWN_NOTES
from agent.vault.store import Vault
from agent.vault.task_lines import open_tasks, own_notes, own_words


@dataclass(frozen=True, slots=True)
class BriefingLine:
    """Words of a note at `path` about a `day`, at a time of day if they name one. `note` says more in the person's
    language, such as how late it is."""

    words: str
    path: str
    day: date
    at: time | None = None
    note: str = ""
    written: str = ""
    """The line as it stands in the note, if words were taken out of it."""
    stranger: str = ""
    """The origin of words that the person may not have written."""


@dataclass(frozen=True, slots=True)
class OwnLine:
    """A sentence that the person wrote, without the sign of a list, or a box with its words."""

    words: str
    box: TaskBox | None = None
    in_section: bool = False
    """Below a heading of the second level or deeper."""


def own_lines(vault: Vault, path: str) -> Iterator[OwnLine]:
    """The sentences and boxes of the person's own in a note, without headings, quotes, code, comments and what is
    struck out; of the note of a day, in which the agent writes, too, only those that the person wrote."""
    note = own_words(vault, path)
    body = parse_body(note.body, note.body_line)
    boxes = {box.line: box for box in find_tasks(body)}
    written = person_lines(vault, path, vault.own_version(path) or b"") if vault.home.holds(path, DAILY) else ()
    in_section = False
    for at, (line, kind) in enumerate(zip(body.lines, body.kinds, strict=True), body.first):
        plain, box = line.strip(), boxes.get(at)
        in_section = in_section or plain.startswith("## ")
        is_words = plain and not plain.startswith(("#", ">", "%%")) and kind not in {"code", "fence", "comment"}
        if is_words and "~~" not in plain and (not written or written[at - 1]):
            for words in (box.text,) if box else sentences_in(plain.lstrip("-*+ ")):
                yield OwnLine(words, box, in_section)


WEEK = timedelta(days=7)
BIRTHDAYS = timedelta(days=14)
"""How far ahead birthdays are named: a present takes time."""
_LATE = timedelta(days=4)
"""How long a promise without a box is told of behind the day by which it was to be kept."""
_LONG_AGO = re.compile(r"(?<!\d)1[0-8]\d\d(?!\d)")
"""A year of which no birthday is kept: it is history."""
_NOTES = 200
"""The most notes that are read."""
_DUE = ("due", "deadline", "scheduled")
"""The keys of a header that say when a note is due."""
_BETWEEN_HAN = re.compile(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")
_SIGNS = r"[ ,.;:，。；：–—@-]"
_LEFT_OVER = re.compile(
    rf"\A(?:(?:on|at|by|from|until)\b|{_SIGNS})+"
    rf"|(?:\b(?:on|at|by|from|until|the|is|will be)|[定约改排][在于]|{_SIGNS})+\Z",
    re.IGNORECASE,
)
"""Little words that led to a time which was taken out."""
_ENDS, _BEGINS = re.compile(r"[^\w\s] *\Z"), re.compile(r" *[^\w\s]")
"""The end of a clause before a time, and the begin of one behind it."""
_OVER = frozenset(
    ("done", "completed", "complete", "cancelled", "canceled", "closed", "archived")
    + ("完成", "已完成", "取消", "已取消", "关闭", "已关闭", "结束", "已结束", "归档", "已归档")
)
"""What the header of a note says that is a task as a whole, and over."""
_YEAR = re.compile(r"(?<![\d.])(?:1[0-9]|20)\d\d(?![\d.])")


_NearDays: TypeAlias = Mapping[str, tuple[date, Sequence[OwnLine]]]
"""The notes of the days around today, each with its day and its lines: whose they are takes a git process each."""


@dataclass(frozen=True, slots=True)
class DatedLines:
    """The dated lines of the notes: tasks that are `late`, what is on and due `today`, in the order of its hours, what
    comes in the `week` behind it, in the order of its days, and `birthdays`."""

    late: tuple[BriefingLine, ...] = ()
    today: tuple[BriefingLine, ...] = ()
    week: tuple[BriefingLine, ...] = ()
    birthdays: tuple[BriefingLine, ...] = ()


def day_words(day: date, language: Language) -> str:
    """A day as people say it, such as `Thu 3 Dec`."""
    weekday, month = (text(f"briefing.{key}", language).split() for key in ("weekdays", "months"))
    return text("briefing.day", language, weekday=weekday[day.weekday()], number=day.day, month=month[day.month - 1])


def dated_lines(vault: Vault, today: date, language: Language) -> DatedLines:
    """The lines about a day and the week behind it, each once."""
    birthdays = tuple(_birthdays(vault, today))
    near = {path: (day, tuple(own_lines(vault, path))) for path, day in _day_notes(vault, today)}
    tasks = [*_boxes(vault, today), *_own_tasks(vault, today), *_left_boxes(near)]
    boxes = {(each.path, each.written or each.words) for each in tasks}
    birthdays = tuple(each for each in birthdays if (each.path, each.words) not in boxes)
    named = [*_headers(vault, today), *_of_days(vault, today, near), *_stated(vault, today)]
    once: dict[tuple[str, str], BriefingLine] = {}
    for each in (*tasks, *named):
        once.setdefault((each.path, each.words), each)
    return _by_day(once.values(), birthdays, today, language)


def _by_day(
    found: Collection[BriefingLine], birthdays: Sequence[BriefingLine], today: date, language: Language
) -> DatedLines:
    late = sorted((each for each in found if each.day < today), key=lambda each: each.day, reverse=True)
    now = (*_of_today(birthdays, today, language), *(each for each in found if each.day == today))
    week = (each for each in found if each.day > today)
    return DatedLines(
        tuple(replace(each, note=_lateness(each.day, today, language)) for each in late),
        tuple(sorted(now, key=_hour)),
        tuple(sorted(week, key=lambda each: (each.day, _hour(each)))),
        tuple(each for each in birthdays if each.day > today),
    )


def _of_today(birthdays: Sequence[BriefingLine], today: date, language: Language) -> Iterator[BriefingLine]:
    """The birthdays of today, named as such; a line that says so itself stays as it is."""
    for each in birthdays:
        if each.day == today:
            words = each.words if _is_birthday(each.words) else text("briefing.birthday", language, who=each.words)
            yield replace(each, words=words)


def _hour(line: BriefingLine) -> tuple[bool, time]:
    return line.at is None, line.at or time.min


def _lateness(day: date, today: date, language: Language) -> str:
    count = (today - day).days
    return text("briefing.late_one" if count == 1 else "briefing.days_late", language, count=count)


def _boxes(vault: Vault, today: date) -> Iterator[BriefingLine]:
    """The open boxes whose day has come or comes in the week, each on its day; one in progress whose day is over is
    late."""

    def is_near(_: str, dates: TaskDates) -> bool:
        return dates.has_come(today) or (not dates.is_closed and dates.day is not None and dates.day <= today + WEEK)

    for box in open_tasks(vault, today, is_near, lambda dates: abs((today - (dates.day or today)).days)):
        day = today if box.dates.start == today else box.day
        yield _briefing_line(plain_task_words(box.text), box.path, day)


def _own_tasks(vault: Vault, today: date) -> Iterator[BriefingLine]:
    for task in load_tasks(vault, done=False).waiting:
        if task.due is not None and task.due.date() <= today:
            yield BriefingLine(task.title, task.path, task.due.date())


def _left_boxes(near: _NearDays) -> Iterator[BriefingLine]:
    """The open boxes without a day in the notes of the last days, and of today and the days to come."""
    for path, (day, lines) in near.items():
        for line in lines:
            if line.box is not None and line.box.is_open and parse_task_dates(line.words).day is None:
                yield _briefing_line(plain_task_words(line.words), path, day)


def _of_days(vault: Vault, today: date, near: _NearDays) -> Iterator[BriefingLine]:
    """The lines that name one of the days, what stands at the top of their own notes, and what notes of the last days,
    wherever they are, say of them in words such as `tomorrow`."""
    days = _days(today)
    written = "|".join(map(written_day, days))
    others = dict.fromkeys((*_diary(vault, today), *own_notes(vault, notes_with_line(vault, written))[:_NOTES]))
    found = {path: (day_of_note(vault, path), own_lines(vault, path)) for path in others if path not in near}
    for path, (home, lines) in (*near.items(), *found.items()):
        for line in lines:
            if line.box.is_open if line.box else not _tells_birthday(line.words, days[0]):
                yield from _placed(line, path, home, days)


def _placed(line: OwnLine, path: str, home: date | None, days: Sequence[date]) -> Iterator[BriefingLine]:
    """The line on the day that it names; in the note of one of the `days`, above its parts, on that day."""
    words = without_created(line.words) if line.box else line.words
    day = next((each for each in days if _names(words, each)), None)
    if day is None and home is not None:
        day = _named_from(words, home, days)
        if day is None and home in days and not line.in_section and line.box is None:
            day = home
    if day is not None and (home is None or home <= day):
        yield _briefing_line(plain_task_words(line.words) if line.box else line.words, path, day, home)


def _headers(vault: Vault, today: date) -> Iterator[BriefingLine]:
    """The notes that are tasks as a whole: with a day in their header, and not done."""
    keys = "|".join(_DUE)
    found = dict.fromkeys(path for path, _ in lines_in_notes(vault, rf"^({keys}): *[\"']?[0-9]{{4}}-[0-9]{{2}}-[0-9]"))
    for path in own_notes(vault, found)[:_NOTES]:
        header = own_words(vault, path).header
        is_over = str(header.get("status", "")).strip().casefold() in _OVER
        days = [day for key in _DUE if (day := _day_of(header.get(key))) is not None]
        if days and min(days) <= today + WEEK and not is_over:
            yield BriefingLine(_title(path), path, min(days))


def _stated(vault: Vault, today: date) -> Iterator[BriefingLine]:
    """The person's statements in memory that name one of the days."""
    days, foreign, home = _days(today), text_origin_of(vault), vault.home
    paths = notes_with_line(vault, "|".join(map(written_day, days)))
    for each in load_entries(vault, [path for path in paths if home.holds(path, ENTRIES)][-_NOTES:]):
        words = each.entry.text.partition("\n")[0]
        day = next((day for day in days if _names(words, day)), None)
        if day is not None and is_stated_by_owner(each, foreign):
            yield _briefing_line(words, each.path, day)


def _birthdays(vault: Vault, today: date) -> Iterator[BriefingLine]:
    """The birthdays that come: lines and headers of the person's own notes with the word and a day."""
    last = today + BIRTHDAYS
    for path in own_notes(vault, notes_with_line(vault, pattern("birthday").pattern))[:_NOTES]:
        note, who = own_words(vault, path), _title(path)
        born = [day for key, value in note.header.items() if _is_birthday(key) and (day := _coming(f"{value}", today))]
        found = [(who, day) for day in born]
        for line in own_lines(vault, path):
            if _is_birthday(line.words) and (day := _coming(line.words, today)) is not None:
                words = plain_task_words(line.words) if line.box else line.words
                found.append((words if _says_more(line.words) else who, day))
        yield from (BriefingLine(words, path, day) for words, day in dict.fromkeys(found) if day <= last)


def _tells_birthday(words: str, today: date) -> bool:
    """True for a line that is among the birthdays: it is not said a second time as one of its day."""
    return _is_birthday(words) and _coming(words, today) is not None


def _is_birthday(words: str) -> bool:
    return pattern("birthday").search(words) is not None


def _says_more(words: str) -> bool:
    """True if a line says more than the word and the day: whose birthday it is."""
    return re.search(r"[^\W\d_]", without_days(pattern("birthday").sub("", words))) is not None


def _coming(words: str, today: date) -> date | None:
    """The next day of the year that words name; in a year without 29 February the day before."""
    named = next((each for each in parse_days(words) if each.day), None)
    if named is None or _LONG_AGO.search(words):
        return None
    for year in (today.year, today.year + 1):
        day = date(year, named.month, min(named.day, monthrange(year, named.month)[1]))
        if day >= today:
            return day
    return None


def _day_notes(vault: Vault, today: date) -> Iterator[tuple[str, date]]:
    """The notes of the days around today, a week each way."""
    for day in (today + timedelta(days=each) for each in range(-WEEK.days, WEEK.days + 1)):
        path = vault.home.day_note(day)
        if vault.read(path) is not None:
            yield path, day


def _diary(vault: Vault, today: date) -> list[str]:
    """The notes of the last days that the person keeps in a folder of their own."""
    days = ((path, day_of_note(vault, path)) for path in vault.note_paths())
    return own_notes(vault, [path for path, day in days if day is not None and today - WEEK <= day < today])


def _days(today: date) -> tuple[date, ...]:
    return tuple(today + timedelta(days=each) for each in range(WEEK.days + 1))


def _names(words: str, day: date) -> bool:
    """True if words name a day, and no year that is over beside it."""
    return names_day(words, day) and not tells_of_past(words, day)


def tells_of_past(words: str, day: date, home: date | None = None) -> bool:
    """True if words name a year that is over, or, written on the day `home`, a day before yesterday on which something
    was to happen; what was to be done by then is late for some days."""
    if any(int(year) < day.year for year in _YEAR.findall(words)):
        return True
    units = [unit for run in _runs(words, home) for unit in run.units] if home is not None else []
    days = [unit.days[0] for unit in units if isinstance(unit, OneDay) and unit.days]
    late = _LATE if any(isinstance(unit, Deadline) for unit in units) else timedelta(days=1)
    return bool(days) and max(days) < day - late


def day_of_note(vault: Vault, path: str) -> date | None:
    """The day of a day's note: the vault's own, or any other that has a day for its name; None for any other note."""
    name = _title(path)
    is_day = vault.home.row(path) is OWN_NOTES and not without_days(name)
    return vault.home.day_of(path) or (_day_of(day_of_text(name)) if is_day else None)


def _named_from(words: str, home: date, days: Iterable[date]) -> date | None:
    """The one of the days that words of the day `home` name, such as `tomorrow` or `on Friday`."""
    units = (unit for run in _runs(words, home) for unit in run.units if isinstance(unit, OneDay))
    found = (unit.days[0] for unit in units if unit.days and unit.of_year is None and not unit.month_day)
    return next((each for each in found if each in days and each > home), None)


def _briefing_line(words: str, path: str, day: date, noted: date | None = None) -> BriefingLine:
    """The line about a day, `noted` on another one, without the words for the day; a time of day stands first."""
    runs = _runs(words, noted or day)
    at = next((clock for run in runs for clock in _clocks(run)), None)
    left = plain_text(words)
    parts: list[str] = []
    last, is_clock_taken = 0, False
    for run in runs:
        is_of_day = all(isinstance(unit, ClockTime | PartOfDay | Deadline) or _is_day(unit, day) for unit in run.units)
        has_deadline = any(isinstance(unit, Deadline) for unit in run.units)
        if is_of_day and (has_deadline or _is_at_edge(left.text[last : run.first], left.text[run.last :])):
            parts, last = [*parts, left.cut(last, run.first)], run.last
            is_clock_taken = is_clock_taken or any(_clocks(run))
    rest = _tidy(" ".join([*parts, left.cut(last, len(left.text))])) if parts else ""
    if len(rest) < 2:
        return BriefingLine(words, path, day, at)
    return BriefingLine(f"{at:%H:%M} {rest}" if at and is_clock_taken else rest, path, day, at, written=words)


def _is_at_edge(before: str, after: str) -> bool:
    """True for a time that begins or ends a clause: taken from the midst, it would leave broken words."""
    return not before.strip() or not after.strip() or bool(_ENDS.search(before) or _BEGINS.match(after))


def _is_day(unit: Unit, day: date) -> bool:
    return isinstance(unit, OneDay) and day in unit.days and not unit.month_day


def _tidy(words: str) -> str:
    """Words out of whose midst others were taken."""
    plain = re.sub(r"[(（][ \t]*[)）]", " ", words)
    plain = re.sub(r"(?<=[,，;；])[ \t]*[,，;；]|[ \t]+(?=[,.;:，。；：])", "", " ".join(plain.split()))
    return _LEFT_OVER.sub("", _BETWEEN_HAN.sub("", plain))


def _clocks(run: TimeRun) -> Iterator[time]:
    for unit in run.units:
        if isinstance(unit, ClockTime):
            with suppress(NoSuchTime):
                yield time(hour_of(unit, unit.part), unit.minute)


def _runs(words: str, day: date) -> tuple[TimeRun, ...]:
    plain = plain_text(words)
    try:
        return tuple(Finder.of(plain, day).runs_in(0, len(plain.text)))
    except (NoSuchTime, ValueError, OverflowError):
        return ()


def _day_of(value: object) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(str(value)[:10])
    return None


def _title(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")

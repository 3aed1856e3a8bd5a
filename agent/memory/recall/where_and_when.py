"""Words of a question that say where or when to look: "in my notes", "in sessions-talk", "in October 2023", "today".

They are no words to search for: a note seldom says in which folder it is. They say which notes come first.
"""

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import lru_cache

from agent.config.vocabulary import pattern
from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.index.dates import AFTER_DAYS, NamedDay, parse_days, span, without_days
from agent.memory.recall.period import find_periods

_IN_FOLDER = (
    r"(?:(?:in|from|under|within|inside|of|at|going by|by) )?(?:the |my |our )?(?:notes? (?:in|from|under|of) )?"
    r"(?:the |my )?(?:folder )?[\"'“‘`\[]*{name}/?[\"'”’`\]]*(?: folder| notes)?"
)
_LEAST_NAME = 2
_LED = r"(?<![\w-])(?:in|from|under|within|inside|folder|notes? of)\b[^,.;?!]{0,24}$"
_HAN_LED = r"[在从]?(?:我的)?{name}(?:文件夹|目录|笔记)?(?:里面?|中|下面?)?的?"


@dataclass(frozen=True, slots=True)
class WhereAndWhen:
    """A sentence without "in my notes" (`whole`), and where it names a `folder` also without that (`asked`). `time` is
    the first and last day of the time that it names; `is_of_days`: it asks for nothing but what was then, as "What did
    I do yesterday?" does."""

    whole: str
    asked: str
    folder: str = ""
    time: tuple[date, date] | None = None
    is_of_days: bool = False

    @property
    def days(self) -> str:
        """The filter for the time; empty for none."""
        return f"after:{self.time[0].isoformat()} before:{self.time[1].isoformat()}" if self.time else ""

    @property
    def months(self) -> str:
        """The months of the time, as words that a search takes for dates."""
        if self.time is None:
            return ""
        first, last = (each.year * 12 + each.month - 1 for each in self.time)
        return " ".join(f"{month // 12}-{month % 12 + 1:02}" for month in range(first, last + 1))

    @property
    def there(self) -> str:
        """The filter for what comes first: the notes of the folder, and of that time."""
        return " ".join(filter(None, (f'path:"{self.folder}/"' if self.folder else "", self.days)))


def where_and_when(sentence: str, folders: Callable[[], frozenset[str]], today: date) -> WhereAndWhen:
    """What a sentence says of where and when to look; `folders` are those of the vault."""
    plain = " ".join(pattern("in_the_notes").sub(" ", sentence).split())
    whole = plain if terms(plain) else sentence
    folder, rest = _folder(whole, folders())
    rest = rest if terms(rest) else whole
    time = _time(whole, today)
    return WhereAndWhen(whole, rest, folder, time, time is not None and _is_of_days(rest, today))


def without_time(part: str, today: date) -> str:
    """A part of a sentence without the words for a time, if it says more than them."""
    rest = _without_time(part, today)
    return rest if terms(rest) else part


def days_of_past(text: str, today: date) -> tuple[date, ...]:
    """The single days that a text looks back to, the latest first; of "on Tuesday" and "today" only what is told of
    them as past. A day without a year that is told as past is the latest that has begun."""
    is_told = pattern("told_as_past").search(text) is not None
    days = [each for each in parse_days(text) if each.day]
    if is_told:
        named = [_span(each, today)[0] for each in days]
    else:
        named = [span(each.year or today.year, each.month, each.day)[0] for each in days]
    found = [each.first for each in find_periods(text, today) if each.is_day and (each.is_over or is_told)]
    return tuple(sorted({day for day in (*named, *found) if day <= today}, reverse=True))


def _is_of_days(rest: str, today: date) -> bool:
    """True if a sentence asks for what was at a time that is over, and for nothing else."""
    if terms(pattern("of_days").sub(" ", _without_time(rest, today))):
        return False
    is_told = pattern("told_as_past").search(rest) is not None
    return bool(parse_days(rest)) or any(each.is_over or is_told for each in find_periods(rest, today))


def _without_time(part: str, today: date) -> str:
    for each in reversed(find_periods(part, today)):
        part = f"{part[: each.begin]} {part[each.end :]}"
    return without_days(part)


def _folder(asked: str, folders: Iterable[str]) -> tuple[str, str]:
    """The longest folder that the words name, and the words without it."""
    low = asked.casefold()
    for folder in sorted(folders, key=len, reverse=True):
        for name in (folder, folder.rpartition("/")[2]):
            at = low.find(name.casefold())
            if at < 0 or (len(name) < _LEAST_NAME and name.isascii()):
                continue
            if name.isascii():
                is_word = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", asked, re.IGNORECASE)
                is_led = is_word and (re.search(_LED, asked[: is_word.start()], re.IGNORECASE) or "/" in name)
                found = re.sub(_IN_FOLDER.format(name=re.escape(name)), " ", asked, flags=re.IGNORECASE)
            else:
                is_led = re.search(rf"{re.escape(name)}(?:文件夹|目录|笔记|里|中|下)", asked)
                found = re.sub(_HAN_LED.format(name=re.escape(name)), " ", asked)
            if is_led:
                return folder, " ".join(found.split())
    return "", asked


def _time(asked: str, today: date) -> tuple[date, date] | None:
    """The days that the words name; after a date also the few days on which one writes about it. None for no time."""
    named = [(first, last + timedelta(AFTER_DAYS)) for first, last in (_span(day, today) for day in parse_days(asked))]
    named += [(each.first, each.last) for each in find_periods(asked, today)]
    return (min(first for first, _ in named), max(last for _, last in named)) if named else None


@lru_cache(maxsize=64)
def _span(named: NamedDay, today: date) -> tuple[date, date]:
    """The first and last day of a day or month; one without a year is the latest that has begun."""
    year = named.year or today.year
    first, last = span(year, named.month, named.day)
    return (first, last) if named.year or first <= today else span(year - 1, named.month, named.day)

"""The words of one form as they stand in a text, and what they mean."""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.times.language import Language, Word
from agent.times.units import Later, NoSuchTime, Unit


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one form as they stand in a text, on the day `today`. `is_han`: the text has Chinese in it."""

    match: re.Match[str]
    kinds: Mapping[str, str]
    language: Language
    today: date
    is_han: bool

    def raw(self, name: str) -> str:
        """The text of the group of this name, or of the one with a number after the name; empty if none has any."""
        groups = self.match.groupdict()
        return next((groups[each] or "" for each in _named(name) if groups.get(each)), "")

    def word(self, name: str) -> Word | None:
        """The meaning of the group's text; None if the group is not there."""
        groups = self.match.groupdict()
        for each in _named(name):
            if groups.get(each) is not None and (groups[each] or "" in self._table(each)):
                return self.language.word(self.kinds.get(each, ""), groups[each])
        return None

    def _table(self, group: str) -> Mapping[str, Word]:
        return self.language.words.get(self.kinds.get(group, ""), {})

    def number(self, name: str, default: int = 0) -> int:
        """The whole number that a group says; raises `NoSuchTime` for another word."""
        found = self.word(name)
        if found is None:
            return default
        if isinstance(found, str) or found != int(found):
            raise NoSuchTime
        return int(found)

    @property
    def unit(self) -> str:
        """The unit of a while: s, m, h, d, w, f (fortnight), mo, q or y; empty for none."""
        written = self.raw("unit").lower()
        kind = self.kinds.get("unit", "")
        return str(self.language.word(kind if kind in self.language.words else "unit", written)) if written else ""

    def weekdays(self, name: str = "days") -> tuple[int, ...]:
        """The days of the week in a list of them."""
        tables = [self.language.words[each] for each in ("weekday", "weekdays") if each in self.language.words]
        names = sorted({word for table in tables for word in table}, key=len, reverse=True)
        found = re.findall("|".join(map(re.escape, names)), self.raw(name).lower())
        days = [next(table[each] for table in tables if each in table) for each in found]
        return tuple(dict.fromkeys(int(day) for day in days))


def _named(name: str) -> tuple[str, ...]:
    """A form may have a group twice, with a number behind its name."""
    return name, f"{name}2", f"{name}3"


def day_of(year: int, month: int, number: int) -> date:
    try:
        return date(year, month, number)
    except ValueError as error:
        raise NoSuchTime from error


def add_months(day: date, months: int) -> date:
    """So many months later; the last day of a month that is too short."""
    total = day.year * 12 + day.month - 1 + months
    year, month = total // 12, total % 12 + 1
    return day_of(year, month, min(day.day, monthrange(year, month)[1]))


def month_at(words: Words) -> date:
    """The first day of the month that is meant, by `ahead`, or by its name."""
    if month := words.number("month"):
        return date(words.today.year + (month < words.today.month), month, 1)
    return add_months(words.today.replace(day=1), words.number("ahead"))


def moved(day: date, by: Later, sign: int = 1) -> date:
    """A day so much later, or earlier with `sign` -1; raises `NoSuchTime` where no calendar has it."""
    try:
        return add_months(day, sign * by.months) + timedelta(days=sign * by.days)
    except OverflowError as error:
        raise NoSuchTime from error


Taker: TypeAlias = Callable[[Words], Unit | None]
"""From the words of a form to a unit; None says that they are no time after all. Raises `NoSuchTime`."""

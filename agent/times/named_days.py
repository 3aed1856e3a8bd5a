"""The days and months that a text names by the calendar: `8 May 2023`, `2023-05`, `12 月 8 日`, `in June`."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache

from agent.dataclass import dataclass
from agent.times.language import Language, WordForm, languages, languages_of, month_words
from agent.times.plain import HAN, same_width

_NAMES = "january february march april may june july august september october november december"
MONTHS = tuple(_NAMES.split())
"""The words by which notes of a month are found, and which the forms of a profile's fields have."""
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d\d)([01]\d)([0-3]\d)(?!\d)")
_WITH_YEAR = re.compile(r"\d{4}|[一二][〇零一二三四五六七八九]{3}")
_HAN = "零一二三四五六七八九十"
_MOST_MONTHS = 12


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day, or a month (`day` 0), with or without (0) its year."""

    year: int
    month: int
    day: int = 0


def parse_days(text: str) -> tuple[NamedDay, ...]:
    """The days and months in a text, unordered; impossible ones are left out. `12/8` may be either of two days, and is
    both; in a Chinese text the month stands first."""
    found: set[NamedDay] = set()
    if not _may_name_days().search(text):
        return ()
    rest = same_width(text)
    has_han = HAN.search(rest) is not None
    for language in languages_of(rest):
        for form in language.compiled("days"):
            if has_han and form.rule == "slashed":
                continue
            matches = tuple(form.pattern.finditer(rest))
            for match in matches:
                found.update(each for each in _named(language, form, match, has_han) if _exists(each))
            rest = form.pattern.sub(" ; ", rest) if matches else rest
    return tuple(found)


@cache
def _may_name_days() -> re.Pattern[str]:
    """A pattern that any text fits which names a day: it has a number, or the word for a month."""
    names = "|".join(re.escape(name) for words in month_words().values() for name in words)
    return re.compile(rf"[\d{_HAN}〇]|\b(?:{names})\b", re.IGNORECASE)


def names_day(text: str, day: date) -> bool:
    """True if a text names this day, with its year or without one."""
    return any(
        (each.month, each.day) == (day.month, day.day) and each.year in (0, day.year) for each in parse_days(text)
    )


def written_day(day: date) -> str:
    """A pattern (of POSIX, for git) that every usual way to write a day fits, and a few other texts."""
    values = {
        "iso": day.isoformat(),
        "year": day.year,
        "month": f"0?{day.month}",
        "day": f"0?{day.day}",
        "han_month": _han(day.month),
        "han_day": _han(day.day),
    }
    return "|".join(
        each.format(**values, name=_month_names(language, day.month))
        for language in languages()
        for each in language.written
    )


def _month_names(language: Language, month: int) -> str:
    names = [name for name, number in language.words.get("month", {}).items() if number == month]
    return f"({'|'.join((*names, *map(str.capitalize, names)))})[.]?"


def _han(number: int) -> str:
    """The number from 1 to 31 in Chinese."""
    tens, ones = divmod(number, 10)
    return f"{_HAN[tens] if tens > 1 else ''}{'十' if tens else ''}{_HAN[ones] if ones else ''}"


def without_days(text: str) -> str:
    """The text without the days and months in it, and the words that lead to them: "in", "since"."""
    for led in _led_patterns():
        text = led.sub(" ", text)
    return " ".join(text.split())


def day_of_text(text: str) -> str:
    """The day (ISO) of a note with this name or heading: the only whole one in it; empty for none, or several.

    >>> day_of_text("8 May 2023"), day_of_text("20230508 Dentist"), day_of_text("2023年5月8日"), day_of_text("8.5.2023")
    ('2023-05-08', '2023-05-08', '2023-05-08', '2023-05-08')
    """
    if not _WITH_YEAR.search(text):
        return ""
    plain = _COMPACT.sub(r"\1-\2-\3", text.replace("_", "-"))
    found = {each for each in parse_days(plain) if each.year and each.day}
    return span(*next((each.year, each.month, each.day) for each in found))[0].isoformat() if len(found) == 1 else ""


@cache
def span(year: int, month: int, day: int) -> tuple[date, date]:
    """The first and last day of a day or a month (`day` 0); raises `ValueError` when the calendar does not have it."""
    days = monthrange(year, month)[1]
    first = date(year, month, min(day, days) or 1)
    return first, first if day else first + timedelta(days - 1)


@cache
def _led_patterns() -> tuple[re.Pattern[str], ...]:
    led = "".join(each.lines.get("led", "") for each in languages())
    forms = (form for each in languages() for form in each.compiled("days"))
    return tuple(re.compile(f"{led}(?:{form.pattern.pattern})", re.IGNORECASE) for form in forms)


def _named(language: Language, form: WordForm, match: re.Match[str], has_han: bool) -> Iterator[NamedDay]:
    groups = match.groupdict()
    year, month, day, one, two = (
        _number(language, form, key, groups.get(key)) for key in ("year", "month", "day", "one", "two")
    )
    if form.rule == "day" or (form.rule == "month_first" and has_han):
        yield NamedDay(year, month, day)
    elif form.rule == "slashed":
        yield NamedDay(year, one, two)
        yield NamedDay(year, two, one)


def _number(language: Language, form: WordForm, key: str, text: str | None) -> int:
    found = language.word(form.kinds.get(key, ""), text) if text else 0
    return int(found) if not isinstance(found, str) else 0


def _exists(named: NamedDay) -> bool:
    return 1 <= named.month <= _MOST_MONTHS and named.day <= monthrange(named.year or 2000, named.month)[1]

"""The form of a text in a few measures, to tell how an edit changed it while its facts stayed. Pure text."""

import re
from collections.abc import Mapping

from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.times.named_days import MONTHS

_BULLET = re.compile(r"\s{0,8}(?:[-*+]|\d{1,3}[.)])\s+\S")
_HEADING = re.compile(r"#{1,6}\s+\S")
_EMOJI = re.compile("[\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001faff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_NUMBER = re.compile(r"\d+")
_FACT = re.compile(r"\d+|(?<=[a-z,;] )[A-Z]\w+")
"""Numbers, and names inside a sentence."""
_MONTH = "|".join((*MONTHS, *(f"{name[:3]}\\.?" for name in MONTHS)))
_DATES = {
    "iso": re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>[01]?\d)-(?P<day>[0-3]?\d)\b"),
    "chinese": re.compile(r"(?:(?P<year>(?:19|20)\d\d)\s*年\s*)?(?P<month>[01]?\d)\s*月\s*(?P<day>[0-3]?\d)\s*[日号]"),
    "numbers": re.compile(r"\b(?P<day>[0-3]?\d)[./](?P<month>[0-3]?\d)[./](?P<year>(?:19|20)\d\d)\b"),
    "words": re.compile(
        rf"\b(?:(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\s+(?P<month>{_MONTH})"
        rf"|(?P<later>{_MONTH})\s+(?P<number>[0-3]?\d)(?:st|nd|rd|th)?)"
        r"\b(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?",
        re.IGNORECASE,
    ),
}
_SAME = 0.7
"""The share of the shorter text's words from which two texts count as saying the same."""
_SHORT = 0.7
"""The length relative to the other text from which a text is the shorter one."""
_LEAST = 40
"""Characters from which the length of a text says something."""
_LISTED = 0.5
"""The change in the share of list items that makes a list of running text, or the reverse."""


@dataclass(frozen=True, slots=True)
class TextForm:
    """The form of a text: its length in characters, the share of its lines that are list items, the numbers of
    headings and emoji, its language (empty: neither), and the way in which each day (month, day) is written."""

    length: int
    listed: float
    headings: int
    emoji: int
    language: str
    dates: Mapping[tuple[int, int], str]


def form_of(text: str) -> TextForm:
    """The form of a text."""
    rows = [row for row in text.splitlines() if row.strip()]
    plain = [row for row in rows if not _HEADING.match(row)]
    listed = sum(1 for row in plain if _BULLET.match(row)) / len(plain) if plain else 0.0
    return TextForm(
        sum(len(row.strip()) for row in rows),
        listed,
        len(rows) - len(plain),
        len(_EMOJI.findall(text)),
        _language(text),
        {each.key: each.style for each in dates_in(text)},
    )


def changed_form(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """The changes of form by an edit of a text that says the same before and after, as pairs (measure, value), such as
    (`length`, `shorter`); empty if its facts have changed."""
    old, new = form_of(before), form_of(after)
    if not before.strip() or not after.strip():
        return ()
    if old.language != new.language and old.language and new.language:
        return (("language", new.language),) if _numbers(before) == _numbers(after) else ()
    if not says_same(before, after):
        return ()
    length = "" if _adds_facts(before, after) else _length(old, new)
    return tuple(
        (measure, value)
        for measure, value in (
            ("length", length),
            ("list", _either(new.listed - old.listed, _LISTED, "items", "prose")),
            ("headings", "" if length else _either(new.headings - old.headings, 1, "more", "fewer")),
            ("emoji", ("with" if not old.emoji else "") if new.emoji else ("without" if old.emoji else "")),
            ("dates", _date_style(old, new)),
        )
        if value
    )


def says_same(before: str, after: str) -> bool:
    """True if most words of the shorter text are in the other one, whatever its dates look like."""
    old, new = (frozenset(terms(canonical(text))) for text in (before, after))
    least = min(len(old), len(new))
    return least > 0 and len(old & new) >= _SAME * least


def is_shorter(before: str, after: str) -> bool:
    """True if a text lost at least a third of its characters."""
    return _length(form_of(before), form_of(after)) == "shorter"


@dataclass(frozen=True, slots=True)
class DateSeen:
    """A date in a text: its place, the way it is written, and the day as (month, day), with its year if it has one."""

    start: int
    end: int
    style: str
    key: tuple[int, int]
    year: int | None = None


def dates_in(text: str) -> tuple[DateSeen, ...]:
    """The dates in a text, in order; of those that overlap, the first kind."""
    found: list[DateSeen] = []
    for style, pattern in _DATES.items():
        for match in pattern.finditer(text):
            parts = match.groupdict()
            month, day = parts.get("month") or parts.get("later") or "", parts["day"] or parts.get("number") or ""
            key = _month(month), int(day)
            key = key if key[0] <= 12 else (key[1], key[0])  # 11/23/2026
            is_free = all(match.end() <= each.start or each.end <= match.start() for each in found)
            if is_free and 1 <= key[0] <= 12 and 1 <= key[1] <= 31:
                year = int(parts["year"]) if parts["year"] else None
                found.append(DateSeen(match.start(), match.end(), style, key, year))
    return tuple(sorted(found, key=lambda each: each.start))


def canonical(text: str) -> str:
    """The text with every date written in one way, so that equal dates are equal words."""
    for each in reversed(dates_in(text)):
        text = f"{text[: each.start]}{each.key[0]:02}m{each.key[1]:02}d{text[each.end :]}"
    return text


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    plain = text.casefold().rstrip(".")
    return next(at for at, name in enumerate(MONTHS, 1) if name.startswith(plain))


def _language(text: str) -> str:
    han, latin = len(_HAN.findall(text)), len(_LATIN.findall(text))
    if han + latin < 4:
        return ""
    if 2 * han >= latin:  # a word of four letters is two characters
        return "zh"
    return "en" if latin > 8 * han else ""


def _numbers(text: str) -> list[str]:
    return sorted(_NUMBER.findall(text))


def _length(old: TextForm, new: TextForm) -> str:
    if max(old.length, new.length) < _LEAST:
        return ""
    if new.length <= _SHORT * old.length:
        return "shorter"
    return "longer" if old.length <= _SHORT * new.length else ""


def _adds_facts(before: str, after: str) -> bool:
    """True if the text has new numbers or names: it is longer because it says more."""
    old, new = canonical(before), canonical(after)
    return bool(set(_FACT.findall(new)) - set(_FACT.findall(old)))


def _either(difference: float, least: float, more: str, fewer: str) -> str:
    if abs(difference) < least:
        return ""
    return more if difference > 0 else fewer


def _date_style(old: TextForm, new: TextForm) -> str:
    """The way in which dates are written now, of those that were written in another way."""
    styles = {new.dates[key] for key in old.dates.keys() & new.dates.keys() if new.dates[key] != old.dates[key]}
    return styles.pop() if len(styles) == 1 else ""

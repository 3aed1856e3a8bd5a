"""Finds the words of times in a text: units that stand side by side, from a place on."""

import re
from collections.abc import Iterator
from datetime import date

from agent.dataclass import dataclass
from agent.times.language import Language, WordForm, languages_of
from agent.times.plain import PlainText
from agent.times.taking import TAKERS, part_beside, shift_of
from agent.times.units import ClockTime, Deadline, OneDay, PartOfDay, Repeat, Unit
from agent.times.words import Words, moved

_LATIN = re.compile(r"[A-Za-z0-9_]")
_BEFORE = frozenset("./:-#$€£¥@+")
_LONGEST = 160
"""The most characters of a text's end in which a time is looked for."""


@dataclass(frozen=True, slots=True)
class TimeRun:
    """Units side by side, from `first` up to `last` in the plain text."""

    units: tuple[Unit, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Finder:
    """Looks in one text, on the day `today`."""

    plain: PlainText
    today: date
    languages: tuple[Language, ...]

    @classmethod
    def of(cls, plain: PlainText, today: date) -> "Finder":
        return cls(plain, today, languages_of(plain.text))

    def run_at(self, first: int) -> TimeRun | None:
        """The units that begin at a place; None if none does. Raises `NoSuchTime`."""
        units: list[Unit] = []
        at = last = first
        while found := self._next(units, at, last):
            taken, last = found
            units += taken
            at = self.past_gap(last)
        return TimeRun(tuple(units), first, last) if units else None

    def run_to_end(self, first: int, end: int) -> TimeRun | None:
        """The longest run from `first` or behind it up to the end."""
        for at in self.places(max(first, end - _LONGEST), end):
            run = self.run_at(at)
            if run is not None and not self.plain.text[run.last : end].strip(" .!?。！？"):
                return run
        return None

    def runs_in(self, first: int, end: int) -> Iterator[TimeRun]:
        """The runs between two places, none within another."""
        done = first
        for at in self.places(first, end):
            if at >= done and (run := self.run_at(at)) is not None and run.last <= end:
                yield run
                done = run.last

    def places(self, first: int, end: int) -> Iterator[int]:
        """Where a unit may begin: at each character that is not within a word of Latin letters."""
        text = self.plain.text
        for at in range(first, end):
            within = at > 0 and _LATIN.match(text[at - 1]) and _LATIN.match(text[at])
            if text[at] != " " and not within:
                yield at

    def past_gap(self, at: int) -> int:
        """The place behind the blanks, marks and little words that may stand between two units."""
        ends = (match.end() for each in self.languages if (match := each.line("gap").match(self.plain.text, at)))
        return max(ends, default=at)

    def _next(self, before: list[Unit], at: int, last: int) -> tuple[tuple[Unit, ...], int] | None:
        """The unit at a place; after other units also one that only follows such."""
        if before:
            spaced = last + (self.plain.text[last : last + 1] == " ")
            found = self._best(spaced, self._following(before[-1]))
            if found is not None:
                return found
            found = self._take(at, isinstance(before[-1], OneDay | Repeat | ClockTime))
            is_second = found is not None and isinstance(before[-1], ClockTime) and isinstance(found[0][0], ClockTime)
            return None if is_second and at > last else found
        return self._take(at, follows=False)

    def _following(self, last: Unit) -> Iterator[tuple[Language, WordForm]]:
        rules = {"clock"} if isinstance(last, ClockTime) else {"except"} if isinstance(last, Repeat) else set[str]()
        for each in self.languages:
            yield from ((each, form) for form in each.compiled("ahead") if form.follows and form.rule in rules)

    def _take(self, at: int, follows: bool) -> tuple[tuple[Unit, ...], int] | None:
        forms = (
            (each, form)
            for each in self.languages
            for form in each.compiled("ahead")
            if not form.follows or (follows and form.rule == "part")
        )
        plain, led = self._best(at, forms), self._led(at)
        best = led if led is not None and (plain is None or led[1] > plain[1]) else plain
        return None if best is None else self._with_suffix(*best)

    def _best(self, at: int, forms: Iterator[tuple[Language, WordForm]]) -> tuple[tuple[Unit, ...], int] | None:
        """The longest of the forms that fits and is a time."""
        matches = [
            (language, form, match)
            for language, form in forms
            if (match := form.pattern.match(self.plain.text, at)) and self._is_whole(match)
        ]
        for language, form, match in sorted(matches, key=lambda each: -each[2].end()):
            words = self._words(language, form, match)
            unit = TAKERS[form.rule](words)
            if unit is not None:
                part = part_beside(words, unit)
                return ((unit, part) if part else (unit,)), match.end()
        return None

    def _words(self, language: Language, form: WordForm, match: re.Match[str]) -> Words:
        return Words(match, form.kinds, language, self.today, self.plain.has_han)

    def _led(self, at: int) -> tuple[tuple[Unit, ...], int] | None:
        """A day or a time of day with words before it that turn it into another: `by Friday`, `a week before`."""
        for language in self.languages:
            for form in language.compiled("before"):
                match = form.pattern.match(self.plain.text, at)
                if match is None or match.end() == at:
                    continue
                found = self._take(match.end(), follows=False)
                if found is None or not isinstance(found[0][0], OneDay | ClockTime):
                    continue
                (unit, *others), end = found
                if form.rule == "deadline":
                    return (Deadline(), unit, *others), end
                if isinstance(unit, OneDay):
                    return (_shifted(unit, self._words(language, form, match), self.today), *others), end
        return None

    def _with_suffix(self, units: tuple[Unit, ...], end: int) -> tuple[tuple[Unit, ...], int]:
        """The units with the words behind them that turn a day into another: `春节前一周`, `周五前`."""
        if not isinstance(units[-1], OneDay | ClockTime | PartOfDay):
            return units, end
        for language in self.languages:
            for form in language.compiled("behind"):
                match = form.pattern.match(self.plain.text, end)
                if match is None:
                    continue
                if form.rule == "deadline":
                    return (*units, Deadline()), match.end()
                if isinstance(units[0], OneDay) and len(units) == 1:
                    words = self._words(language, form, match)
                    return self._with_suffix((_shifted(units[0], words, self.today),), match.end())
        return units, end

    def _is_whole(self, match: re.Match[str]) -> bool:
        """False if the words begin or end within a longer word or number."""
        text, first, last = self.plain.text, match.start(), match.end()
        if first == last:
            return False
        before, after = text[first - 1 : first], text[last : last + 1]
        if _LATIN.match(text[first]) and before and (_LATIN.match(before) or before in _BEFORE):
            return before in ".:" and not text[first - 2 : first - 1].isdigit() and first > 1
        if _LATIN.match(text[last - 1]) and after:
            if _LATIN.match(after):
                return False
            if text[last - 1].isdigit():
                return after not in "/%-" and not (after in ".:" and text[last + 1 : last + 2].isdigit())
        return True


def _shifted(unit: OneDay, words: Words, today: date) -> OneDay:
    by, sign = shift_of(words)
    days = (moved(each, by, sign) for each in unit.days)
    return OneDay(tuple(each for each in days if each >= today))

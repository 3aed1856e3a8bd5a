"""A time to come in plain words, of any language there is, without a model: `every weekday at 9 brief me`,
`每个工作日九点给我简报`.

The words of time stand before or after the task, or the day before and the time of day after it. A text that may mean
two things, or more than is understood here, is `Unclear`: the person is asked, with two guesses.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from agent.times.compose import composed, refuse_two_halves
from agent.times.language import Language
from agent.times.plain import PlainText, plain_text
from agent.times.reading import Reading, Unclear, Understood
from agent.times.runs import Finder, TimeRun
from agent.times.units import (
    ClockTime,
    Deadline,
    Except,
    Interval,
    InZone,
    Later,
    NoSuchTime,
    OneDay,
    PartOfDay,
    Repeat,
    TimesADay,
    Unit,
)

LONGEST = 2_000
"""The most characters of a text."""
_GAP = " \t\n,.:;，。：；、"
_FIRST_WORDS = 60
"""The characters in which a wish follows its time."""
_SOME_DAY = date(2024, 1, 1)
_DAYS = (OneDay, Repeat, Interval, Later, TimesADay)


def parse_when(text: str, now: datetime) -> Reading:
    """The time that a text names, as said at `now` (aware, local)."""
    text = text.strip()
    if not text or len(text) > LONGEST:
        return Unclear(_guesses((), now))
    plain = plain_text(text)
    finder = Finder.of(plain, now.date())
    try:
        found = _Sentence(finder, now).parse()
        return Unclear(_guesses((), now)) if found is None else found
    except (NoSuchTime, ValueError, OverflowError) as error:
        guesses = error.guesses if isinstance(error, NoSuchTime) else ()
        return Unclear(_guesses(guesses, now), has_time=True)


def begins_with_time(text: str) -> bool:
    """True if the first words of a text are those of a time, on whatever day."""
    try:
        return Finder.of(plain_text(text.strip()[:LONGEST]), _SOME_DAY).run_at(0) is not None
    except (NoSuchTime, ValueError, OverflowError):
        return True


def follows_time(text: str, words: re.Pattern[str], wish: re.Pattern[str]) -> bool:
    """True if a `wish`, whose `words` are among the first of a text, stands behind words of a time: `月底提醒我结账`,
    `by Friday remind me to pay`."""
    found = (each.start() for each in words.finditer(text, 1, _FIRST_WORDS))
    return any(wish.match(text[at:]) for at in found) and begins_with_time(text)


class _Sentence:
    """One text, and what is found in it."""

    def __init__(self, finder: Finder, now: datetime) -> None:
        self.finder, self.now = finder, now
        self.plain: PlainText = finder.plain
        self.text = finder.plain.text
        self.lead, self.first = self._after_lead()

    def parse(self) -> Understood | None:
        """The time and the rest; None if there is none at all. Raises `NoSuchTime`."""
        start = self.finder.run_at(self.first) or self.finder.run_at(self.finder.past_gap(self.first))
        begin = start.last if start else self.first
        end = None
        if start is None or not _is_whole(start.units):
            end = self.finder.run_to_end(begin, len(self.text))
        runs = [each for each in (start, end) if each is not None]
        if not runs:
            self._ask_for_the_middle()
            return None
        if start and end and not _adds(start.units, end.units):
            raise NoSuchTime(*self._guess_words(composed(start.units, self._local(start.units)), (start,)))
        units = [unit for run in runs for unit in run.units]
        found = composed(units, self._local(units))
        span = (begin, end.first if end else len(self.text))
        rest = self.plain.cut(*span).strip(_GAP) if span[1] > span[0] else ""
        self._refuse_more(units, span, self._guess_words(found, runs), (start is not None, end is not None))
        if rest:
            self._refuse_early(units)
        between = " " if self.lead.isascii() else ""
        rest = f"{self.lead}{between if rest else ''}{rest}" if self.lead else rest
        return replace(found, rest=rest)

    def _after_lead(self) -> tuple[str, int]:
        """Words before a time that belong to the task, such as `remind me`, and where they end."""
        for language in self.finder.languages:
            match = language.line("lead").fullmatch(self.text)
            if match:
                first = match.start(2)
                return self.plain.cut(match.start(1), match.end(1)), first
        return "", 0

    def _local(self, units: Sequence[Unit]) -> datetime:
        zone = next((each.name for each in units if isinstance(each, InZone)), "")
        return self.now.astimezone(ZoneInfo(zone)) if zone else self.now

    def _ask_for_the_middle(self) -> None:
        """Raises `NoSuchTime` for a time within the text: it may belong to the task, so it is asked for."""
        for run in self.finder.runs_in(self.first, len(self.text)):
            try:
                raise NoSuchTime(*self._guess_words(composed(run.units, self._local(run.units)), (run,)))
            except NoSuchTime as unclear:
                if unclear.guesses:
                    raise

    def _refuse_more(
        self, units: Sequence[Unit], span: tuple[int, int], guesses: Sequence[str], is_beside: tuple[bool, bool]
    ) -> None:
        """Raises `NoSuchTime` if the rest has words of a time that were not understood; `is_beside`: a time is before
        it, and behind it."""
        first, last = span
        rest = self.text[first:last].strip(" ")
        stripped = rest.strip(_GAP)
        for language in self.finder.languages:
            is_cut = (
                (is_beside[0] and language.line("begin_left").match(stripped))
                or (is_beside[1] and language.line("end_left").search(stripped))
                or language.line("any_left").search(stripped)
                or (is_beside[0] and self._is_more_before_lead(language, stripped))
            )
            if is_cut:
                raise NoSuchTime(*guesses)
        if _is_whole(units):
            return
        is_number = is_beside[0] and stripped[:1].isdigit()  # "Monday morning 8"
        if is_number or any(self._says_time(run) for run in self.finder.runs_in(first, last)):
            raise NoSuchTime(*guesses)

    def _refuse_early(self, units: Sequence[Unit]) -> None:
        """Raises `NoSuchTime` for a task of every day at 3; a schedule that stands alone has the hours of a clock."""
        if not any(isinstance(each, Repeat | TimesADay) for each in units):
            return
        clocks = [each for each in units if isinstance(each, ClockTime)]
        part = next((each for each in units if isinstance(each, PartOfDay)), None)
        local = self._local(units).replace(tzinfo=None)
        refuse_two_halves(OneDay((local.date() + timedelta(days=1),)), clocks, part, local)

    def _is_more_before_lead(self, language: Language, rest: str) -> bool:
        """True if something stands between a time and `remind me`: it may belong to the time."""
        match = language.line("lead_behind").match(rest)
        return match is not None and language.line("fillers").fullmatch(match[1]) is None

    def _guess_words(self, found: Understood, runs: Sequence[TimeRun]) -> tuple[str, ...]:
        """A time as words that are understood: moments as such, else the words that name it."""
        if found.moments:
            return tuple(f"{each:%Y-%m-%d %H:%M}" for each in found.moments[:2])
        return (" ".join(self.plain.cut(each.first, each.last) for each in runs),)

    def _says_time(self, run: TimeRun) -> bool:
        return any(isinstance(each, ClockTime | OneDay | Repeat | Later | Interval) for each in run.units)


def _is_whole(units: Sequence[Unit]) -> bool:
    """True if nothing is missing: a day and a time of day, or a while."""
    if any(isinstance(each, Interval) or (isinstance(each, Later) and each.seconds) for each in units):
        return True
    return any(isinstance(each, ClockTime) for each in units) and any(isinstance(each, _DAYS) for each in units)


def _adds(start: Sequence[Unit], end: Sequence[Unit]) -> bool:
    """True if the words at the end say what those at the begin leave out, and nothing twice."""
    has_day, has_clock = (any(isinstance(each, kind) for each in start) for kind in (_DAYS, ClockTime))
    allowed: tuple[type, ...] = (InZone, Deadline)
    allowed += () if has_day else (*_DAYS, Except)
    allowed += () if has_clock else (ClockTime, PartOfDay)
    return all(isinstance(each, allowed) for each in end)


def _guesses(guesses: Sequence[str], now: datetime) -> tuple[str, str]:
    """Two guesses: those that are given, then tomorrow morning and evening."""
    tomorrow = now.replace(tzinfo=None) + timedelta(days=1)
    usual = (f"{tomorrow.replace(hour=hour, minute=0):%Y-%m-%d %H:%M}" for hour in (9, 19))
    first, second, *_ = dict.fromkeys((*guesses, *usual))
    return first, second

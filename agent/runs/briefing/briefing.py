"""The facts of a briefing as short lists with links: a model words them, and without one they are the briefing.

What others may have worded, as in calendars, is no part of the lists of a model: it is given them apart, framed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.lazy import later
from agent.markdown.note import Note
from agent.memory import daily
from agent.runs.briefing.by_itself import UnaskedDeed, deeds_since, last_briefing
from agent.runs.briefing.dated import BriefingLine, DatedLines, dated_lines, day_of_note, day_words
from agent.runs.briefing.people import OwedLine, OwnSentence, end_of, owed_lines, own_sentences
from agent.runs.briefing.weekly import weekly_lines
from agent.runs.job_upkeep import job_shelf
from agent.runs.needs import Need, may_be_strangers, needs_of
from agent.schedule.aims import load_aims
from agent.schedule.job import Job
from agent.texts import Language, text
from agent.tools.taint import frame
from agent.vault.folders import APPROVALS, ENTRIES, PROFILE, QUESTIONS
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.runs.briefing.appointments import appointments
else:  # few have calendars
    appointments = later("agent.runs.briefing.appointments", "appointments")

LONGEST = 140
"""The most characters of a line, without its link."""
_FOR_MODEL = 15
"""The most lines of a list that a model is given: it chooses."""
_FOR_SCREEN = {"late": 6, "today": 9, "week": 6, "people": 5, "birthdays": 3, "needs": 4, "calendars": 3, "deeds": 4}
"""The most lines of each list without a model: all of them together are a screen. How many are left out is said."""


@dataclass(frozen=True, slots=True)
class BriefingFacts:
    """The facts of a briefing about a day."""

    dated: DatedLines
    people: tuple[OwedLine, ...]
    needs: tuple[Need, ...]
    deeds: tuple[UnaskedDeed, ...]
    away: tuple[str, ...] = ()
    """A sentence for each calendar that could not be read, or not all of it."""
    ends: Mapping[BriefingLine, OwnSentence | None] = field(default_factory=dict)
    """The later line that may tell that what a dated one says is over."""

    @property
    def strangers(self) -> tuple[str, ...]:
        """The origins of the lines that others may have worded."""
        lines = (*self.dated.today, *self.dated.week)
        return tuple(dict.fromkeys(each.stranger for each in lines if each.stranger))


@dataclass(frozen=True, slots=True)
class Briefing:
    """The facts in `text`, empty if there are none, with words of `strangers`; for a model these words are apart, in
    `framed`."""

    text: str
    strangers: tuple[str, ...] = ()
    framed: str = ""


def facts_of(workspace: Workspace, today: date, job: Job | None = None) -> BriefingFacts:
    """The facts for the briefing that is this `job`."""
    vault, language = workspace.vault, workspace.settings.vault.language
    dated = _with_reminders(workspace, dated_lines(vault, today, language), today)
    dated = _with_lines(dated, weekly_lines(vault, today))
    away: tuple[str, ...] = ()
    if workspace.settings.calendars.sources.reference:
        found = appointments(workspace, today, job.zone if job is not None else None)
        dated, away = _with_lines(dated, found.today, found.week), found.away
    known = {_bare(each.written or each.words) for each in (*dated.late, *dated.today, *dated.week)}
    lately = own_sentences(vault, workspace.clock.now())
    owed = owed_lines(vault, workspace.clock.now(), lately, language)
    people = tuple(each for each in owed if _bare(each.words) not in known)
    id = job.id if job is not None else ""
    done = deeds_since(workspace, last_briefing(workspace, id), id)
    lines = (*dated.late, *dated.today, *dated.week)
    ends = {each: end_of(each.written or each.words, day_of_note(vault, each.path), lately) for each in lines}
    return BriefingFacts(dated, people, needs_of(workspace), done, away, ends)


def briefing_of(workspace: Workspace, today: date, job: Job | None = None, *, for_model: bool = False) -> Briefing:
    """The facts as lists with links. A model is given longer ones, in its person's name: of what waits it has the link
    alone where the words may be a stranger's."""
    facts = facts_of(workspace, today, job)
    if not for_model:
        return Briefing(_format_lists(workspace, facts, today, for_model=False), facts.strangers)
    own = replace(facts, dated=_worded(facts.dated, by_strangers=False))
    others = BriefingFacts(_worded(facts.dated, by_strangers=True), (), (), ())
    words = _format_lists(workspace, others, today, for_model=True)
    framed = frame(words, ", ".join(facts.strangers)) if words else ""
    return Briefing(_format_lists(workspace, own, today, for_model=True), facts.strangers, framed)


def _worded(dated: DatedLines, *, by_strangers: bool) -> DatedLines:
    """The lines of strangers, or all the others."""
    today, week = (
        tuple(each for each in lines if bool(each.stranger) is by_strangers) for lines in (dated.today, dated.week)
    )
    return DatedLines((), today, week) if by_strangers else replace(dated, today=today, week=week)


def _format_lists(workspace: Workspace, facts: BriefingFacts, today: date, *, for_model: bool) -> str:
    """The lists with their titles."""
    language = workspace.settings.vault.language
    parts: list[str] = []
    for key, rows in _lists(workspace, facts, language, for_model=for_model):
        lines = list(dict.fromkeys(rows))
        if lines:
            most = _FOR_MODEL if for_model else _FOR_SCREEN[key]
            left = len(lines) - most
            more = [f"- {text('briefing.more', language, count=left)}"] if left > 0 else []
            title = text(f"briefing.{key}", language, day=day_words(today, language))
            parts += [f"**{title}**", *(f"- {line}" for line in lines[:most]), *more, ""]
    return "\n".join(parts).strip()


def _lists(
    workspace: Workspace, facts: BriefingFacts, language: Language, *, for_model: bool
) -> Iterator[tuple[str, Sequence[str]]]:
    """The lists in the order in which a day is looked at, each by the key of its title."""
    dated, colon = facts.dated, text("briefing.colon", language)

    def line(words: str, path: str, end: OwnSentence | None = None) -> str:
        row = _cut(words) + _link(workspace, path)
        return f"{row}{text('briefing.perhaps_over', language)}{line(end.words, end.path)}" if end else row

    ends = facts.ends
    yield "today", [line(each.words, each.path, ends.get(each)) for each in dated.today]
    yield "late", [line(colon.join((each.words, each.note)), each.path, ends.get(each)) for each in dated.late]
    labels = ("" if each.says_kind else text(f"briefing.{each.kind}", language) for each in facts.people)
    people = zip(facts.people, labels, strict=True)
    yield "people", [label + line(each.words, each.path, each.end) for each, label in people]
    unquoted = text("briefing.unquoted", language)
    titles = [unquoted if for_model and may_be_strangers(workspace, each) else each.title for each in facts.needs]
    yield "calendars", facts.away
    yield "needs", [line(title, each.path) for each, title in zip(facts.needs, titles, strict=True)]
    for key, lines in (("week", dated.week), ("birthdays", dated.birthdays)):
        days = [day_words(each.day, language) for each in lines]
        rows = (line(each.words, each.path, ends.get(each)) for each in lines)
        yield key, list(map(colon.join, zip(days, rows, strict=True)))
    yield "deeds", [line(each.words, each.path) for each in facts.deeds]


def _with_reminders(workspace: Workspace, dated: DatedLines, today: date) -> DatedLines:
    """The lines with the reminders that are still to come today."""
    now = workspace.clock.now()
    found: list[BriefingLine] = []
    for job in job_shelf(workspace).load().jobs:
        coming = job.coming(now, 1) if job.remind and job.status == "active" else ()
        at = in_clock_zone(coming[0].at, now) if coming else None
        if at is not None and at.date() == today:
            found.append(BriefingLine(f"{at:%H:%M} {job.title}", job.path, today, at.time()))
    return _with_lines(dated, found) if found else dated


def _with_lines(dated: DatedLines, today: Sequence[BriefingLine], week: Sequence[BriefingLine] = ()) -> DatedLines:
    """The lines with more of today and of the week, in the order of days and hours."""

    def hour(line: BriefingLine) -> tuple[date, bool, str]:
        return line.day, line.at is None, line.at.isoformat() if line.at else ""

    return replace(
        dated,
        today=tuple(sorted((*dated.today, *today), key=hour)),
        week=tuple(sorted((*dated.week, *week), key=hour)),
    )


def aims_of(workspace: Workspace) -> str:
    """The person's aims, for the model that words a briefing; empty if they are not to be spoken of."""
    aims, language = load_aims(workspace.vault), workspace.settings.vault.language
    if not aims.may_be_spoken_of:
        return ""
    listed = (("focus", aims.focus), ("drives", aims.drives), ("sources", aims.sources))
    rows = (f"- {text(f'briefing.{key}', language)}: {'; '.join(words)}" for key, words in listed if words)
    return "\n".join((text("briefing.aims", language), *map(daily.inert, rows)))


def _cut(words: str) -> str:
    return daily.inert(daily.cut(" ".join(words.split()).rstrip(".。"), LONGEST))


def _bare(words: str) -> str:
    return " ".join(words.split()).casefold()


def _link(workspace: Workspace, path: str) -> str:
    """The link behind a line; a note that is known by its name alone is named so."""
    if not path.endswith(".md"):
        return ""
    day = workspace.vault.home.day_of(path)
    if day is not None:
        return f" ({daily.link_to(day, workspace.vault.home)})"
    stem, home, language = path.removesuffix(".md"), workspace.vault.home, workspace.settings.vault.language
    if home.holds(path, ENTRIES):  # their names repeat their words
        return f" ([[{PurePosixPath(stem).name}|{text('briefing.entry', language)}]])"
    if home.holds(path, APPROVALS, QUESTIONS):  # so do these
        return f" ([[{stem}|{text('briefing.decide', language)}]])"
    if home.holds(path, PROFILE):  # a name such as 51-patterns-insights says little
        title = Note.parse(workspace.vault.read(path) or b"").string("title") or PurePosixPath(stem).name
        return f" ([[{stem}|{daily.inert(title)}]])"
    return f" ([[{stem}|{PurePosixPath(stem).name}]])" if "/" in stem else f" ([[{stem}]])"

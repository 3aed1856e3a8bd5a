"""The facts of a briefing as short lists with links: a model words them, and without one they are the briefing."""

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import PurePosixPath

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.memory import daily
from agent.runs.briefing.by_itself import UnaskedDeed, deeds_since, last_told
from agent.runs.briefing.dated import BriefingLine, DatedLines, dated_lines
from agent.runs.briefing.people import OwedLine, owed_lines
from agent.runs.job_upkeep import job_shelf
from agent.runs.needs import Need, may_be_strangers, needs_of
from agent.schedule.aims import load_aims
from agent.schedule.job import Job
from agent.texts import Language, text
from agent.vault.folders import ENTRIES
from agent.workspace.workspace import Workspace

LONGEST = 140
"""The most characters of a line, without its link."""
_FOR_MODEL = 15
"""The most lines of a list that a model is given: it chooses."""
_FOR_SCREEN = {"late": 6, "today": 9, "week": 6, "people": 5, "birthdays": 3, "needs": 4, "deeds": 4}
"""The most lines of each list without a model: all of them together are a screen. How many are left out is said."""


@dataclass(frozen=True, slots=True)
class BriefingFacts:
    """What there is to say about a day."""

    dated: DatedLines
    people: tuple[OwedLine, ...]
    needs: tuple[Need, ...]
    deeds: tuple[UnaskedDeed, ...]


def facts_of(workspace: Workspace, today: date, job: Job | None = None) -> BriefingFacts:
    """The facts for the briefing that is this `job`."""
    vault, language = workspace.vault, workspace.settings.vault.language
    dated = _with_reminders(workspace, dated_lines(vault, today, language), today)
    known = {_bare(each.written or each.words) for each in (*dated.late, *dated.today, *dated.week)}
    owed = owed_lines(vault, workspace.clock.now(), language)
    people = tuple(each for each in owed if _bare(each.words) not in known)
    id = job.id if job is not None else ""
    return BriefingFacts(dated, people, needs_of(workspace), deeds_since(workspace, last_told(workspace, id), id))


def briefing_of(workspace: Workspace, today: date, job: Job | None = None, *, for_model: bool = False) -> str:
    """The facts as lists with links; empty if there is nothing. A model is given longer ones, in its person's name: of
    what waits it has the link alone where the words may be a stranger's."""
    facts, language = facts_of(workspace, today, job), workspace.settings.vault.language
    shown: list[str] = []
    for key, rows in _lists(workspace, facts, language, for_model=for_model):
        lines = list(dict.fromkeys(rows))
        if lines:
            most = _FOR_MODEL if for_model else _FOR_SCREEN[key]
            left = len(lines) - most
            more = [f"- {text('briefing.more', language, count=left)}"] if left > 0 else []
            title = text(f"briefing.{key}", language, day=day_words(today, language))
            shown += [f"**{title}**", *(f"- {line}" for line in lines[:most]), *more, ""]
    return "\n".join(shown).strip()


def _lists(
    workspace: Workspace, facts: BriefingFacts, language: Language, *, for_model: bool
) -> Iterator[tuple[str, Sequence[str]]]:
    """The lists in the order in which a day is looked at, each by the key of its title."""
    dated, colon = facts.dated, text("briefing.colon", language)

    def line(words: str, path: str) -> str:
        return _cut(words) + _link(workspace, path)

    yield "today", [line(each.words, each.path) for each in dated.today]
    yield "late", [line(colon.join((each.words, each.note)), each.path) for each in dated.late]
    labels = ("" if each.says_kind else text(f"briefing.{each.kind}", language) for each in facts.people)
    yield "people", [label + line(each.words, each.path) for each, label in zip(facts.people, labels, strict=True)]
    unquoted = text("briefing.unquoted", language)
    titles = [unquoted if for_model and may_be_strangers(workspace, each) else each.title for each in facts.needs]
    yield "needs", [line(title, each.path) for each, title in zip(facts.needs, titles, strict=True)]
    for key, lines in (("week", dated.week), ("birthdays", dated.birthdays)):
        yield key, [colon.join((day_words(each.day, language), line(each.words, each.path))) for each in lines]
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
    if not found:
        return dated
    hours = sorted((*dated.today, *found), key=lambda each: (each.at is None, each.at.isoformat() if each.at else ""))
    return DatedLines(dated.late, tuple(hours), dated.week, dated.birthdays)


def aims_of(workspace: Workspace) -> str:
    """What the person works towards, for whoever words a day; empty if nothing of it is to be spoken of."""
    aims, language = load_aims(workspace.vault), workspace.settings.vault.language
    if not aims.may_be_spoken_of:
        return ""
    given = (("focus", aims.focus), ("drives", aims.drives), ("sources", aims.sources))
    rows = (f"- {text(f'briefing.{key}', language)}: {'; '.join(words)}" for key, words in given if words)
    return "\n".join((text("briefing.aims", language), *map(daily.inert, rows)))


def day_words(day: date, language: Language) -> str:
    """A day as people say it, such as `Thu 3 Dec`."""
    weekday, month = (text(f"briefing.{key}", language).split() for key in ("weekdays", "months"))
    return text("briefing.day", language, weekday=weekday[day.weekday()], number=day.day, month=month[day.month - 1])


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
    stem = path.removesuffix(".md")
    if workspace.vault.home.holds(path, ENTRIES):  # their names repeat their words
        return f" ([[{PurePosixPath(stem).name}|{text('briefing.entry', workspace.settings.vault.language)}]])"
    return f" ([[{stem}|{PurePosixPath(stem).name}]])" if "/" in stem else f" ([[{stem}]])"

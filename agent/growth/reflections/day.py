"""The review of a day: its runs together, in figures, and by a model what several of them have in common.

A run that has read what others have written is counted and nothing more: no word of it, and none of its reflection, is
shown to the model, so that the review may be acted on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from pathlib import Path, PurePosixPath

from agent.clock import in_clock_zone, time_shown
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone
from agent.growth.reflections.ask import AskedAnswer
from agent.growth.reflections.counted import duration, named
from agent.growth.reflections.course import RunCourse, courses_in, title_of
from agent.growth.reflections.material import NOTHING, rules_in_force
from agent.growth.reflections.reactions import CORRECTIONS, Reaction, reactions_in_session
from agent.growth.reflections.reflecting import Reflecting, reflection_of
from agent.growth.reflections.reflection import Reflection
from agent.growth.reflections.store import load_reflections, reflections_name
from agent.llm.messages import Cancelled
from agent.loop.session import load_session, sessions
from agent.markdown.title import clipped
from agent.texts import Language, text
from agent.vault.store import Vault

BY_ITSELF = "Answer with this YAML and nothing else:"
BESIDE = "End your report with this YAML in a code block of its own; the program takes it out of the report:"
"""How the review is asked for alone, and within the report of a look back."""
_BACK = timedelta(days=7)
"""For how many days a conversation may have gone on."""
_ENOUGH = 3
"""From how many runs on a day may show something that no single run does."""
_TASKS, _TITLE, _LINKED = 40, 100, 8
"""The most tasks that are listed for a model, the characters of their titles, and the sessions that are linked."""


@dataclass(frozen=True, slots=True)
class DayOfRuns:
    """The runs of one day, with what the person showed of each, and what was reflected on that day."""

    day: date
    courses: tuple[RunCourse, ...]
    reactions: Mapping[str, tuple[Reaction, ...]]
    reflections: tuple[Reflection, ...] = ()

    @property
    def clean(self) -> tuple[RunCourse, ...]:
        """The runs in which no stranger's text was read."""
        return tuple(each for each in self.courses if not each.strangers)

    @property
    def is_worth_asking(self) -> bool:
        """True if a model may see more in it than the figures say."""
        corrected = (each for course in self.clean for each in self.reactions.get(course.run, ()))
        has_trouble = any(each.has_failed or each.failures for each in self.clean)
        return bool(self.clean) and (
            len(self.clean) >= _ENOUGH or has_trouble or any(each.kind in CORRECTIONS for each in corrected)
        )


def runs_of_day(vault: Vault, day: date) -> DayOfRuns:
    """What happened on a day, from its sessions and its reflections."""
    courses: list[RunCourse] = []
    reactions: dict[str, tuple[Reaction, ...]] = {}
    for path in sessions_since(vault, day):
        try:
            session = load_session(vault, path)
        except NoteGone:
            continue
        for each in courses_in(vault, session):
            if each.ended.date() == day:
                courses.append(each)
                reactions[each.run] = reactions_in_session(vault, session, each)
    courses.sort(key=lambda each: each.ended)
    today = (each for each in load_reflections(vault, day) if each.at.date() == day and each.trigger != "day")
    return DayOfRuns(day, tuple(courses), reactions, tuple(today))


def sessions_since(vault: Vault, day: date) -> Iterator[str]:
    """The paths of the sessions to whose notes something was written since the begin of a day, the newest first, and of
    all that began then or the day before."""
    begin = in_clock_zone(datetime.combine(day, time()), vault.clock.now()).timestamp()
    for path in sessions(vault):
        named = PurePosixPath(path).name[:10]
        if not named[:1].isdigit():
            continue
        if named < (day - _BACK).isoformat():
            return
        if named >= (day - timedelta(days=1)).isoformat():
            yield path
            continue
        try:
            written = Path(vault.place.root, path).stat().st_mtime
        except OSError:
            continue
        if time_shown(vault.clock, written) >= begin:
            yield path


def is_reviewed(vault: Vault, day: date) -> bool:
    """True if the day has its review."""
    return any(each.trigger == "day" and each.at.date() == day for each in load_reflections(vault, day))


def day_to_review(vault: Vault, now: datetime, hour: int) -> date | None:
    """The day whose review is due: today from the hour on, else yesterday; None if it has one."""
    day = now.date() if now.hour >= hour else now.date() - timedelta(days=1)
    return None if is_reviewed(vault, day) else day


def review_day(reflecting: Reflecting, runs: DayOfRuns, cancelled: Cancelled) -> Reflection:
    """The review of a day with runs: by the model for reflection, else the main one, or counted."""
    if not reflecting.has_model or not runs.is_worth_asking:
        return counted_day(reflecting, runs)
    asked = reflecting.ask("reflection", "reflect_day", prompt_values(reflecting, runs, BY_ITSELF), cancelled)
    return review_of(reflecting, runs, asked)


def runs_to_review(reflecting: Reflecting) -> DayOfRuns | None:
    """The runs of today, if its hour has come, it has no review, and there were runs; None otherwise."""
    workspace, now = reflecting.workspace, reflecting.workspace.clock.now()
    settings = workspace.settings
    is_time = settings.growth.enabled and now.hour >= settings.reflection.hour
    if not is_time or is_reviewed(workspace.vault, now.date()):
        return None
    found = runs_of_day(workspace.vault, now.date())
    return found if found.courses else None


def asked_beside(reflecting: Reflecting, runs: DayOfRuns) -> str:
    """What a look back is asked, to review the day in the same run; empty if the figures say all."""
    if not runs.is_worth_asking:
        return ""
    return fill("reflect_day", reflecting.vault.own_version_of, **prompt_values(reflecting, runs, BESIDE))


def review_in_report(reflecting: Reflecting, runs: DayOfRuns, block: str) -> Reflection:
    """The review of a day from the block that the report of a look back ended with; counted without one."""
    if not block or not runs.is_worth_asking:
        return counted_day(reflecting, runs)
    try:
        asked = reflecting.answered("reflection", "reflect_day", prompt_values(reflecting, runs, BESIDE), block)
    except (AgentError, OSError):
        asked = AskedAnswer(None, reflecting.vault.masked(block))
    return review_of(reflecting, runs, asked)


def prompt_values(reflecting: Reflecting, runs: DayOfRuns, how: str) -> dict[str, str]:
    """The variables of the prompt about a day; `how` says in which form to answer."""
    language = reflecting.language
    listed = [_task_row(each, runs.reactions.get(each.run, ()), language) for each in runs.clean]
    noted = [_noted(each) for each in runs.reflections if not each.strangers and each.opinion != "not_helpful"]
    return {
        "figures": "\n".join(f"- {row}" for row in figures(runs, language)),
        "tasks": "\n".join(listed[:_TASKS]) or NOTHING,
        "reflections": "\n".join(filter(None, noted)) or NOTHING,
        "active_rules": rules_in_force(reflecting.vault),
        "language": reflecting.prompt_language(),
        "how": how,
    }


def review_of(reflecting: Reflecting, runs: DayOfRuns, asked: AskedAnswer) -> Reflection:
    """The review that an answer of a model is."""
    found = reflection_of(asked, "day", _moment(reflecting, runs))
    return _placed(reflecting, runs, runs.clean, found)


def counted_day(reflecting: Reflecting, runs: DayOfRuns) -> Reflection:
    """The review of a day in figures alone."""
    rows = [*figures(runs, reflecting.language), "", ""]
    between = text("reflection.between", reflecting.language)
    trouble = _trouble(runs.courses, reflecting.language)
    found = Reflection("", _moment(reflecting, runs), "day", (), (), rows[0], between.join(filter(None, rows[1:])))
    found = replace(found, error=trouble, error_kind="tool" if trouble else None, is_plain=True)
    return _placed(reflecting, runs, runs.courses, found)


def figures(runs: DayOfRuns, language: Language) -> tuple[str, ...]:
    """The day in figures: what came of its runs, what they took, and what the person showed."""
    courses = runs.courses
    outcomes = Counter("failed" if each.has_failed else "finished" for each in courses)
    calls = sum(len(each.calls) for each in courses)
    looked = {run for each in runs.reflections for run in each.runs}
    rows = [
        text(
            "reflection.day_runs",
            language,
            count=len(courses),
            finished=outcomes["finished"],
            failed=outcomes["failed"],
            looked=sum(1 for each in courses if each.run in looked),
        ),
        text(
            "reflection.day_work",
            language,
            duration=duration(sum(each.seconds for each in courses), language),
            calls=calls,
            failures=sum(len(each.failures) for each in courses),
            tokens=sum(each.tokens for each in courses),
        ),
    ]
    shown = Counter(each.kind for reactions in runs.reactions.values() for each in reactions)
    if shown:
        said = (f"{text(f'reflection.{kind}', language)} × {count}" for kind, count in shown.most_common())
        rows.append(text("reflection.day_reactions", language, reactions=text("reflection.comma", language).join(said)))
    others = len(courses) - len(runs.clean)
    return (*rows, *([text("reflection.day_strangers", language, count=others)] if others else []))


def _trouble(courses: Sequence[RunCourse], language: Language) -> str:
    failed = Counter(step.tool for each in courses for step in each.failures)
    return text("reflection.counted_failed", language, tools=named(failed, language)) if failed else ""


def _placed(reflecting: Reflecting, runs: DayOfRuns, courses: Sequence[RunCourse], found: Reflection) -> Reflection:
    """The review with its place, and links to the sessions in which there was trouble."""
    vault = reflecting.vault
    troubled = [each for each in courses if each.has_failed or each.failures]
    diary = vault.home.day_note(runs.day)
    return replace(
        found,
        path=vault.home.at(reflections_name(runs.day)),
        runs=tuple(each.run for each in courses),
        sessions=tuple(dict.fromkeys(each.session for each in troubled))[:_LINKED],
        notes=(diary,) if vault.read(diary) is not None else (),
        strangers=tuple(dict.fromkeys(source for each in courses for source in each.strangers)),
        heading=f"{found.at:%H:%M} {text('reflection.for_day', reflecting.language)}",
    )


def _moment(reflecting: Reflecting, runs: DayOfRuns) -> datetime:
    """Now, or the last minute of a day that is over: the review stands in the note of its day."""
    now = reflecting.workspace.clock.now().replace(microsecond=0)
    if now.date() == runs.day:
        return now
    return in_clock_zone(datetime.combine(runs.day, time(23, 59)), now)


def _task_row(course: RunCourse, reactions: Sequence[Reaction], language: Language) -> str:
    shown = ", ".join(dict.fromkeys(each.kind.replace("_", " ") for each in reactions))
    failed = Counter(each.tool for each in course.failures)
    parts = [
        course.outcome,
        duration(course.seconds, language),
        f"{len(course.calls)} calls",
        f"{course.tokens} tokens",
    ]
    parts += [f"failed: {named(failed, language)}"] if failed else []
    parts += [f"the person: {shown}"] if shown else []
    return f"- {course.began:%H:%M} “{clipped(title_of(course), _TITLE)}”: {'; '.join(parts)}"


def _noted(reflection: Reflection) -> str:
    parts = [reflection.error or reflection.result, *(f"→ {each.text}" for each in reflection.strategies)]
    return f"- {reflection.heading}: {' '.join(filter(None, parts))}" if any(parts) else ""

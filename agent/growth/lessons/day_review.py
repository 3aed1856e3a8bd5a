"""The review of a day: its runs together, for what several of them have in common and no single one shows.

A run that has read what others have written is left out: no word of it, and none of its reflection, is shown to the
model, so that the review may be acted on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path, PurePosixPath

from agent.clock import in_clock_zone, time_on_clock
from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.growth.lessons.reflecting import NOTHING, Reflecting
from agent.growth.lessons.reflection import Reflection
from agent.growth.lessons.reflection_notes import load_reflections, reflections_name
from agent.growth.patterns.detectors import tool_failures
from agent.growth.patterns.gather import gather_calls
from agent.llm.messages import Cancelled
from agent.loop.session import load_session, sessions
from agent.markdown.title import clipped
from agent.runs.reactions import CORRECTIONS, Reaction, reactions_in_session
from agent.runs.run_course import RunCourse, courses_in, title_of
from agent.texts import text
from agent.vault.store import Vault

_BACK = timedelta(days=7)
"""For how many days a conversation may have gone on."""
_ENOUGH = 3
"""From how many runs on a day may show something that no single run does."""
_TASKS, _TITLE, _LINKED = 40, 100, 8
"""The most tasks that are listed for a model, the characters of their titles, and the sessions that are linked."""
_OCCASION = (
    "These are all the tasks of one day. Look for what no single one shows: the same trouble in several of them, the"
    " same waste, the same wish that was not met. A strategy rests on at least two of them; without such a thing there"
    " is none.\n\n"
)


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
        """True if a model may see something in it."""
        corrected = (each for course in self.clean for each in self.reactions.get(course.run, ()))
        has_trouble = any(each.has_failed or each.failures for each in self.clean)
        return bool(self.clean) and (
            len(self.clean) >= _ENOUGH or has_trouble or any(each.kind in CORRECTIONS for each in corrected)
        )


def runs_of_day(vault: Vault, day: date) -> DayOfRuns:
    """The runs and the reflections of a day."""
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
        if time_on_clock(vault.clock, written) >= begin:
            yield path


def review_day(reflecting: Reflecting, runs: DayOfRuns, cancelled: Cancelled) -> Reflection | None:
    """The model's reflection on the runs of a day; None for an answer that cannot be parsed."""
    noted = [_noted(each) for each in runs.reflections if not each.strangers and each.opinion != "not_helpful"]
    values = {
        "original_request": _OCCASION + "\n".join(_task_rows(runs)[:_TASKS]),
        "final_output": _figures(runs.clean),
        "user_reaction": _format_reactions(runs) or NOTHING,
        "execution_trace": "\n".join(filter(None, (*noted, *_failing(reflecting)))) or NOTHING,
    }
    return reflecting.filled(_placed(reflecting, runs), "reflection", values, cancelled)


def _placed(reflecting: Reflecting, runs: DayOfRuns) -> Reflection:
    """The place of the reflection in the note of the day, with what it is about."""
    troubled = [each for each in runs.clean if each.has_failed or each.failures]
    vault, at = reflecting.vault, _moment(reflecting, runs)
    diary = vault.home.day_note(runs.day)
    return Reflection(
        vault.home.at(reflections_name(runs.day)),
        at,
        "day",
        tuple(each.run for each in runs.clean),
        tuple(dict.fromkeys(each.session for each in troubled))[:_LINKED],
        heading=f"{at:%H:%M} {text('reflection.for_day', reflecting.language)}",
        notes=(diary,) if vault.read(diary) is not None else (),
    )


def _task_rows(runs: DayOfRuns) -> Sequence[str]:
    return [_task_row(each, runs.reactions.get(each.run, ())) for each in runs.clean]


def _format_reactions(runs: DayOfRuns) -> str:
    counts = Counter(each.kind for course in runs.clean for each in runs.reactions.get(course.run, ()))
    return "\n".join(f"- {kind.replace('_', ' ')}: {count} times" for kind, count in counts.items())


def _failing(reflecting: Reflecting) -> Iterator[str]:
    """The tools that have kept failing for one reason, as the last weeks' calls show."""
    calls = gather_calls(reflecting.vault, reflecting.now)
    for each in tool_failures(calls, reflecting.now, reflecting.language):
        yield f"- counted: {each.name}"


def _figures(courses: Sequence[RunCourse]) -> str:
    failed = sum(each.has_failed for each in courses)
    calls, failures = sum(len(each.calls) for each in courses), sum(len(each.failures) for each in courses)
    tokens = sum(each.tokens for each in courses)
    return f"{len(courses)} runs, {failed} of which failed; {calls} calls of tools, {failures} failed; {tokens} tokens"


def _moment(reflecting: Reflecting, runs: DayOfRuns) -> datetime:
    """Now, or the last minute of a day that is over: the review stands in the note of its day."""
    now = reflecting.now
    return now if now.date() == runs.day else in_clock_zone(datetime.combine(runs.day, time(23, 59)), now)


def _task_row(course: RunCourse, reactions: Sequence[Reaction]) -> str:
    reacted = ", ".join(dict.fromkeys(each.kind.replace("_", " ") for each in reactions))
    failed = Counter(each.tool for each in course.failures)
    parts = [course.outcome, f"{course.seconds:.0f} s", f"{len(course.calls)} calls", f"{course.tokens} tokens"]
    parts += ["failed: " + ", ".join(f"`{tool}` × {count}" for tool, count in failed.most_common())] if failed else []
    parts += [f"the person: {reacted}"] if reacted else []
    return f"- {course.began:%H:%M} “{clipped(title_of(course), _TITLE)}”: {'; '.join(parts)}"


def _noted(reflection: Reflection) -> str:
    parts = [reflection.error or reflection.result, *(f"→ {each.text}" for each in reflection.strategies)]
    return f"- {reflection.heading}: {' '.join(filter(None, parts))}" if any(parts) else ""

"""What can be said of runs without a model: their outcomes, durations and failures, counted. Pure."""

from collections import Counter
from collections.abc import Sequence

from agent.dataclass import dataclass
from agent.growth.reflections.course import CourseStep, RunCourse
from agent.growth.reflections.reflection import ErrorKind
from agent.markdown.title import clipped
from agent.texts import Language, text

_MANY = 3
"""How often the same call in a run is worth a word."""
_NAMED = 4
"""The most tools that are named."""


@dataclass(frozen=True, slots=True)
class CountedReview:
    """The dimensions that figures can fill, in the language of the vault; empty for what there is nothing to say of."""

    result: str = ""
    efficiency: str = ""
    error: str = ""
    error_kind: ErrorKind | None = None


def counted_run(course: RunCourse, language: Language) -> CountedReview:
    """The figures of one run."""
    outcome = text(f"reflection.outcome_{'finished' if not course.has_failed else course.outcome}", language)
    result = text(
        "reflection.counted_run",
        language,
        outcome=outcome,
        calls=len(course.calls),
        tokens=course.tokens,
        duration=duration(course.seconds, language),
    )
    again = _again(course)
    parts = [text("reflection.counted_again", language, tools=named(again, language))] if again else []
    if slow := _slowest(course):
        took = duration(slow.seconds or 0.0, language)
        parts.append(text("reflection.counted_slow", language, tool=slow.tool, duration=took))
    error = [course.reason] if course.has_failed and course.reason else []
    failed = Counter(each.tool for each in course.failures)
    error += [text("reflection.counted_failed", language, tools=named(failed, language))] if failed else []
    between = text("reflection.between", language)
    return CountedReview(result, between.join(parts), clipped(between.join(error), 400), "tool" if failed else None)


def named(counts: "Counter[str]", language: Language) -> str:
    """The most frequent names with their counts."""
    rows = [f"`{name}` × {count}" if count > 1 else f"`{name}`" for name, count in counts.most_common(_NAMED)]
    return text("reflection.comma", language).join(rows)


def duration(seconds: float, language: Language) -> str:
    """A duration in seconds or minutes."""
    if seconds < 90:
        return text("reflection.seconds", language, number=round(seconds))
    return text("reflection.minutes", language, number=round(seconds / 60))


def _again(course: RunCourse) -> "Counter[str]":
    """The tools that were called often in the same way."""
    same = Counter((each.tool, each.said) for each in course.calls)
    return Counter({tool: count for (tool, _), count in same.items() if count >= _MANY})


def _slowest(course: RunCourse) -> CourseStep | None:
    """The call that took most of a run's time; None if none did."""
    timed: Sequence[CourseStep] = [each for each in course.calls if each.seconds is not None]
    slow = max(timed, key=lambda each: each.seconds or 0.0, default=None)
    return slow if slow is not None and (slow.seconds or 0.0) > max(course.seconds / 2, 2.0) else None

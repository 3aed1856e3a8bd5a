"""Chooses what to suggest after a run: at most one thing, the most useful first. Pure.

A pattern that the task belongs to is worth a word at once; that a task serves a goal or a drive is worth one in the
day's digest at most, so its priority is below the usual threshold of attention.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.events.notices import NoticeRaised
from agent.growth.initiative.aims import Aims
from agent.growth.patterns.likeness import Vectors, overlap
from agent.growth.patterns.pattern import Pattern, quoted
from agent.texts import Language, in_all_languages, text

InitiativeType: TypeAlias = Literal["pattern_suggestion", "drive_nudge", "goal_alignment"]
OVERLAP = 0.6
"""A task whose overlap with a goal, a drive or a pattern is greater than this is about the same."""
ALIGNED, NUDGED = 0.8, 0.7
"""The confidence of a goal's alignment, and of a drive's nudge."""
STRONG = 4
"""The intensity from which a drive is spoken of."""
SURE = 0.6
"""The confidence from which a pattern is suggested."""
FOR_THE_DIGEST = 0.4
"""The priority of what the person need not hear of at once."""
_NOTHING = frozenset(("nothing", "none", "no", "off", "无", "没有", "不要", "关闭"))


@dataclass(frozen=True, slots=True)
class Initiative:
    """A suggestion. `drive_ref` is the goal, drive or pattern that it serves; `subject` names it among others."""

    type: InitiativeType
    message: str
    confidence: float
    drive_ref: str
    subject: str
    priority: float
    lines: tuple[str, ...] = ()

    @property
    def notice(self) -> NoticeRaised:
        """The suggestion as a notice for attention."""
        kind = "pattern" if self.type == "pattern_suggestion" else "initiative"
        return NoticeRaised(kind, self.priority, self.message, self.lines, self.subject, drive=self.drive_ref)


def evaluate(
    task: str,
    aims: Aims,
    patterns: Sequence[Pattern],
    is_suppressed: Callable[[str], bool],
    language: Language,
    vectors: Vectors | None,
) -> Initiative | None:
    """What to suggest after this task; None if there is nothing. `is_suppressed` is true for a subject that was
    suggested lately, or that the person has dismissed."""
    ideas = (
        *_of_patterns(task, patterns, vectors),
        *_of_drives(task, aims, language, vectors),
        *_of_goals(task, aims, language, vectors),
    )
    return next((each for each in ideas if not is_suppressed(each.subject) and _is_wanted(each.type, aims)), None)


def _of_patterns(task: str, patterns: Sequence[Pattern], vectors: Vectors | None) -> Iterator[Initiative]:
    """The patterns that the task belongs to, then the others, the surest first."""
    news = (each for each in patterns if each.confidence >= SURE and each.is_news)
    sure = sorted(news, key=lambda each: -each.confidence)
    related = [each for each in sure if any(overlap(task, words, vectors) > OVERLAP for words in each.words)]
    for each in [*related, *(other for other in sure if other not in related)]:
        lines = (each.suggestion, " ".join(each.evidence))
        ref = f"{each.kind}:{each.id}"
        yield Initiative("pattern_suggestion", each.name, each.confidence, ref, ref, each.confidence, lines)


def _of_drives(task: str, aims: Aims, language: Language, vectors: Vectors | None) -> Iterator[Initiative]:
    strong = [each for each in aims.drives if each.intensity >= STRONG]
    for each in sorted(strong, key=lambda drive: -drive.intensity):
        if overlap(task, each.name, vectors) > OVERLAP:
            says = text("initiative.drive", language, task=quoted(task), drive=quoted(each.name), level=each.intensity)
            yield Initiative("drive_nudge", says, NUDGED, each.name, f"drive:{each.name}", FOR_THE_DIGEST)


def _of_goals(task: str, aims: Aims, language: Language, vectors: Vectors | None) -> Iterator[Initiative]:
    for goal in aims.focus:
        if overlap(task, goal, vectors) > OVERLAP:
            says = text("initiative.goal", language, task=quoted(task), goal=quoted(goal))
            yield Initiative("goal_alignment", says, ALIGNED, goal, f"goal:{goal}", FOR_THE_DIGEST)


def _is_wanted(kind: InitiativeType, aims: Aims) -> bool:
    """True if the person's sources of initiative allow it: where none of them is known, everything is."""
    said = [each.casefold().strip(" .。") for each in aims.sources]
    if any(each in _NOTHING for each in said):
        return False
    named = {key for key in ("pattern_suggestion", "drive_nudge", "goal_alignment") if _names(key, said)}
    return not named or kind in named


def _names(kind: str, said: Sequence[str]) -> bool:
    words = [word for line in in_all_languages(f"initiative.{kind}_source") for word in line.split(", ")]
    return any(word in each for word in words for each in said)

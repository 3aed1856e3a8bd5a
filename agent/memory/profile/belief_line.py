"""The first line of a belief in a note about the person: what they prefer, how sure that is, and where it holds.

    - prefers shorter text · 0.82 (plain mean 0.71) · 5 signs, 1 against · reports, letters ^belief-1a2b3c4d
      - you said: [[2026-11-12-i-prefer-short-answers-x1y2z3]] 2026-11-12 "I prefer short answers"

The lines below it are its evidence. The figures are those of the day on which it was written; when it changed last is
in the history. Pure text: what beliefs are, and which, is left to `growth.beliefs`.
"""

import re
from collections.abc import Collection

from agent.dataclass import dataclass
from agent.memory.profile.task_kind import TASK_KINDS, TaskKind
from agent.texts import Language, in_all_languages, text

_LINE = re.compile(
    r"^(?:[-*+] )?(?P<says>\S.*?) · (?P<confidence>[01]\.\d\d) ?[(（][^·]*?(?P<mean>[01]\.\d\d)[)）]"
    r" · (?P<counts>[^·^]+?)(?: · (?P<tasks>[^·^]+?))?(?: \^belief-(?P<id>[0-9a-f]{8}))?\s*$"
)


@dataclass(frozen=True, slots=True)
class BeliefLine:
    """A belief as its line says it. `tasks` are the kinds of texts for which it holds, empty for all; None: it is about
    its subject, whatever text is asked for. `id` is empty where the line stands without it."""

    says: str
    confidence: float
    mean: float
    tasks: frozenset[TaskKind] | None
    id: str = ""


@dataclass(frozen=True, slots=True)
class BeliefFigures:
    """What stands behind the words of a line: `signs` for it and `against` it."""

    confidence: float
    mean: float
    signs: int
    against: int = 0
    is_confirmed: bool = False
    is_doubted: bool = False


def parse_belief_line(line: str) -> BeliefLine | None:
    """The belief in a line; None for any other line."""
    found = _LINE.match(line.rstrip())
    if found is None:
        return None
    tasks = _tasks(found["tasks"]) if found["tasks"] else None
    return BeliefLine(found["says"], float(found["confidence"]), float(found["mean"]), tasks, found["id"] or "")


def format_belief_line(
    says: str, figures: BeliefFigures, tasks: Collection[TaskKind] | None, id: str, language: Language
) -> str:
    """The line of a belief, as a list item; `tasks` and `id` as in `BeliefLine`."""
    words = [text("belief.signs" if figures.signs > 1 else "belief.sign", language, count=figures.signs)]
    words += [text("belief.against", language, count=figures.against)] if figures.against else []
    words += [text("belief.confirmed", language)] if figures.is_confirmed else []
    words += [text("belief.doubted", language)] if figures.is_doubted else []
    comma = text("belief.comma", language)
    mean = text("belief.mean", language, mean=f"{figures.mean:.2f}")
    parts = [says, f"{shown_confidence(figures.confidence)}{mean}", comma.join(words)]
    if tasks is not None:
        named = [text(f"belief.task_{kind}", language) for kind in TASK_KINDS if kind in tasks]
        parts.append(comma.join(named) or text("belief.all_tasks", language))
    return f"- {' · '.join(parts)} ^belief-{id}"


def shown_confidence(confidence: float) -> str:
    """A confidence with two digits, rounded down, so that nothing is said to be surer than it is."""
    return f"{int(confidence * 100 + 1e-9) / 100:.2f}"


def _tasks(words: str) -> frozenset[TaskKind] | None:
    """The kinds of texts that a line names; None for what is none of them."""
    if words in in_all_languages("belief.all_tasks"):
        return frozenset()
    named = {name: kind for kind in TASK_KINDS for name in in_all_languages(f"belief.task_{kind}")}
    parts = [part.strip() for part in re.split("[,，、]", words)]
    return frozenset(named[part] for part in parts) if all(part in named for part in parts) else None

"""`discover_patterns`: writes down what repeats, as `growth.patterns` finds it; a model may add what it sees in it."""

import re
from collections.abc import Sequence

from agent.events.growth import PatternDetected
from agent.growth.patterns.likeness import vectors_of
from agent.growth.patterns.look import Look, look
from agent.growth.patterns.pattern_notes import DAYS, INSIGHTS, pattern_line
from agent.growth.procedures.material import bullets, days_before, logs, week_of
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.growth.procedures.profile_lines import observed_in_answer, propose, shown
from agent.index.embedder import choose_embedder
from agent.memory.profile.changes import ProfileChange, Proposed
from agent.vault.folders import PROFILE

MODEL: ModelPart = "besides"
WRITES: tuple[str, ...] = ()
_WEEK = 7
"""The days that a model is asked about."""
_PART = re.compile(r"^\W*DAYS\W*$", re.MULTILINE)
"""The line in a model's answer after which the patterns of the day stand."""


def plain(context: ProcedureContext) -> Work:
    """Bring the patterns in the notes up to date; nothing if they are. A model looks at each week once, if anything was
    asked in it."""
    if context.runs.present:
        is_over = f"## {week_of(context.today)}" in context.note(INSIGHTS) + context.note(DAYS)
        is_quiet = is_over or not logs(context, days_before(context.today, _WEEK))
        return Work() if is_quiet else Work(_says(context, _look(context)))
    found = _look(context)
    proposed = _propose(context, found)
    return Work(_says(context, found), proposed.requests) if proposed.requests else Work()


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """The same, with the lines of the answer that rest on a note below a heading for the week: those after the line
    DAYS in the note about the days."""
    parts = _PART.split(answer, maxsplit=1)
    answers = {INSIGHTS: parts[0], DAYS: "".join(parts[1:])}
    week = week_of(context.today)
    observed = (observed_in_answer(name.removeprefix(PROFILE), week, part) for name, part in answers.items())
    lines = [each for lines in observed for each in lines]
    found = _look(context)
    proposed = _propose(context, found, lines)
    if not proposed.requests:
        return Work(context.text("no_evidence"), is_quiet=True) if answer else Work()
    more = bullets(shown(proposed.made))
    return Work("\n".join(filter(None, (_says(context, found), more))), proposed.requests)


def _propose(context: ProcedureContext, found: Look, lines: Sequence[ProfileChange] = ()) -> Proposed:
    """What comes of the patterns and of further lines; each pattern that is new in a note is told."""
    proposed = propose(context, (*found.changes, *lines))
    for each in found.written(proposed.blocks):
        context.runs.bus.publish(PatternDetected(each.id, each.kind, each.name, each.confidence, each.frequency))
    return proposed


def _look(context: ProcedureContext) -> Look:
    settings = context.runs.workspace.settings
    vectors = vectors_of(choose_embedder(settings.index.model).embedder)
    return look(context.vault, context.language, context.now, vectors)


def _says(context: ProcedureContext, found: Look) -> str:
    lines = bullets(pattern_line(each, context.language) for each in found.patterns)
    return "\n\n".join(filter(None, (context.text("patterns", week=week_of(context.today)), lines)))

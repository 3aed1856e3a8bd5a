"""`discover_patterns`: writes down what repeats, as `growth.patterns` finds it; a model may add what it sees in it."""

import re

from agent.events.growth import PatternDetected
from agent.growth.patterns.likeness import vectors_of
from agent.growth.patterns.look import DAYS, INSIGHTS, Also, Look, add_nothing, look
from agent.growth.patterns.pattern_notes import pattern_line
from agent.growth.procedures.material import bullets, days_before, logs, rests_on_notes, week_of
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.growth.procedures.profile_lines import observed_in_answer, shown
from agent.index.embedder import choose_embedder
from agent.markdown.sections import add_to_section
from agent.vault.folders import PROFILE

MODEL: ModelPart = "besides"
WRITES: tuple[str, ...] = ()
_WEEK, _MOST = 7, 12
"""The days that a model is asked about, and the most lines of its answer about a note."""
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
    if not found.requests:
        return Work()
    _tell(context, found)
    return Work(_says(context, found), found.requests)


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """The same, with the lines of the answer that rest on a note below a heading for the week: those after the line
    DAYS in the note about the days."""
    parts = _PART.split(answer, maxsplit=1)
    answers = {INSIGHTS: parts[0], DAYS: "".join(parts[1:])}
    lines = {name: _new_lines(context, name, part) for name, part in answers.items()}
    heading = f"## {week_of(context.today)}".encode()

    def also(name: str, data: bytes) -> bytes:
        return add_to_section(data, heading, bullets(lines[name]).encode()) if lines[name] else data

    found = _look(context, also)
    if not found.requests:
        return Work(context.text("no_evidence"), is_quiet=True) if answer else Work()
    _tell(context, found)
    more = bullets([*lines[INSIGHTS], *lines[DAYS]])
    return Work("\n".join(filter(None, (_says(context, found), more))), found.requests)


def _new_lines(context: ProcedureContext, name: str, answer: str) -> tuple[str, ...]:
    """The lines of a model's answer that rest on a note that is there, and that the note does not have yet."""
    observed = observed_in_answer(name.removeprefix(PROFILE), week_of(context.today), answer)
    there = context.note(name)
    return tuple(row for row in shown(observed) if row not in there and rests_on_notes(context, row))


def _look(context: ProcedureContext, also: Also = add_nothing) -> Look:
    chosen = choose_embedder(context.runs.workspace.settings.index.model)
    vectors = vectors_of(chosen.embedder)
    return look(context.vault, context.language, context.now, vectors, also)


def _says(context: ProcedureContext, found: Look) -> str:
    lines = bullets(pattern_line(each, context.language) for each in found.patterns)
    return "\n\n".join(filter(None, (context.text("patterns", week=week_of(context.today)), lines)))


def _tell(context: ProcedureContext, found: Look) -> None:
    for each in found.fresh:
        event = PatternDetected(each.id, each.kind, each.name, each.confidence, each.frequency)
        context.runs.bus.publish(event)

"""`workflow_sequence`: the same tools in the same order for tasks of one kind; skills are learned from it.

What makes a sequence significant is left to `skills.learning`, which also offers it as a skill.
"""

from pathlib import PurePosixPath

from agent.growth.patterns.activity import Activity
from agent.growth.patterns.confidence import recurrence
from agent.growth.patterns.pattern import Pattern, newest_links, surest
from agent.memory.daily import inert
from agent.skills.learning.learner import find_suggestions
from agent.skills.learning.sequences import CHANCE, contains
from agent.skills.learning.suggestion import Suggestion
from agent.texts import Language, text


def workflow_sequences(activity: Activity, language: Language) -> tuple[Pattern, ...]:
    """The sequences of tools that recur more often than by chance, and mostly succeed; those that a skill covers too.

    The probability under chance is at most that at which `skills.learning.sequences` drops a sequence.
    """
    found = find_suggestions(activity.traces, ())
    return surest(filter(None, (_pattern(activity, language, each) for each in found)))


def _pattern(activity: Activity, language: Language, found: Suggestion) -> Pattern | None:
    runs = {each.run for each in found.evidence}
    cases = [each for each in activity.traces if each.run in runs and each.created is not None]
    times = [(each.created, f"[[{PurePosixPath(each.path).stem}]]") for each in cases if each.created]
    if not times:
        return None
    steps = " → ".join(f"`{tool}`" for tool in found.tools)
    is_offered = any(contains(each, found.tools) for each in activity.offered)
    return Pattern(
        "workflow_sequence",
        " ".join(found.tools),
        text("pattern.workflow", language, steps=steps, task=inert(found.conditions[0]), count=len(times))
        if found.conditions
        else text("pattern.workflow_bare", language, steps=steps, count=len(times)),
        round((1 - CHANCE) * recurrence((at for at, _ in times), activity.now), 2),
        len(times),
        max(at for at, _ in times).date(),
        newest_links(times),
        text("pattern.workflow_offered" if is_offered else "pattern.workflow_suggestion", language),
        tuple(each.task for each in cases),
    )

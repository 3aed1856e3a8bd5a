"""A run as a reflecting model is shown it. If a run has read what others have written, all of its steps and its answer
are framed: the assistant's own words may repeat that text."""

from collections.abc import Sequence

from agent.growth.lessons.lesson_note import load_in_force
from agent.loop.outcome import RunOutcome
from agent.markdown.title import clipped
from agent.runs.reactions import Reaction
from agent.runs.run_course import CourseStep, RunCourse
from agent.tools.taint import frame
from agent.vault.store import Vault

TASK, ANSWER, TRACE, RULE_TEXT = 2_000, 3_000, 14_000, 4_000
"""The most characters of a task, an answer, the steps and the rules that a model is shown: about 6,000 tokens."""
NOTHING = "(none)"
_FIRST, _LAST = 12, 40
"""The steps that are shown of a long run: its begin and its end."""
_REACTIONS = {
    "helpful": "called a skill that was used helpful",
    "not_helpful": "called a skill that was used not helpful",
    "edited": "changed by hand what the assistant had written (- the assistant's lines, + theirs)",
    "undone": "took back what was done",
    "refused": "refused a call of a tool",
    "complained": "was not content",
    "asked_again": "asked the same once more",
    "followed_up": "asked more about the answer",
    "thanked": "was content",
}


def shown_task(course: RunCourse) -> str:
    """What was asked; framed for somebody who is not the owner."""
    task = clipped(course.task, TASK)
    return frame(task, "a guest") if course.is_guests else task


def shown_output(course: RunCourse) -> str:
    """The answer, and how the run ended if it did not finish."""
    answer = clipped(course.answer, ANSWER) or NOTHING
    answer = frame(answer, ", ".join(course.strangers)) if course.strangers else answer
    if course.outcome == RunOutcome.FINISHED:
        return answer
    return f"The run did not finish ({course.outcome}): {clipped(course.reason, 400)}\n{answer}"


def shown_reactions(reactions: Sequence[Reaction]) -> str:
    """What the person has said or done about it so far."""
    rows = [f"- {_REACTIONS[each.kind]}" + (f":\n{each.words}" if each.words else "") for each in reactions]
    return "\n".join(rows) or "(nothing is known: they have neither said nor changed anything)"


def shown_steps(course: RunCourse) -> str:
    """The steps as lines; of a long run the first and the last ones."""
    rows = step_rows(course.steps)
    if len(rows) > _FIRST + _LAST:
        left_out = len(rows) - _FIRST - _LAST
        rows = [*rows[:_FIRST], f"… {left_out} steps are left out …", *rows[-_LAST:]]
    shown = clipped("\n".join(rows), TRACE) or NOTHING
    return frame(shown, ", ".join(course.strangers)) if course.strangers else shown


def step_rows(steps: Sequence[CourseStep]) -> list[str]:
    """The steps as numbered lines."""
    return [f"{number} | {row}" for number, row in enumerate(map(_row, steps), 1)]


def rules_in_force(vault: Vault) -> str:
    """The lessons that the assistant follows, one a line."""
    rows = (f"- {clipped(each.sentence, 300)}" for each in load_in_force(vault))
    return clipped("\n".join(rows), RULE_TEXT) or NOTHING


def _row(step: CourseStep) -> str:
    if not step.tool:
        tokens = f"{step.tokens} tokens" if step.tokens is not None else "-"
        return f"{step.agent} | says | - | {step.said or '(only calls)'} | - | {tokens}"
    seconds = "-" if step.seconds is None else f"{step.seconds:.1f} s"
    result = f"FAILED: {step.result}" if step.failed else step.result
    return f"{step.agent} | calls | {step.tool} {step.said} | {result} | {seconds} | -"

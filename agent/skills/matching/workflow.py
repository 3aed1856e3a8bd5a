"""Composes a chain of skills as one numbered workflow.

The text of each step's skill is given whole; where it does not fit, the model opens it when it comes to that step.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.skills.reading.skill import ChainStep, FindSkill, Skill, flat_steps

TokenCounter: TypeAlias = Callable[[str], int]
"""Function from a text to its number of tokens."""
_FAILED = {
    "stop": "stop the workflow and say what is missing.",
    "ask": "ask the person how to go on (`human_ask`) before anything else.",
    "retry": "try once more in another way; if that fails too, stop and say what is missing.",
    "skip": "go on without it, and say in the result that it is missing.",
}


@dataclass(frozen=True, slots=True)
class ComposedText:
    """The text of a chain, and the names of the step skills whose own text is not in it."""

    text: str
    on_request: tuple[str, ...] = ()


def compose_workflow(skill: Skill, find: FindSkill, room: int, count: TokenCounter) -> ComposedText:
    """A chain as a numbered workflow: its own text, then each step with the text of its skill.

    The texts of step skills are added in their order, as long as the workflow has at most `room` tokens. The chain's
    own text and the steps are never left out, so the workflow may be longer than `room`.
    """
    steps = list(flat_steps(skill, find))
    included: set[str] = set()
    for name in dict.fromkeys(inner.name for _, inner in steps):
        if count(_text(skill, steps, {*included, name})) <= room:
            included.add(name)
    names = dict.fromkeys(inner.name for _, inner in steps if inner.body)
    return ComposedText(_text(skill, steps, included), tuple(name for name in names if name not in included))


def _text(skill: Skill, steps: Sequence[tuple[ChainStep, Skill]], included: set[str]) -> str:
    intro = f"A workflow of {len(steps)} steps. Do them in order; keep each named result, as later steps start from it."
    blocks = [skill.body, intro]
    listed: set[str] = set()
    for number, (step, inner) in enumerate(steps, 1):
        if inner.name in listed:
            text = f"(as in the step {inner.name} above)"
        elif inner.name in included:
            text = inner.body
        else:
            text = f"(read its instructions at this step: skills, show {inner.name})" if inner.body else ""
        listed.add(inner.name)
        blocks += [_head(number, step, inner), text]
    return "\n\n".join(block for block in blocks if block.strip())


def _head(number: int, step: ChainStep, inner: Skill) -> str:
    lines = [f"### Step {number}: {inner.name}"]
    lines += [f"- Start from: {', '.join(f'`{name}`' for name in step.inputs)}"] if step.inputs else []
    lines += [f"- With: {', '.join(f'{key} = {value}' for key, value in step.params)}"] if step.params else []
    lines += [f"- Keep the result as: `{step.output}`"] if step.output else []
    lines += [f"- Check before you go on: {step.check}"] if step.check else []
    lines.append(f"- If it fails: {_FAILED[step.on_failure]}")
    return "\n".join(lines)

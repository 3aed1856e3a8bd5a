"""Composes the text of a chain of skills for the model: one numbered workflow."""

from collections.abc import Sequence

from agent.skills.matching.truncate import TokenCounter, truncate
from agent.skills.reading.chain import FindSkill, flat_steps
from agent.skills.reading.skill import ChainStep, Skill

_FAILED = {
    "stop": "stop the workflow and say what is missing.",
    "ask": "ask the person how to go on (`human_ask`) before anything else.",
    "retry": "try once more in another way; if that fails too, stop and say what is missing.",
    "skip": "go on without it, and say in the result that it is missing.",
}
_LEAST = 60
"""A step's skill with fewer tokens is only named: its text would be too short to be useful."""


def compose_workflow(skill: Skill, find: FindSkill, room: int, count: TokenCounter) -> str:
    """A chain as one numbered workflow of about `room` tokens: its own text, then each step with the text of its skill.

    If the room is too small, all texts are cut at headings, the longest ones most.
    """
    steps = list(flat_steps(skill, find))
    heads = [_head(number, step, inner) for number, (step, inner) in enumerate(steps, 1)]
    intro = f"A workflow of {len(steps)} steps. Do them in order; keep each named result, as later steps start from it."
    left = room - count("\n\n".join([intro, *heads]))
    texts = _shared([skill, *(inner for _, inner in steps)], left, count)
    blocks = [texts[skill.name], intro]
    for head, (_, inner) in zip(heads, steps, strict=True):
        text = texts.pop(inner.name, f"(as in the step {inner.name} above)")
        blocks.append(f"{head}\n\n{text}" if text else head)
    return "\n\n".join(block for block in blocks if block.strip())


def _shared(skills: Sequence[Skill], room: int, count: TokenCounter) -> dict[str, str]:
    """The text of each skill, by name; the unused share of a short one goes to longer ones."""
    sizes = {skill.name: (count(skill.body), skill) for skill in skills}
    texts = {}
    for waiting, (size, skill) in zip(
        range(len(sizes), 0, -1), sorted(sizes.values(), key=lambda each: each[0]), strict=True
    ):
        share = max(room, 0) // waiting
        text = skill.body if size <= share else truncate(skill.body, share, count, skill.name).text
        texts[skill.name] = text if share >= _LEAST or size <= share else f"(read it: skill_show {skill.name})"
        room -= min(size, share)
    return texts


def _head(number: int, step: ChainStep, inner: Skill) -> str:
    lines = [f"### Step {number}: {inner.name}"]
    lines += [f"- Start from: {', '.join(f'`{name}`' for name in step.inputs)}"] if step.inputs else []
    lines += [f"- With: {', '.join(f'{key} = {value}' for key, value in step.params)}"] if step.params else []
    lines += [f"- Keep the result as: `{step.output}`"] if step.output else []
    lines += [f"- Check before you go on: {step.check}"] if step.check else []
    lines.append(f"- If it fails: {_FAILED[step.on_failure]}")
    return "\n".join(lines)

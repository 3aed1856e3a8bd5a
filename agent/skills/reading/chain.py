"""Skills that build on others: are those there, and do their results fit together; and the one workflow they make.

What is wrong is found when skills are loaded. A chain may hold another chain; its steps then stand in its place.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from agent.skills.reading.skill import ChainStep, Skill, SkillProblem

MOST_STEPS = 20
"""Steps of a whole workflow, those of chains within it included."""
MOST_OTHERS = 50
"""Skills that one may build on, directly or through others."""
TASK = "task"
"""What a step may always start from: what the person has asked for."""
FindSkill = Callable[[str], Skill | None]
"""The skill of a name; None where there is none."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with what a skill says of others, under which of its keys."""

    key: str
    reason: str


class _TooMany(Exception):
    """More skills than anybody can have meant."""


def flaws(skill: Skill, find: FindSkill) -> Iterator[Flaw]:
    """What makes a skill's chain or prerequisites unusable; nothing for a skill that names no other."""
    for name in skill.prerequisites:
        if find(name) is None:
            yield Flaw("prerequisites", f"the prerequisite {name} is no skill that is there")
    try:
        circle = _circle(skill.name, lambda name: _prerequisites(find(name)))
        if circle:
            yield Flaw("prerequisites", f"the prerequisites go in a circle: {' → '.join(circle)}")
        yield from _flaws_of_steps(skill, find)
    except _TooMany:
        yield Flaw("chain", f"it builds on more than {MOST_OTHERS} other skills")


def _flaws_of_steps(skill: Skill, find: FindSkill) -> Iterator[Flaw]:
    unknown = [(number, step.skill) for number, step in enumerate(skill.chain, 1) if find(step.skill) is None]
    for number, name in unknown:
        yield Flaw("chain", f"step {number} of the chain names {name}, and there is no such skill")
    circle = _circle(skill.name, lambda name: _links(find(name)))
    if circle:
        yield Flaw("chain", f"the chain goes in a circle: {' → '.join(circle)}")
        return
    made = {TASK}
    for number, step in enumerate(skill.chain, 1):
        for name in step.inputs:
            if name not in made:
                yield Flaw("chain", f"step {number} of the chain starts from {name}, which no step before it gives")
        if step.output in made:
            yield Flaw("chain", f"step {number} of the chain gives {step.output}, which is given already")
        made |= {step.output} - {""}
    if not unknown and skill.chain and len(list(islice(flat_steps(skill, find), MOST_STEPS + 1))) > MOST_STEPS:
        yield Flaw("chain", f"the chain has more than {MOST_STEPS} steps, those of chains in it included")


def _prerequisites(skill: Skill | None) -> tuple[str, ...]:
    return skill.prerequisites if skill is not None else ()


def _links(skill: Skill | None) -> tuple[str, ...]:
    return tuple(step.skill for step in skill.chain) if skill is not None else ()


def _circle(start: str, following: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    """A way from a name back to itself; empty where there is none. Raises `_TooMany`."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while ways:
        way = ways.pop()
        for name in following(way[-1]):
            if name == start:
                return (*way, start)
            if name not in seen:
                seen.add(name)
                ways.append((*way, name))
        if len(seen) > MOST_OTHERS:
            raise _TooMany
    return ()


def check_chains(skills: Mapping[str, Skill]) -> tuple[dict[str, Skill], tuple[SkillProblem, ...]]:
    """The skills without those that cannot work, and why those were left out.

    Repeated while something was left out: a chain over a chain that was left out cannot work either.
    """
    kept = dict(skills)
    problems: list[SkillProblem] = []
    users: dict[str, list[str]] = {}
    for skill in skills.values():
        for name in (*skill.prerequisites, *_links(skill)):
            users.setdefault(name, []).append(skill.name)
    suspects = {skill.name for skill in skills.values() if skill.chain or skill.prerequisites}
    while suspects:
        bad = {name: found for name in sorted(suspects) if (found := list(flaws(kept[name], kept.get)))}
        for name, found in bad.items():
            skill = kept.pop(name)
            problems += [SkillProblem(skill.path, skill.lines.get(flaw.key, 1), flaw.reason) for flaw in found]
        suspects = {user for name in bad for user in users.get(name, ()) if user in kept}
    return kept, tuple(problems)


def parts(skill: Skill, find: FindSkill) -> tuple[Skill, ...]:
    """The skills that a chain is made of, each once; empty for a skill without a chain."""
    found = {step.skill: inner for step, inner, _ in flat_steps(skill, find)} if skill.chain else {}
    return tuple(found.values())


def flat_steps(skill: Skill, find: FindSkill, depth: int = 0) -> Iterator[tuple[ChainStep, Skill, Skill]]:
    """Each step with its skill and the chain that it stands in."""
    for step in skill.chain:
        inner = find(step.skill)
        if inner is None or depth > MOST_STEPS:
            continue
        yield step, inner, skill
        if inner.chain:
            yield from flat_steps(inner, find, depth + 1)

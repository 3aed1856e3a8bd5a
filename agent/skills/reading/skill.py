"""A skill as a value: the content of a `SKILL.md` in the open Agent Skills format, and the checks of its chains."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from itertools import islice
from types import MappingProxyType
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.skills.reading.patterns import Intent, TaskPattern

FILE = "SKILL.md"
THRESHOLD = 0.5
PRIORITY = 5

OnFailure: TypeAlias = Literal["stop", "ask", "retry", "skip"]
"""The action when a step of a chain fails."""
_EMPTY: Mapping[str, str] = MappingProxyType({})
_NO_LINES: Mapping[str, int] = MappingProxyType({})


class SkillSource(StrEnum):
    """The source of a skill, highest precedence first: of skills with the same name, the first one is used."""

    VAULT = "vault"
    LEARNED = "learned"
    PACKAGE = "package"


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """A problem of a skill. `line` counts from 1 in the file at `path`."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Triggers:
    """The signals of a skill: `patterns` and `keywords` in the task, `tools` used lately, `slots` with their values.

    The skill is offered from the confidence `threshold` on. If one of the `exceptions` matches the task, its patterns
    do not count.
    """

    patterns: tuple[Intent, ...] = ()
    tools: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    slots: tuple[tuple[str, tuple[str, ...]], ...] = ()
    threshold: float = THRESHOLD
    exceptions: tuple[TaskPattern, ...] = ()

    @property
    def every(self) -> tuple[TaskPattern, ...]:
        """All patterns that are searched in a task."""
        return (*(part for intent in self.patterns for part in intent.parts), *self.exceptions)


@dataclass(frozen=True, slots=True)
class Product:
    """The result of a skill: its `format`, and if `artifacts`, a separate note of `artifact_type`."""

    format: str = ""
    artifacts: bool = False
    artifact_type: str = ""


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One step of a chain: its skill, its inputs (names of earlier results), the name of its result, the check after
    it, and the action when it fails."""

    skill: str
    inputs: tuple[str, ...] = ()
    output: str = ""
    params: tuple[tuple[str, str], ...] = ()
    check: str = ""
    on_failure: OnFailure = "stop"


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill.

    `path` is that of its `SKILL.md`, in the vault or, for the package's, on this machine; `files` are the other files
    in its folder, relative to it; `size` is the bytes of all of them. `allowed_tools` is None if the skill names none.
    `conditions` are sentences on when to use a learned skill. `cooldown` is in seconds. A text of more than
    `max_tokens` is not given to a model unasked; 0 for no limit of its own. `lines` has the line of each key of the
    header. `reviewed`: exactly these files were reviewed on this machine. `is_always`: its text is given with every
    task (`activation: always`).
    """

    name: str
    description: str
    body: str
    source: SkillSource
    path: str
    body_line: int = 1
    metadata: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    allowed_tools: tuple[str, ...] | None = None
    triggers: Triggers | None = None
    conditions: tuple[str, ...] = ()
    priority: int = PRIORITY
    exclusive_group: str = ""
    prerequisites: tuple[str, ...] = ()
    max_tokens: int = 0
    cooldown: float = 0.0
    product: Product | None = None
    chain: tuple[ChainStep, ...] = ()
    success_rate: float | None = None
    lines: Mapping[str, int] = field(default_factory=lambda: _NO_LINES, compare=False)
    files: tuple[str, ...] = ()
    size: int = 0
    reviewed: bool = False
    is_always: bool = False

    @property
    def has_triggers(self) -> bool:
        """True if it says itself which tasks it is for; otherwise a task finds it by its description."""
        return self.triggers is not None or bool(self.conditions)

    @property
    def summary(self) -> str:
        """Its description on one line, for the catalogue."""
        return " ".join(self.description.split())

    @property
    def key(self) -> str:
        """Source and name: unique among all skills."""
        return f"{self.source}.{self.name}"


MOST_STEPS = 20
"""The most steps of a whole workflow, with those of inner chains."""
MOST_OTHERS = 50
"""The most skills that a skill may depend on, directly or indirectly."""
TASK = "task"
"""The input available to every step: the person's request."""
FindSkill = Callable[[str], Skill | None]
"""Function from a name to its skill; None if there is none."""


class _TooMany(Exception):
    """The skill depends on more than `MOST_OTHERS` skills."""


def chain_problems(skill: Skill, find: FindSkill) -> Iterator[SkillProblem]:
    """The errors in a skill's chain and prerequisites; none for a skill without them."""
    for name in skill.prerequisites:
        if find(name) is None:
            yield _problem(skill, "prerequisites", f"the prerequisite {name} is no skill that is there")
    try:
        circle = _circle(skill.name, lambda name: _prerequisites(find(name)))
        if circle:
            yield _problem(skill, "prerequisites", f"the prerequisites go in a circle: {' → '.join(circle)}")
        yield from _step_problems(skill, find)
    except _TooMany:
        yield _problem(skill, "chain", f"it builds on more than {MOST_OTHERS} other skills")


def _step_problems(skill: Skill, find: FindSkill) -> Iterator[SkillProblem]:
    unknown = [(number, step.skill) for number, step in enumerate(skill.chain, 1) if find(step.skill) is None]
    for number, name in unknown:
        yield _problem(skill, "chain", f"step {number} of the chain names {name}, and there is no such skill")
    circle = _circle(skill.name, lambda name: _links(find(name)))
    if circle:
        yield _problem(skill, "chain", f"the chain goes in a circle: {' → '.join(circle)}")
        return
    made = {TASK}
    for number, step in enumerate(skill.chain, 1):
        for name in step.inputs:
            if name not in made:
                yield _problem(
                    skill, "chain", f"step {number} of the chain starts from {name}, which no step before it gives"
                )
        if step.output in made:
            yield _problem(skill, "chain", f"step {number} of the chain gives {step.output}, which is given already")
        made |= {step.output} - {""}
    if not unknown and skill.chain and len(list(islice(flat_steps(skill, find), MOST_STEPS + 1))) > MOST_STEPS:
        yield _problem(skill, "chain", f"the chain has more than {MOST_STEPS} steps, those of chains in it included")


def _problem(skill: Skill, key: str, reason: str) -> SkillProblem:
    return SkillProblem(skill.path, skill.lines.get(key, 1), reason)


def _prerequisites(skill: Skill | None) -> tuple[str, ...]:
    return skill.prerequisites if skill is not None else ()


def _links(skill: Skill | None) -> tuple[str, ...]:
    return tuple(step.skill for step in skill.chain) if skill is not None else ()


def _circle(start: str, following: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    """A path from a name back to itself; empty if there is none. Raises `_TooMany`."""
    paths: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while paths:
        way = paths.pop()
        for name in following(way[-1]):
            if name == start:
                return (*way, start)
            if name not in seen:
                seen.add(name)
                paths.append((*way, name))
        if len(seen) > MOST_OTHERS:
            raise _TooMany
    return ()


def check_chains(skills: Mapping[str, Skill]) -> tuple[dict[str, Skill], tuple[SkillProblem, ...]]:
    """The skills whose chains and prerequisites are valid, and the problems of the others.

    Repeated until no more skills are dropped, because a chain is invalid if an inner chain is.
    """
    checked = dict(skills)
    problems: list[SkillProblem] = []
    users: dict[str, list[str]] = {}
    for skill in skills.values():
        for name in (*skill.prerequisites, *_links(skill)):
            users.setdefault(name, []).append(skill.name)
    suspects = {skill.name for skill in skills.values() if skill.chain or skill.prerequisites}
    while suspects:
        bad = {name: found for name in sorted(suspects) if (found := list(chain_problems(checked[name], checked.get)))}
        for name, found in bad.items():
            del checked[name]
            problems += found
        suspects = {user for name in bad for user in users.get(name, ()) if user in checked}
    return checked, tuple(problems)


def parts_of(skill: Skill, find: FindSkill) -> tuple[Skill, ...]:
    """The skills in a chain, each once; empty for a skill without a chain."""
    found = {step.skill: inner for step, inner in flat_steps(skill, find)} if skill.chain else {}
    return tuple(found.values())


def flat_steps(skill: Skill, find: FindSkill, depth: int = 0) -> Iterator[tuple[ChainStep, Skill]]:
    """Each step of a chain with its skill; a step that is a chain is followed by its own steps."""
    for step in skill.chain:
        inner = find(step.skill)
        if inner is None or depth > MOST_STEPS:
            continue
        yield step, inner
        if inner.chain:
            yield from flat_steps(inner, find, depth + 1)

"""A skill as a value: the content of a `SKILL.md` in the open Agent Skills format, with extension keys for triggers and
chains.

Parsing is left to `skill_file`, files to `loading`, matching with a task to `matching`.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
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
    """What is wrong in a skill. `line` counts from 1 in the file at `path`."""

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

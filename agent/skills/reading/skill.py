"""A skill as a value: what its `SKILL.md` says, in the open Agent Skills format with our keys for triggers and chains.

Reading one from bytes is `read_skill`'s, where skills lie is `library`'s, when one fits a task is `matcher`'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, TypeAlias

from agent.skills.reading.patterns import Intent, Pattern

FILE = "SKILL.md"
THRESHOLD = 0.5
PRIORITY = 5
MAX_TOKENS = 2_000

OnFailure: TypeAlias = Literal["stop", "ask", "retry", "skip"]
"""What to do when a step of a chain fails."""


class SkillSource(StrEnum):
    """Where a skill lies; an earlier one goes before a later one of the same name."""

    VAULT = "vault"
    LEARNED = "learned"
    PACKAGE = "package"


def _nothing() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """Why a skill, or a part of one, was left out. `line` counts from 1 in the file at `path`."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Triggers:
    """When a skill is wanted: an intent of `patterns` in the task, `tools` used lately, `keywords` in the task, `slots`
    (each with the values that count). `threshold`: the confidence from which on it is used. `exceptions`: where one of
    these is in the task, a pattern in it says nothing."""

    patterns: tuple[Intent, ...] = ()
    tools: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    slots: tuple[tuple[str, tuple[str, ...]], ...] = ()
    threshold: float = THRESHOLD
    exceptions: tuple[Pattern, ...] = ()

    @property
    def every(self) -> tuple[Pattern, ...]:
        """All that is looked for in a task."""
        return (*(part for intent in self.patterns for part in intent.parts), *self.exceptions)


@dataclass(frozen=True, slots=True)
class Product:
    """What a skill should give: its format, and whether a note of its own comes of it, and of which kind."""

    format: str = ""
    artifacts: bool = False
    artifact_type: str = ""


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One step of a chain: the skill, the named results it starts from, the name of its own, what to check after it,
    and what to do when it fails. `line` is that of the chain in its file."""

    skill: str
    inputs: tuple[str, ...] = ()
    output: str = ""
    params: tuple[tuple[str, str], ...] = ()
    check: str = ""
    on_failure: OnFailure = "stop"


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. `path` is that of its `SKILL.md`, in the vault or (of the package) on this machine; `files` are what
    lies beside it, relative to its folder; `size` is all of that in bytes.

    `allowed_tools` is None where the skill says nothing. `conditions` are sentences about when a learned skill fits.
    `cooldown` in seconds, `max_tokens` of its body in the model's context (0: what there is room for, of a chain).
    `lines` are those of the header's keys. `reviewed`: somebody on this machine has looked at exactly these files.
    """

    name: str
    description: str
    body: str
    source: SkillSource
    path: str
    body_line: int = 1
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = field(default_factory=_nothing)
    allowed_tools: tuple[str, ...] | None = None
    triggers: Triggers | None = None
    conditions: tuple[str, ...] = ()
    priority: int = PRIORITY
    exclusive_group: str = ""
    prerequisites: tuple[str, ...] = ()
    max_tokens: int = MAX_TOKENS
    cooldown: float = 0.0
    product: Product | None = None
    chain: tuple[ChainStep, ...] = ()
    success_rate: float | None = None
    lines: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    files: tuple[str, ...] = ()
    size: int = 0
    digest: str = ""
    reviewed: bool = False

    @property
    def has_triggers(self) -> bool:
        """Whether it can be found by a task; else it is only in the catalogue."""
        return self.triggers is not None or bool(self.conditions)

    @property
    def summary(self) -> str:
        """Its description on one line, for the catalogue."""
        return " ".join(self.description.split())

    @property
    def key(self) -> str:
        """What tells it from others of the same name."""
        return f"{self.source}.{self.name}"

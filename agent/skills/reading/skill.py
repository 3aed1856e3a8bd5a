"""A skill as a value: what a `SKILL.md` says, in the open Agent Skills format with our keys for triggers and chains.

`skill_file` makes one from bytes, `loading` knows where skills lie, `matching` when one fits a task.
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
"""The reaction to a chain's step that fails."""
_EMPTY: Mapping[str, str] = MappingProxyType({})
_NO_LINES: Mapping[str, int] = MappingProxyType({})


class SkillSource(StrEnum):
    """Where a skill lies, the highest precedence first: of skills with one name, the earlier source's is used."""

    VAULT = "vault"
    LEARNED = "learned"
    PACKAGE = "package"


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """Why a skill, or a part of it, was left out. `line` counts from 1 in the file at `path`."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Triggers:
    """The signals that call for a skill: `patterns` in the task, `tools` used lately, `keywords` in the task, `slots`
    with the values that count.

    From the confidence `threshold` on, the skill is used. Where one of the `exceptions` is in the task, its patterns do
    not count.
    """

    patterns: tuple[Intent, ...] = ()
    tools: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    slots: tuple[tuple[str, tuple[str, ...]], ...] = ()
    threshold: float = THRESHOLD
    exceptions: tuple[Pattern, ...] = ()

    @property
    def every(self) -> tuple[Pattern, ...]:
        """All patterns that are searched for in a task."""
        return (*(part for intent in self.patterns for part in intent.parts), *self.exceptions)


@dataclass(frozen=True, slots=True)
class Product:
    """The result that a skill asks for: its `format`, and if `artifacts`, a note of its own of `artifact_type`."""

    format: str = ""
    artifacts: bool = False
    artifact_type: str = ""


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One step of a chain: its skill, the named results that it starts from, the name of its own result, what to check
    after it, and what to do when it fails."""

    skill: str
    inputs: tuple[str, ...] = ()
    output: str = ""
    params: tuple[tuple[str, str], ...] = ()
    check: str = ""
    on_failure: OnFailure = "stop"


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. `path` is that of its `SKILL.md`, in the vault or, for the package's, on this machine; `files` are the
    other files in its folder, relative to it; `size` is the bytes of them all.

    `allowed_tools` is None where the skill names none. `conditions` are sentences about when a learned skill fits.
    `cooldown` is in seconds. `max_tokens` of the body go into the model's context; 0 stands for all there is room for.
    `lines` has the line of each key of the header. `reviewed`: somebody on this machine has reviewed these very files.
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
    max_tokens: int = MAX_TOKENS
    cooldown: float = 0.0
    product: Product | None = None
    chain: tuple[ChainStep, ...] = ()
    success_rate: float | None = None
    lines: Mapping[str, int] = field(default_factory=lambda: _NO_LINES, compare=False)
    files: tuple[str, ...] = ()
    size: int = 0
    reviewed: bool = False

    @property
    def has_triggers(self) -> bool:
        """Whether a task can call for it; otherwise it stands only in the catalogue."""
        return self.triggers is not None or bool(self.conditions)

    @property
    def summary(self) -> str:
        """Its description on one line, for the catalogue."""
        return " ".join(self.description.split())

    @property
    def key(self) -> str:
        """Source and name: unique among all skills."""
        return f"{self.source}.{self.name}"

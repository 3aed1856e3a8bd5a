"""What a rule passes before it is proposed: past tasks are not done worse with it. Who measures that is passed in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

GateOutcome: TypeAlias = Literal["passed", "failed", "unmeasured"]


@dataclass(frozen=True, slots=True)
class RuleTrial:
    """A rule to be measured: its note at `path` as it would be, the case that it is for (empty: always), and the runs
    that it was made from, which are no test of it."""

    path: str
    note: str
    when: str
    runs: frozenset[str]


@dataclass(frozen=True, slots=True)
class RuleReport:
    """What was measured, and in `words` for the person, as Markdown: on which tasks, and what that can show and what
    not."""

    outcome: GateOutcome
    words: str = ""


RuleGate: TypeAlias = Callable[[RuleTrial], RuleReport]
"""Measures a rule; raises `AgentError` if that cannot be done now."""


def no_gate(trial: RuleTrial) -> RuleReport:
    """Measure nothing: for where no past task can be done again."""
    return RuleReport("unmeasured")

"""A change of what steers the agent, as it is measured, and the report of the measurement."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

GateVerdict: TypeAlias = Literal["not_below", "below", "not_measurable"]
"""`not_below`: with the change the past tasks come out as well as without it, or better."""


def every_task(task: str) -> bool:
    """True: for a change that may concern any task."""
    return True


@dataclass(frozen=True, slots=True)
class ChangedNote:
    """A note as it would be: its path in the vault, and all of its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A change to be measured: a rule, a skill, a variant of one. `name` says which, in a word or two.

    `derived_from` are the runs from which it was made: they are no test of it. `fits` is True for the text of a task
    that it may concern; if `runs` are named, only the tasks of these runs are.
    """

    name: str
    notes: tuple[ChangedNote, ...]
    derived_from: frozenset[str] = frozenset()
    fits: Callable[[str], bool] = every_task
    runs: frozenset[str] = frozenset()

    def concerns(self, run: str, task: str) -> bool:
        """True if the change can be measured by this task of a run."""
        is_named = not self.runs or run in self.runs
        return is_named and run not in self.derived_from and self.fits(task)


@dataclass(frozen=True, slots=True)
class GateReport:
    """What was measured: `before` and `after` are the shares of the `tasks` that came out well without and with the
    change, 0 to 1, None if nothing could be measured. `text` says all of it to a person, as Markdown, with what it can
    show and what not. `money` is what it has cost, in US dollars."""

    verdict: GateVerdict
    before: float | None
    after: float | None
    tasks: int
    text: str
    money: float = 0.0


MeasureChange: TypeAlias = Callable[[ProposedChange], GateReport]
"""Measures a change on the past tasks that it was not made from; may take minutes, and never raises for a model that
fails: then nothing could be measured."""

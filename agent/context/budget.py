"""The token budget of a request, and the share of each part.

The budget is three quarters of the window, less the reserve for the answer; the last quarter is a margin, since no
tokenizer but the model's own counts exactly. Filling the budget is left to `assemble`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

Count: TypeAlias = Callable[[str], int]
"""Tokens of a text; the same text always gives the same number."""

SHARES = MappingProxyType(
    {
        "system": 0.15,
        "anchor": 0.05,
        "preferences": 0.03,
        "memories": 0.20,
        "skills": 0.06,
        "hooks": 0.06,
        "history": 0.30,
        "errors": 0.05,
        "tools": 0.10,
    }
)
"""Parts of the budget, from 0 to 1; together they are all of it. Sources, hooks, anchor and errors keep to theirs;
history may use what the others leave, and `system` and `tools` are what they are."""
_SOURCE = 0.06
"""A source that the table does not know gets as much as skills."""
_STEP = 4
"""One step's results get a fourth of the budget, so that the last two, which are never cut, leave half of it."""


@dataclass(frozen=True, slots=True)
class Window:
    """A model's context window in tokens, and how many of them are kept for its answer."""

    tokens: int
    reserve: int

    @property
    def budget(self) -> int:
        """Tokens that a request may have; zero or less when the reserve leaves none."""
        return int(self.tokens * 0.75) - self.reserve

    def allowed(self, name: str) -> int:
        """Tokens of the budget that the part of this name gets."""
        return max(int(self.budget * SHARES.get(name, _SOURCE)), 0)

    def result_room(self, results: int = 1) -> int:
        """Tokens that each of so many results of one step may have; see `shorten`."""
        return max(self.budget // (_STEP * max(results, 2)), 32)


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A row of the budget table: tokens used and allowed, and how many things were kept and cut."""

    name: str
    used: int
    allowed: int
    kept: int
    cut: int = 0


def format_table(rows: Iterable[BudgetRow]) -> str:
    """The budget as a table for people, with a sum below it."""
    lines = list(rows)
    whole = BudgetRow(
        "together",
        sum(line.used for line in lines),
        sum(line.allowed for line in lines),
        sum(line.kept for line in lines),
        sum(line.cut for line in lines),
    )
    head = f"{'part':<14}{'tokens':>10}{'allowed':>10}{'kept':>7}{'cut':>6}"
    body = [f"{row.name:<14}{row.used:>10,}{row.allowed:>10,}{row.kept:>7,}{row.cut:>6,}" for row in (*lines, whole)]
    return "\n".join([head, *body])

"""The budget of a request as a table on the terminal."""

from collections.abc import Iterable

from agent.context.budget import BudgetRow
from agent.interfaces.cli.language import said
from agent.interfaces.cli.printing import columns, padded

_HEADS = (("tokens", 10), ("allowed", 10), ("kept", 7), ("cut", 6))


def format_budget(rows: Iterable[BudgetRow]) -> str:
    """The parts of a request and their tokens, with a sum below them."""
    lines = list(rows)
    whole = BudgetRow(
        "together",
        sum(line.used for line in lines),
        sum(line.allowed for line in lines),
        sum(line.kept for line in lines),
        sum(line.cut for line in lines),
    )
    heads = [" " * (width - columns(head)) + head for head, width in ((said(name), width) for name, width in _HEADS)]
    body = [
        f"{padded(said(row.name), 14)}{row.used:>10,}{row.allowed:>10,}{row.kept:>7,}{row.cut:>6,}"
        for row in (*lines, whole)
    ]
    return "\n".join([padded(said("part"), 14) + "".join(heads), *body])

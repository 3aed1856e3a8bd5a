"""How much a proposal changes, by its text and not by what it says of itself. Pure."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from agent.skills.variants.variant import VariantKind

RISKS: tuple[VariantKind, ...] = ("parameter", "order", "step", "strategy")
"""The kinds, the least risk first."""
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_MARKER = re.compile(r"^(?:\d+[.)、]|[-*+])\s+")
_TOOL = re.compile(r"`([a-z][a-z0-9_.]*)`")
_MORE_LINES = 1
"""The lines that may come with a replaced step."""


def kind_of_change(before: str, after: str) -> VariantKind | None:
    """The kind of a change of instructions; None if nothing changes.

    `parameter`: only numbers differ. `order`: the same lines in another order. `step`: one line is replaced, by at most
    two. `strategy`: anything else.
    """
    old, new = _lines(before), _lines(after)
    if old == new:
        return None
    if [_DIGITS.sub("0", line) for line in old] == [_DIGITS.sub("0", line) for line in new]:
        return "parameter"
    plain_old, plain_new = ([_MARKER.sub("", line) for line in lines] for lines in (old, new))
    if sorted(plain_old) == sorted(plain_new):
        return "order"
    changes = [
        each for each in SequenceMatcher(None, plain_old, plain_new, autojunk=False).get_opcodes() if each[0] != "equal"
    ]
    removed = sum(each[2] - each[1] for each in changes)
    added = sum(each[4] - each[3] for each in changes)
    if len(changes) == 1 and removed == 1 and 1 <= added <= 1 + _MORE_LINES:
        return "step"
    return "strategy"


def riskier(*kinds: VariantKind) -> VariantKind:
    """The kind with the most risk of these."""
    return max(kinds, key=RISKS.index)


def new_tools(before: str, after: str, tools: Iterable[str]) -> tuple[str, ...]:
    """The tools that the new instructions name and the old ones do not."""
    known, said = frozenset(tools), frozenset(_TOOL.findall(before))
    return tuple(sorted(name for name in frozenset(_TOOL.findall(after)) & known if name not in said))


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
